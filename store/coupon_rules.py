"""When a coupon works on a shop basket, and what it takes off. Pure."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, Decimal

from schema.checkout import CheckoutLine
from schema.coupon import CouponTarget, ReceptionMode
from schema.delivery import DeliveryKind
from store.coupons import CouponRow

ZERO = Decimal("0.00")
RECEPTION = {
    DeliveryKind.DIGITAL: frozenset({ReceptionMode.GIFTEE_EMAIL, ReceptionMode.PRINT_AT_HOME}),
    DeliveryKind.CLICK_AND_COLLECT: frozenset({ReceptionMode.ON_SITE}),
    DeliveryKind.HOME_DELIVERY: frozenset({ReceptionMode.EXPEDITION, ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY}),
}


@dataclass(frozen=True, slots=True)
class Reduction:
    """What coupons take off: in all, line by line, coupon by coupon (only those that work)."""

    total: Decimal
    by_line: tuple[Decimal, ...]
    by_coupon: dict[int, Decimal]
    free_collection: bool


def is_running(coupon: CouponRow, now: dt.datetime, *, own_uses: int = 0) -> bool:
    """Whether a coupon can be used at all: activated, in its period, not used up, meant for the shop.

    `own_uses` are uses that whoever asks has already taken.
    """
    return (
        coupon.is_active
        and (coupon.starts_on is None or coupon.starts_on <= now)
        and (coupon.ends_on is None or now < coupon.ends_on)
        and (coupon.max_usages is None or coupon.usage_count - own_uses < coupon.max_usages)
        and bool({CouponTarget.ECOMMERCE, CouponTarget.CLICK_AND_COLLECT} & set(coupon.targets))
    )


def reduce_lines(
    lines: Sequence[CheckoutLine], coupons: Sequence[CouponRow], kind: DeliveryKind | None, email: str
) -> Reduction:
    """Apply coupons one after the other, each to what the ones before left over."""
    left = [line.total for line in lines]
    by_coupon: dict[int, Decimal] = {}
    free_collection = False
    for coupon in coupons:
        eligible = _eligible(coupon, lines)
        if not eligible or not _works(coupon, lines, kind, email):
            continue
        shares = _shares(coupon, [left[i] for i in eligible])
        frees = coupon.free_click_and_collect and kind in (None, DeliveryKind.CLICK_AND_COLLECT)
        if not frees and not any(shares):
            continue  # it would be used up for nothing
        for index, share in zip(eligible, shares, strict=True):
            left[index] -= share
        by_coupon[coupon.id] = sum(shares, ZERO)
        free_collection = free_collection or frees
    by_line = tuple(line.total - rest for line, rest in zip(lines, left, strict=True))
    return Reduction(sum(by_line, ZERO), by_line, by_coupon, free_collection)


def _works(coupon: CouponRow, lines: Sequence[CheckoutLine], kind: DeliveryKind | None, email: str) -> bool:
    """Whether its conditions hold for this basket. What is not known yet (delivery, e-mail) does not stop it."""
    worth = sum((line.total for line in lines), ZERO)
    minimum = max(coupon.minimum_basket_amount or ZERO, coupon.minimum_payment_amount or ZERO)
    if coupon.increases_value or worth < minimum:
        return False
    if kind is not None:
        target = CouponTarget.CLICK_AND_COLLECT if kind is DeliveryKind.CLICK_AND_COLLECT else CouponTarget.ECOMMERCE
        if not {target, CouponTarget.ECOMMERCE} & set(coupon.targets):
            return False
        if coupon.reception_modes and not RECEPTION[kind] & set(coupon.reception_modes):
            return False
    wanted = coupon.email_condition.lower()
    return not (wanted and email) or (
        email.lower().endswith(wanted) if wanted.startswith("@") else email.lower() == wanted
    )


def _eligible(coupon: CouponRow, lines: Sequence[CheckoutLine]) -> list[int]:
    """The positions of the lines it reduces."""
    least = coupon.minimum_product_price_amount or ZERO
    return [
        position
        for position, line in enumerate(lines)
        if (not coupon.product_ids or line.choice.product_id in coupon.product_ids)
        and (line.unit_price or ZERO) >= least
    ]


def _shares(coupon: CouponRow, left: Sequence[Decimal]) -> list[Decimal]:
    """What it takes off each line: in proportion, never more than is left, to the cent, nothing lost by rounding."""
    worth = sum(left, ZERO)
    if coupon.discount_percentage is not None:
        off = (worth * coupon.discount_percentage / 100).quantize(Decimal("0.01"), "ROUND_HALF_UP")
    else:
        off = min(coupon.discount_amount or ZERO, worth)
    if not worth:
        return [ZERO for _ in left]
    shares = [(off * amount / worth).quantize(Decimal("0.01"), ROUND_DOWN) for amount in left]
    missing = off - sum(shares, ZERO)
    for position in sorted(range(len(left)), key=lambda i: left[i] - shares[i], reverse=True):
        more = min(missing, left[position] - shares[position])
        shares[position] += more
        missing -= more
    return shares

"""Totals of an order, with VAT, and what each code pays of it. Pure functions; amounts are rounded half up to the cent."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from schema.checkout.checkout import Totals, VatAmount
from schema.checkout.codes import AppliedCode, CodeKind, CodeProblem
from store.coupon.coupons import CouponRow
from store.coupon.rules import ZERO, Reduction, cents
from store.gift_card.gift_cards import UsableCard


@dataclass(frozen=True, slots=True)
class PricedLine:
    """A line's total before coupons. `vat_rate` is None for items sold without VAT, such as gift cards."""

    total: Decimal
    vat_rate: Decimal | None
    takes_gift_cards: bool = True
    """False for prepaid money: a gift card that pays for it would restart its own validity."""


@dataclass(frozen=True, slots=True)
class ShippingCost:
    """The shipping price and its VAT rate. A price of None means unknown."""

    price: Decimal | None
    vat_rate: Decimal


def compute_totals(
    sold: Sequence[PricedLine],
    reduction: Reduction,
    shipping: ShippingCost,
    codes: Sequence[CouponRow | UsableCard],
    currency: str,
) -> tuple[Totals, tuple[AppliedCode, ...]]:
    """The totals, and the effect of each code."""
    worth = sum((line.total for line in sold), ZERO)
    total = worth - reduction.total + (shipping.price or ZERO)
    takes_gift_cards = not sold or any(line.takes_gift_cards for line in sold)
    payable = _payable_by_gift_cards(total, sold, reduction) if takes_gift_cards else ZERO
    paid = _gift_card_amounts(payable, [code for code in codes if isinstance(code, UsableCard)])
    by_card = total - sum(paid.values(), ZERO)
    applied = tuple(
        _applied_card(code, paid[code.id], takes_gift_cards=takes_gift_cards)
        if isinstance(code, UsableCard)
        else _applied_coupon(code, reduction)
        for code in codes
    )
    totals = Totals(
        currency=currency,
        products=worth,
        discount=reduction.total,
        delivery=shipping.price,
        total=total,
        gift_cards=total - by_card,
        by_card=by_card,
        vat=vat_of(sold, reduction, shipping),
    )
    return totals, applied


def vat_of(sold: Sequence[PricedLine], reduction: Reduction, shipping: ShippingCost) -> tuple[VatAmount, ...]:
    """The VAT contained in the total by rate, including delivery and discounts."""
    gross: dict[Decimal, Decimal] = {}
    for line, off in zip(sold, reduction.by_line, strict=True):
        if line.vat_rate is not None:
            gross[line.vat_rate] = gross.get(line.vat_rate, ZERO) + line.total - off
    if shipping.price:
        gross[shipping.vat_rate] = gross.get(shipping.vat_rate, ZERO) + shipping.price
    return tuple(_contained_vat(rate, amount) for rate, amount in sorted(gross.items()) if amount)


def _contained_vat(rate: Decimal, gross: Decimal) -> VatAmount:
    vat = cents(gross * rate / (100 + rate))
    return VatAmount(rate, gross - vat, vat, gross)


def _payable_by_gift_cards(total: Decimal, sold: Sequence[PricedLine], reduction: Reduction) -> Decimal:
    """What gift cards can pay: the total without the lines that do not take them."""
    barred = (line.total - off for line, off in zip(sold, reduction.by_line, strict=True) if not line.takes_gift_cards)
    return total - sum(barred, ZERO)


def _gift_card_amounts(payable: Decimal, cards: Sequence[UsableCard]) -> dict[int, Decimal]:
    """The amount paid by each gift card: first those of the partner, then those of its network, each in the order of the
    codes. A card that is used whole pays nothing of less than it has.
    """
    taken: dict[int, Decimal] = {}
    for card in sorted(cards, key=lambda each: each.is_of_network):
        taken[card.id] = ZERO if card.is_whole and card.remaining > payable else min(card.remaining, payable)
        payable -= taken[card.id]
    return taken


def _applied_card(card: UsableCard, amount: Decimal, *, takes_gift_cards: bool) -> AppliedCode:
    """`takes_gift_cards` is True if the order has something that gift cards can pay for."""
    problem = None
    if not takes_gift_cards:
        problem = CodeProblem.PAYS_NO_GIFT_CARDS
    elif card.is_whole and not amount:
        problem = CodeProblem.USED_WHOLE
    return AppliedCode(card.code, CodeKind.GIFT_CARD, amount, problem is None, problem=problem)


def _applied_coupon(code: CouponRow, reduction: Reduction) -> AppliedCode:
    amount, missed = reduction.by_coupon.get(code.id), reduction.unmet.get(code.id)
    return AppliedCode(
        code=code.code,
        kind=CodeKind.COUPON,
        amount=amount or ZERO,
        applies=amount is not None,
        added_value=reduction.added_by_coupon.get(code.id, ZERO),
        free_click_and_collect=code.id in reduction.free_collection_coupons,
        problem=missed.problem if missed else None,
        minimum=missed.minimum if missed else None,
    )

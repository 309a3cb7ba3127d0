"""When a coupon works on what somebody buys, and what it takes off or adds. Pure."""

import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

from schema.checkout.checkout import CheckoutLine, CodeProblem, ShopKind
from schema.coupon.coupon import CouponTarget, ReceptionMode
from schema.delivery import DeliveryKind
from schema.validation.numbers import LARGEST_AMOUNT
from store.coupon.coupons import CouponRow

CENT = Decimal("0.01")
ZERO = Decimal("0.00")
RECEPTION = {
    DeliveryKind.DIGITAL: frozenset({ReceptionMode.GIFTEE_EMAIL, ReceptionMode.PRINT_AT_HOME}),
    DeliveryKind.CLICK_AND_COLLECT: frozenset({ReceptionMode.ON_SITE}),
    DeliveryKind.HOME_DELIVERY: frozenset({ReceptionMode.EXPEDITION, ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY}),
}


TARGETS = {
    ShopKind.PRODUCTS: frozenset({CouponTarget.ECOMMERCE, CouponTarget.CLICK_AND_COLLECT}),
    ShopKind.VOUCHERS: frozenset({CouponTarget.VOUCHERS}),
    ShopKind.GIFT_CARDS: frozenset({CouponTarget.GIFT_CARDS}),
}
"""What a coupon must be meant for, one of these, to work in a shop at all."""


@dataclass(frozen=True, slots=True)
class Ware:
    """A line as coupons see it. `id` is that of the product or prototype; None where coupons do not tell one from another."""

    id: int | None
    unit_price: Decimal
    total: Decimal


@dataclass(frozen=True, slots=True)
class Terms:
    """What is known of how something is bought. None: not known yet, which stops no coupon."""

    kind: ShopKind
    email: str
    targets: frozenset[CouponTarget] | None
    receptions: frozenset[ReceptionMode] | None
    collected: bool | None
    collecting_costs: bool = True
    """Whether there is anything to pay for collecting, without a coupon."""


@dataclass(frozen=True, slots=True)
class Unmet:
    """Why a coupon does nothing; `least` is the amount that there is not."""

    problem: CodeProblem
    least: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Reduction:
    """What coupons take off: in all, line by line, coupon by coupon (only those that work); and what they add to the value."""

    total: Decimal
    by_line: tuple[Decimal, ...]
    by_coupon: dict[int, Decimal]
    unmet: dict[int, Unmet]
    """Why those do nothing that do not work."""
    freeing: frozenset[int]
    """Those that make collecting free."""
    added: tuple[Decimal, ...]
    """What is added to the value of each line."""
    added_by_coupon: dict[int, Decimal]
    coupons: tuple[tuple[CouponRow, ...], ...]
    """Those that took something off each line, or added something to it."""


def cents(value: Decimal) -> Decimal:
    """Rounded half up to the cent."""
    return value.quantize(CENT, ROUND_HALF_UP)


def is_running(coupon: CouponRow, now: dt.datetime, *, own_uses: int = 0, kind: ShopKind = ShopKind.PRODUCTS) -> bool:
    """Whether a coupon can be used at all: activated, in its period, not used up, meant for this kind of shop.

    `own_uses` are uses that whoever asks has already taken.
    """
    used = coupon.usage_count - own_uses
    running = works(coupon.is_active, coupon.starts_on, coupon.ends_on, coupon.max_usages, used, now)
    return running and bool(TARGETS[kind] & set(coupon.targets))


def works(
    active: bool,
    starts_on: dt.datetime | None,
    ends_on: dt.datetime | None,
    max_usages: int | None,
    usage_count: int,
    now: dt.datetime,
) -> bool:
    """Whether a coupon is activated, in its period and not used up."""
    begun = starts_on is None or starts_on <= now
    left = max_usages is None or usage_count < max_usages
    return active and begun and left and (ends_on is None or now < ends_on)


def reduce_lines(
    lines: Sequence[CheckoutLine],
    coupons: Sequence[CouponRow],
    kind: DeliveryKind | None,
    email: str,
    *,
    collecting_costs: bool = True,
) -> Reduction:
    """Apply coupons to lines of a shop's cart."""
    wares = [Ware(line.choice.product_id, line.unit_price or ZERO, line.total) for line in lines]
    collected = None if kind is None else kind is DeliveryKind.CLICK_AND_COLLECT
    target = CouponTarget.CLICK_AND_COLLECT if collected else CouponTarget.ECOMMERCE
    terms = Terms(
        kind=ShopKind.PRODUCTS,
        email=email,
        targets=None if kind is None else frozenset({target, CouponTarget.ECOMMERCE}),
        receptions=None if kind is None else RECEPTION[kind],
        collected=collected,
        collecting_costs=collecting_costs,
    )
    return reduce(wares, coupons, terms)


def reduce(wares: Sequence[Ware], coupons: Sequence[CouponRow], terms: Terms) -> Reduction:
    """Apply coupons one after the other, each to what the ones before left over."""
    left, added = [ware.total for ware in wares], [ZERO for _ in wares]
    used: list[list[CouponRow]] = [[] for _ in wares]
    by_coupon, added_by_coupon = dict[int, Decimal](), dict[int, Decimal]()
    unmet, freeing = dict[int, Unmet](), set[int]()
    for coupon in coupons:
        eligible = _eligible(coupon, wares, terms)
        if (missed := _unmet(coupon, wares, sum(left, ZERO), terms)) is not None:
            unmet[coupon.id] = missed
            continue
        shares, raised = _effect(coupon, [wares[i].total for i in eligible], [left[i] for i in eligible])
        if any(wares[i].total + added[i] + more > LARGEST_AMOUNT for i, more in zip(eligible, raised, strict=True)):
            unmet[coupon.id] = Unmet(CodeProblem.TOO_MUCH)
            continue
        frees = coupon.free_click_and_collect and terms.collected is not False and terms.collecting_costs
        if not any(shares) and not any(raised) and (freeing or not frees):  # it would be used up for nothing
            delivered = coupon.free_click_and_collect and terms.collected is False
            elsewhere = delivered and any(left[i] for i in eligible)
            unmet[coupon.id] = Unmet(CodeProblem.OTHER_DELIVERY if elsewhere else CodeProblem.NOTHING_LEFT)
            continue
        for index, share, more in zip(eligible, shares, raised, strict=True):
            left[index] -= share
            added[index] += more
            if share or more:
                used[index].append(coupon)
        by_coupon[coupon.id], added_by_coupon[coupon.id] = sum(shares, ZERO), sum(raised, ZERO)
        freeing.update([coupon.id] if frees else [])
    by_line = tuple(ware.total - rest for ware, rest in zip(wares, left, strict=True))
    return Reduction(
        total=sum(by_line, ZERO),
        by_line=by_line,
        by_coupon=by_coupon,
        unmet=unmet,
        freeing=frozenset(freeing),
        added=tuple(added),
        added_by_coupon=added_by_coupon,
        coupons=tuple(tuple(each) for each in used),
    )


def _unmet(coupon: CouponRow, wares: Sequence[Ware], left: Decimal, terms: Terms) -> Unmet | None:
    """The first of its conditions that does not hold. What is not known yet (delivery, e-mail) does not stop it.

    `left` is what is left to pay for all wares after the coupons before it.
    """
    if not wares:
        return Unmet(CodeProblem.NOTHING_LEFT)
    within = [ware for ware in wares if _in_scope(coupon, ware, terms)]
    if not within or (coupon.increases_value and terms.kind is ShopKind.PRODUCTS):
        return Unmet(CodeProblem.NOT_FOR_THESE)
    if not _as_received(coupon, terms):
        return Unmet(CodeProblem.OTHER_DELIVERY)
    if not _for_buyer(coupon, terms.email):
        return Unmet(CodeProblem.OTHER_EMAIL)
    worth = sum((ware.total for ware in wares), ZERO)
    minimums = (
        (CodeProblem.MINIMUM_PRICE, coupon.minimum_product_price_amount, max(ware.unit_price for ware in within)),
        (CodeProblem.MINIMUM_BASKET, coupon.minimum_basket_amount, worth),
        (CodeProblem.MINIMUM_PAYMENT, coupon.minimum_payment_amount, left),
    )
    return next((Unmet(problem, least) for problem, least, there_is in minimums if there_is < (least or ZERO)), None)


def _as_received(coupon: CouponRow, terms: Terms) -> bool:
    """Whether it works for what is received in this way."""
    if terms.targets is not None and not terms.targets & set(coupon.targets):
        return False
    modes = set(coupon.reception_modes)
    return terms.receptions is None or not modes or bool(terms.receptions & modes)


def _for_buyer(coupon: CouponRow, email: str) -> bool:
    """Whether it is for somebody with this e-mail address."""
    wanted, given = coupon.email_condition.lower(), email.lower()
    return not (wanted and given) or (given.endswith(wanted) if wanted.startswith("@") else given == wanted)


def _in_scope(coupon: CouponRow, ware: Ware, terms: Terms) -> bool:
    scope = {ShopKind.PRODUCTS: coupon.product_ids, ShopKind.VOUCHERS: coupon.voucher_prototype_ids}.get(terms.kind)
    return not scope or ware.id in scope


def _eligible(coupon: CouponRow, wares: Sequence[Ware], terms: Terms) -> list[int]:
    """The positions of the lines it works on."""
    least = coupon.minimum_product_price_amount or ZERO
    return [i for i, ware in enumerate(wares) if _in_scope(coupon, ware, terms) and ware.unit_price >= least]


def _effect(
    coupon: CouponRow, totals: Sequence[Decimal], left: Sequence[Decimal]
) -> tuple[list[Decimal], list[Decimal]]:
    """What it takes off each line of which so much is left, and what it adds to the value of each."""
    nothing = [ZERO for _ in totals]
    return (nothing, _raises(coupon, totals)) if coupon.increases_value else (_shares(coupon, left), nothing)


def _raises(coupon: CouponRow, totals: Sequence[Decimal]) -> list[Decimal]:
    """What it adds to the value of each line: to every one, or (unless it may do so repeatedly) to the dearest alone."""
    raised = [
        cents(total * coupon.discount_percentage / 100)
        if coupon.discount_percentage is not None
        else coupon.discount_amount or ZERO
        for total in totals
    ]
    if coupon.increases_value_repeatedly:
        return raised
    dearest = max(range(len(totals)), key=lambda position: totals[position])
    return [more if position == dearest else ZERO for position, more in enumerate(raised)]


def _shares(coupon: CouponRow, left: Sequence[Decimal]) -> list[Decimal]:
    """What it takes off each line: in proportion, never more than is left, to the cent, nothing lost by rounding."""
    worth = sum(left, ZERO)
    if coupon.discount_percentage is not None:
        off = cents(worth * coupon.discount_percentage / 100)
    else:
        off = min(coupon.discount_amount or ZERO, worth)
    return in_proportion(off, left)


def in_proportion(amount: Decimal, among: Sequence[Decimal]) -> list[Decimal]:
    """An amount shared in proportion, to no part more than it has, to the cent: the shares sum to the amount.

    The amount is at most the sum of all parts.
    """
    worth = sum(among, ZERO)
    if not worth:
        return [ZERO for _ in among]
    shares = [(amount * part / worth).quantize(CENT, ROUND_DOWN) for part in among]
    missing = amount - sum(shares, ZERO)
    for position in sorted(range(len(among)), key=lambda i: among[i] - shares[i], reverse=True):
        more = min(missing, among[position] - shares[position])
        shares[position] += more
        missing -= more
    return shares

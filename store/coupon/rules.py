"""Coupon rules: eligibility, discounts and added value. Pure functions."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from decimal import ROUND_DOWN, ROUND_HALF_UP, Decimal

from schema.checkout.codes import CodeProblem
from schema.coupon.coupon import CouponTarget, ReceptionMode
from schema.delivery.delivery import DeliveryKind
from schema.validation.numbers import LARGEST_AMOUNT
from store.coupon.coupons import CouponRow

CENT = Decimal("0.01")
ZERO = Decimal("0.00")
RECEPTION_MODES = {
    DeliveryKind.DIGITAL: frozenset({ReceptionMode.GIFTEE_EMAIL, ReceptionMode.PRINT_AT_HOME}),
    DeliveryKind.CLICK_AND_COLLECT: frozenset({ReceptionMode.ON_SITE}),
    DeliveryKind.HOME_DELIVERY: frozenset({ReceptionMode.EXPEDITION, ReceptionMode.POSTAL_MAIL_TO_BENEFICIARY}),
}


GOODS = frozenset({CouponTarget.ECOMMERCE, CouponTarget.CLICK_AND_COLLECT})
"""A coupon for goods has at least one of these targets. With only the second one it is for goods that are collected."""


@dataclass(frozen=True, slots=True)
class DiscountableLine:
    """A line that coupons apply to.

    `id` is the product or prototype id; None if coupons cannot be limited to certain items.
    """

    id: int | None
    unit_price: Decimal
    total: Decimal
    targets: frozenset[CouponTarget]
    """A coupon must be for one of these. Empty for what no coupon is for."""
    receptions: frozenset[ReceptionMode] | None = None
    """How it is, or can be, received; None while it is unknown, which rejects no coupon."""

    @property
    def is_goods(self) -> bool:
        return not self.targets.isdisjoint(GOODS)


@dataclass(frozen=True, slots=True)
class CouponContext:
    """What is known about the purchase. None means unknown yet, which rejects no coupon."""

    email: str
    collected: bool | None
    collecting_costs: bool = True
    """True if collecting costs something without a coupon."""


@dataclass(frozen=True, slots=True)
class UnmetCondition:
    """Why a coupon does not apply; `minimum` is the amount that was not reached."""

    problem: CodeProblem
    minimum: Decimal | None = None


@dataclass(frozen=True, slots=True)
class Reduction:
    """The effect of coupons: discounts in total, by line and by coupon (applied ones only), and added value."""

    total: Decimal
    by_line: tuple[Decimal, ...]
    by_coupon: dict[int, Decimal]
    unmet: dict[int, UnmetCondition]
    """Coupon id -> why it does not apply."""
    free_collection_coupons: frozenset[int]
    """Ids of the coupons that make collecting free."""
    added: tuple[Decimal, ...]
    """Value added to each line."""
    added_by_coupon: dict[int, Decimal]
    coupons: tuple[tuple[CouponRow, ...], ...]
    """The coupons that reduced or increased each line."""


def cents(value: Decimal) -> Decimal:
    return value.quantize(CENT, ROUND_HALF_UP)


def is_running(coupon: CouponRow, now: dt.datetime, targets: Iterable[CouponTarget], *, own_uses: int = 0) -> bool:
    """True if the coupon is active, within its period, not used up, and for one of the `targets`.

    `own_uses` are uses that the caller has already taken; they do not count as used.
    """
    used = coupon.usage_count - own_uses
    running = is_effective(coupon.is_active, coupon.starts_on, coupon.ends_on, coupon.max_usages, used, now)
    return running and not set(coupon.targets).isdisjoint(targets)


def is_effective(
    active: bool,
    starts_on: dt.datetime | None,
    ends_on: dt.datetime | None,
    max_usages: int | None,
    usage_count: int,
    now: dt.datetime,
) -> bool:
    """True if the coupon is active, within its period and not used up."""
    begun = starts_on is None or starts_on <= now
    left = max_usages is None or usage_count < max_usages
    return active and begun and left and (ends_on is None or now < ends_on)


def apply_coupons(lines: Sequence[DiscountableLine], coupons: Sequence[CouponRow], context: CouponContext) -> Reduction:
    """Apply coupons in order, each to the amounts that the previous ones left."""
    left, added = [line.total for line in lines], [ZERO for _ in lines]
    used: list[list[CouponRow]] = [[] for _ in lines]
    by_coupon, added_by_coupon = dict[int, Decimal](), dict[int, Decimal]()
    unmet, freeing = dict[int, UnmetCondition](), set[int]()
    for coupon in coupons:
        eligible = _eligible(coupon, lines)
        others = [other for other in coupons if other.id in by_coupon]
        if (missed := _unmet_condition(coupon, others, lines, left, context)) is not None:
            unmet[coupon.id] = missed
            continue
        shares, raised = _effect(coupon, [lines[i].total for i in eligible], [left[i] for i in eligible])
        if any(lines[i].total + added[i] + more > LARGEST_AMOUNT for i, more in zip(eligible, raised, strict=True)):
            unmet[coupon.id] = UnmetCondition(CodeProblem.TOO_MUCH)
            continue
        frees = _frees_collection(coupon, context)
        if not any(shares) and not any(raised) and (freeing or not frees):  # a use would be consumed without effect
            delivered = coupon.free_click_and_collect and context.collected is False
            elsewhere = delivered and any(left[i] for i in eligible)
            unmet[coupon.id] = UnmetCondition(CodeProblem.OTHER_DELIVERY if elsewhere else CodeProblem.NOTHING_LEFT)
            continue
        for index, share, more in zip(eligible, shares, raised, strict=True):
            left[index] -= share
            added[index] += more
            if share or more:
                used[index].append(coupon)
        by_coupon[coupon.id], added_by_coupon[coupon.id] = sum(shares, ZERO), sum(raised, ZERO)
        freeing.update([coupon.id] if frees else [])
    by_line = tuple(line.total - rest for line, rest in zip(lines, left, strict=True))
    return Reduction(
        total=sum(by_line, ZERO),
        by_line=by_line,
        by_coupon=by_coupon,
        unmet=unmet,
        free_collection_coupons=frozenset(freeing),
        added=tuple(added),
        added_by_coupon=added_by_coupon,
        coupons=tuple(tuple(each) for each in used),
    )


def _unmet_condition(
    coupon: CouponRow,
    others: Sequence[CouponRow],
    lines: Sequence[DiscountableLine],
    left: Sequence[Decimal],
    context: CouponContext,
) -> UnmetCondition | None:
    """The first unmet condition of the coupon. Conditions on unknown data (delivery, e-mail) count as met.

    `others` are the coupons that apply already, `left` is the amount that they leave for each line. Minimums of a basket
    or a payment count all lines of what the coupon is for, within its scope or not.
    """
    if not lines:
        return UnmetCondition(CodeProblem.NOTHING_LEFT)
    within = [line for line in lines if _in_scope(coupon, line)]
    if not within:
        return UnmetCondition(CodeProblem.NOT_FOR_THESE)
    within = [line for line in within if _is_received(coupon, line)]
    if not within:
        return UnmetCondition(CodeProblem.OTHER_DELIVERY)
    if not _fits_buyer(coupon, context.email):
        return UnmetCondition(CodeProblem.OTHER_EMAIL)
    if others and not all(each.is_combinable for each in (coupon, *others)):
        return UnmetCondition(CodeProblem.NOT_COMBINABLE)
    aimed_at = [i for i, line in enumerate(lines) if _is_target(coupon, line)]
    worth, to_pay = sum((lines[i].total for i in aimed_at), ZERO), sum((left[i] for i in aimed_at), ZERO)
    minimums = (
        (CodeProblem.MINIMUM_PRICE, coupon.minimum_product_price_amount, max(line.unit_price for line in within)),
        (CodeProblem.MINIMUM_BASKET, coupon.minimum_basket_amount, worth),
        (CodeProblem.MINIMUM_PAYMENT, coupon.minimum_payment_amount, to_pay),
    )
    return next(
        (UnmetCondition(problem, least) for problem, least, there_is in minimums if there_is < (least or ZERO)), None
    )


def _frees_collection(coupon: CouponRow, context: CouponContext) -> bool:
    """True if the coupon makes collecting free, or could, while it is unknown what is collected."""
    modes = coupon.reception_modes
    is_for_it = not modes or ReceptionMode.ON_SITE in modes or context.collected is None
    return coupon.free_click_and_collect and context.collected is not False and context.collecting_costs and is_for_it


def _fits_buyer(coupon: CouponRow, email: str) -> bool:
    """True if the coupon's e-mail condition, an address or an `@domain`, matches. An unknown address matches."""
    condition, buyer_email = coupon.email_condition.lower(), email.lower()
    return not (condition and buyer_email) or (
        buyer_email.endswith(condition) if condition.startswith("@") else buyer_email == condition
    )


def _is_target(coupon: CouponRow, line: DiscountableLine) -> bool:
    return not line.targets.isdisjoint(coupon.targets)


def _is_received(coupon: CouponRow, line: DiscountableLine) -> bool:
    """True if the coupon allows the way in which the line is received."""
    if line.receptions is None:
        return True
    if line.is_goods and ReceptionMode.ON_SITE not in line.receptions and CouponTarget.ECOMMERCE not in coupon.targets:
        return False
    return not coupon.reception_modes or not line.receptions.isdisjoint(coupon.reception_modes)


def _in_scope(coupon: CouponRow, line: DiscountableLine) -> bool:
    if not _is_target(coupon, line):
        return False
    if coupon.increases_value and (line.is_goods or CouponTarget.NETWORK_VOUCHERS in line.targets):
        return False  # goods have no value to add to, and that of a box is its content
    scope: Sequence[int] = ()
    if line.is_goods:
        scope = coupon.product_ids
    elif CouponTarget.VOUCHERS in line.targets:
        scope = coupon.voucher_prototype_ids
    return not scope or line.id in scope


def _eligible(coupon: CouponRow, lines: Sequence[DiscountableLine]) -> list[int]:
    """The indexes of the lines that the coupon applies to."""
    least = coupon.minimum_product_price_amount or ZERO
    return [
        i
        for i, line in enumerate(lines)
        if _in_scope(coupon, line) and _is_received(coupon, line) and line.unit_price >= least
    ]


def _effect(
    coupon: CouponRow, totals: Sequence[Decimal], left: Sequence[Decimal]
) -> tuple[list[Decimal], list[Decimal]]:
    """The discount on each line, limited by the amount left on it, and the value added to each line."""
    nothing = [ZERO for _ in totals]
    return (
        (nothing, _added_values(coupon, totals)) if coupon.increases_value else (_line_discounts(coupon, left), nothing)
    )


def _added_values(coupon: CouponRow, totals: Sequence[Decimal]) -> list[Decimal]:
    """The value added to each line: only to the most expensive one, unless `increases_value_repeatedly`."""
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


def _line_discounts(coupon: CouponRow, left: Sequence[Decimal]) -> list[Decimal]:
    """The discount on each line, split in proportion. It never exceeds the amount left, and rounding loses no cent."""
    worth = sum(left, ZERO)
    if coupon.discount_percentage is not None:
        off = cents(worth * coupon.discount_percentage / 100)
    else:
        off = min(coupon.discount_amount or ZERO, worth)
    return split_proportionally(off, left)


def split_proportionally(amount: Decimal, among: Sequence[Decimal]) -> list[Decimal]:
    """Split an amount in proportion to `among`, to the cent. No share exceeds its part; the shares sum to the amount.

    The amount must not exceed the sum of all parts.
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

"""What a basket costs. Pure: rows in, amounts out; every amount is rounded half up to the cent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from schema.checkout.checkout import (
    OPEN,
    AppliedCode,
    CheckoutLine,
    Choice,
    CodeKind,
    DeliveryOption,
    DeliveryProblem,
    Expected,
    LineProblem,
    OfferedProduct,
    OfferedVariant,
    Totals,
    VatAmount,
)
from schema.delivery import DeliveryKind
from schema.validation.numbers import LARGEST_AMOUNT
from store.checkout.offers import Delivery, SoldProduct
from store.coupon.coupons import CouponRow
from store.coupon.rules import Reduction, cents, reduce_lines
from store.gift_card.gift_cards import UsableCard

ZERO = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class Basket:
    """Everything a price depends on."""

    choices: Sequence[Choice]
    products: Mapping[int, SoldProduct]
    deliveries: Sequence[Delivery]
    delivery_id: int | None
    country: str
    email: str
    codes: Sequence[CouponRow | UsableCard]
    currency: str


@dataclass(frozen=True, slots=True)
class Priced:
    """What it comes to."""

    lines: tuple[CheckoutLine, ...]
    deliveries: tuple[DeliveryOption, ...]
    codes: tuple[AppliedCode, ...]
    totals: Totals
    expected: Expected | None
    """With the lines that something is still to be chosen for; None where there are none."""

    @property
    def good(self) -> tuple[CheckoutLine, ...]:
        """The lines that can be ordered."""
        return tuple(line for line in self.lines if _is_good(line))


def price(basket: Basket) -> Priced:
    """Price a basket."""
    lines = price_lines(basket.choices, basket.products)
    good = [line for line in lines if _is_good(line)]
    goods = good or [line for line in lines if line.product]  # nothing can be ordered: as if all could
    physical = any(line.product and line.product.is_physical for line in goods)
    options, applied, totals = _come_to(basket, good, physical=physical)
    return Priced(lines, options, applied, totals, _expected(basket, lines))


def _expected(basket: Basket, lines: Sequence[CheckoutLine]) -> Expected | None:
    """What it comes to with the open lines as they are wanted; None without one, or beyond what an order can be."""
    wanted = [line for line in lines if _is_good(line) or line.is_open]
    as_wanted = [replace(line, total=(line.unit_price or ZERO) * line.choice.quantity) for line in wanted]
    if not any(line.is_open for line in wanted) or not all(fit_together([line.total for line in as_wanted])):
        return None
    physical = any(line.product and line.product.is_physical for line in wanted)
    options, applied, totals = _come_to(basket, as_wanted, physical=physical)
    return Expected(options, applied, totals, is_least=any(line.is_least for line in wanted))


def _is_good(line: CheckoutLine) -> bool:
    """Whether it can be ordered."""
    return line.problem is None and line.choice.quantity > 0


def _come_to(
    basket: Basket, good: Sequence[CheckoutLine], *, physical: bool
) -> tuple[tuple[DeliveryOption, ...], tuple[AppliedCode, ...], Totals]:
    """How lines with a price can be delivered, what each code does for them, and what it comes to."""
    mode = next((d for d in basket.deliveries if d.mode.id == basket.delivery_id), None)
    coupons = [code for code in basket.codes if isinstance(code, CouponRow)]
    kind, costs = (mode.mode.kind, has_a_price(mode)) if mode else (None, True)
    reduction = reduce_lines(good, coupons, kind, basket.email, collecting_costs=costs)
    worth = sum((line.total for line in good), ZERO) - reduction.total
    weight = weight_of(good, basket.products)
    options = tuple(
        delivery_option(d, [Parcel(basket.country, weight)], worth, reduction, physical=physical)
        for d in basket.deliveries
    )
    chosen = next((o for o in options if o.id == basket.delivery_id and o.is_available), None)
    sold = [Sold(line.total, basket.products[line.choice.product_id].vat_rate) for line in good]
    carriage = Carriage(chosen.price if chosen else None, mode.mode.vat_rate if mode else ZERO)
    totals, applied = bill(sold, reduction, carriage, basket.codes, basket.currency)
    return options, applied, totals


@dataclass(frozen=True, slots=True)
class Sold:
    """A line to be paid for, before coupons. `vat_rate` is None for what carries no VAT when it is sold."""

    total: Decimal
    vat_rate: Decimal | None


@dataclass(frozen=True, slots=True)
class Carriage:
    """What delivery costs, and its VAT; None while that is not known."""

    price: Decimal | None
    vat_rate: Decimal


def bill(
    sold: Sequence[Sold],
    reduction: Reduction,
    carriage: Carriage,
    codes: Sequence[CouponRow | UsableCard],
    currency: str,
) -> tuple[Totals, tuple[AppliedCode, ...]]:
    """What is to be paid in all, with what, and what each code does. The same for whatever is sold."""
    worth = sum((line.total for line in sold), ZERO)
    total = worth - reduction.total + (carriage.price or ZERO)
    cards, by_card = _cover(total, [code for code in codes if isinstance(code, UsableCard)])
    applied = tuple(_applied(code, reduction, cards) for code in codes)
    totals = Totals(
        currency=currency,
        products=worth,
        discount=reduction.total,
        delivery=carriage.price,
        total=total,
        gift_cards=total - by_card,
        by_card=by_card,
        vat=vat_of(sold, reduction, carriage),
    )
    return totals, applied


# ---- lines ------------------------------------------------------------------------------------------------------------


def price_lines(choices: Sequence[Choice], products: Mapping[int, SoldProduct]) -> tuple[CheckoutLine, ...]:
    """Each line with the shop's price, or with what is wrong with it. Lines of one stock share what there is."""
    taken: dict[tuple[int, int | None], int] = {}
    lines = [_line(choice, products.get(choice.product_id), taken) for choice in choices]
    fitting = fit_together([line.total for line in lines])
    return tuple(
        line if fits else replace(line, total=ZERO, problem=LineProblem.TOO_MUCH)
        for line, fits in zip(lines, fitting, strict=True)
    )


def fit_together(totals: Sequence[Decimal]) -> list[bool]:
    """Which lines an order has room for, the first first: together they come to no more than an amount can be."""
    fitting, worth = [], ZERO
    for total in totals:
        fitting.append(worth + total <= LARGEST_AMOUNT)
        worth += total if fitting[-1] else ZERO
    return fitting


def _line(choice: Choice, sold: SoldProduct | None, taken: dict[tuple[int, int | None], int]) -> CheckoutLine:
    if sold is None:
        return CheckoutLine(choice, None, None, None, ZERO, LineProblem.NOT_SOLD)
    product = sold.offered
    variant = next((v for v in product.variants if v.id == choice.variant_id), None)
    problem = None if sold.is_active else LineProblem.INACTIVE
    problem = problem or _variant_problem(product, variant, choice) or _attribute_problem(product, choice)
    unit_price = variant.price if variant else product.price
    if problem is not None:
        return CheckoutLine(choice, product, variant, unit_price if problem in OPEN else None, ZERO, problem)
    stock = variant.available if variant else product.available
    key = (product.id, variant.id if variant else None)
    left = None if stock is None else stock - taken.get(key, 0)
    if left is not None and left < choice.quantity:
        short = LineProblem.OUT_OF_STOCK if left <= 0 else LineProblem.NOT_ENOUGH_STOCK
        return CheckoutLine(choice, product, variant, unit_price, ZERO, short, max(left, 0))
    taken[key] = taken.get(key, 0) + choice.quantity
    return CheckoutLine(choice, product, variant, unit_price, unit_price * choice.quantity)


def _variant_problem(product: OfferedProduct, variant: OfferedVariant | None, choice: Choice) -> LineProblem | None:
    if choice.variant_id is not None and variant is None:
        return LineProblem.UNKNOWN_VARIANT
    if product.variants and variant is None:
        return LineProblem.VARIANT_REQUIRED
    return None


def _attribute_problem(product: OfferedProduct, choice: Choice) -> LineProblem | None:
    known = {attribute.id: attribute for attribute in product.attributes}
    for key, value in choice.attribute_values.items():
        if key not in known or (value and value not in {v.value for v in known[key].values}):
            return LineProblem.UNKNOWN_ATTRIBUTE_VALUE
    if any(a.is_required and not choice.attribute_values.get(a.id) for a in product.attributes):
        return LineProblem.ATTRIBUTE_REQUIRED
    return None


# ---- delivery ---------------------------------------------------------------------------------------------------------


def weight_of(lines: Sequence[CheckoutLine], products: Mapping[int, SoldProduct]) -> int:
    """What the lines weigh together, in grams."""
    total = 0
    for line in lines:
        sold = products[line.choice.product_id]
        each = sold.variant_weights[line.variant.id] if line.variant else sold.weight
        total += each * line.choice.quantity
    return total


def rate_for(delivery: Delivery, country: str, weight: int) -> Decimal | None:
    """The price to a country at a weight: the tightest band of the country, else of all others; None: not delivered."""
    for wanted in (country, ""):
        of_country = [rate for rate in delivery.rates if rate.country == wanted]
        fitting = [r for r in of_country if r.max_weight_grams is None or weight <= r.max_weight_grams]
        if of_country:
            best = min(fitting, key=lambda r: (r.max_weight_grams is None, r.max_weight_grams or 0), default=None)
            return best.price_amount if best else None
    return None


def has_a_price(delivery: Delivery) -> bool:
    """Whether a delivery costs anything at all, wherever and whatever it is."""
    return any(rate.price_amount for rate in delivery.rates)


@dataclass(frozen=True, slots=True)
class Parcel:
    """Something sent: to which country (empty: not known), and how heavy in grams."""

    country: str
    weight: int


def delivery_option(
    delivery: Delivery, parcels: Sequence[Parcel], worth: Decimal, reduction: Reduction, *, physical: bool
) -> DeliveryOption:
    """A delivery mode as it is offered for these parcels, each of which costs its own carriage."""
    mode = delivery.mode
    countries = tuple(sorted({r.country for r in delivery.rates if r.country}))
    everywhere = any(not r.country for r in delivery.rates)
    price: Decimal | None = ZERO
    problem = DeliveryProblem.GOODS if mode.kind is DeliveryKind.DIGITAL and physical else None
    if mode.kind is not DeliveryKind.DIGITAL and delivery.rates:
        sent = mode.kind is DeliveryKind.HOME_DELIVERY and bool(countries)
        known = not sent or all(parcel.country for parcel in parcels)
        price = _carriage(delivery, parcels) if known else None
        problem = None if price is not None or not known else _undelivered(delivery, parcels)
    if price and mode.free_above_amount is not None and worth >= mode.free_above_amount:
        price = ZERO
    if mode.kind is DeliveryKind.CLICK_AND_COLLECT and reduction.freeing and problem is None:
        price = ZERO
    if price and worth + price > LARGEST_AMOUNT:
        problem = DeliveryProblem.TOO_MUCH
    return DeliveryOption(
        id=mode.id,
        kind=mode.kind,
        name=mode.name,
        description=mode.description,
        price=price if problem is None else None,
        free_above=mode.free_above_amount,
        countries=() if everywhere else countries,
        problem=problem,
    )


def _undelivered(delivery: Delivery, parcels: Sequence[Parcel]) -> DeliveryProblem:
    """Why not all parcels are delivered: where to, unless that would do for lighter ones."""
    lighter = [replace(parcel, weight=0) for parcel in parcels]
    return DeliveryProblem.COUNTRY if _carriage(delivery, lighter) is None else DeliveryProblem.WEIGHT


def _carriage(delivery: Delivery, parcels: Sequence[Parcel]) -> Decimal | None:
    """What all parcels cost together; None when one of them is not delivered."""
    prices = [rate_for(delivery, parcel.country, parcel.weight) for parcel in parcels]
    known = [price for price in prices if price is not None]
    return sum(known, ZERO) if len(known) == len(prices) else None


# ---- VAT and cover ----------------------------------------------------------------------------------------------------


def vat_of(sold: Sequence[Sold], reduction: Reduction, carriage: Carriage) -> tuple[VatAmount, ...]:
    """The VAT contained in what is paid, rate by rate, delivery and reductions included."""
    gross: dict[Decimal, Decimal] = {}
    for line, off in zip(sold, reduction.by_line, strict=True):
        if line.vat_rate is not None:
            gross[line.vat_rate] = gross.get(line.vat_rate, ZERO) + line.total - off
    if carriage.price:
        gross[carriage.vat_rate] = gross.get(carriage.vat_rate, ZERO) + carriage.price
    return tuple(_contained(rate, amount) for rate, amount in sorted(gross.items()) if amount)


def _contained(rate: Decimal, gross: Decimal) -> VatAmount:
    vat = cents(gross * rate / (100 + rate))
    return VatAmount(rate, gross - vat, vat, gross)


def _cover(total: Decimal, cards: Sequence[UsableCard]) -> tuple[dict[int, Decimal], Decimal]:
    """What each gift card takes over, in the order they were given, and what is left for the bank card."""
    taken: dict[int, Decimal] = {}
    for card in cards:
        taken[card.id] = min(card.remaining, total)
        total -= taken[card.id]
    return taken, total


def _applied(code: CouponRow | UsableCard, reduction: Reduction, cards: Mapping[int, Decimal]) -> AppliedCode:
    if isinstance(code, UsableCard):
        return AppliedCode(code.code, CodeKind.GIFT_CARD, cards[code.id], True)
    amount, missed = reduction.by_coupon.get(code.id), reduction.unmet.get(code.id)
    return AppliedCode(
        code=code.code,
        kind=CodeKind.COUPON,
        amount=amount or ZERO,
        applies=amount is not None,
        adds=reduction.added_by_coupon.get(code.id, ZERO),
        frees=code.id in reduction.freeing,
        problem=missed.problem if missed else None,
        least=missed.least if missed else None,
    )

"""Pricing of carts. Pure functions; amounts are rounded half up to the cent."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from schema.checkout.checkout import (
    FIXABLE_PROBLEMS,
    CheckoutEstimate,
    CheckoutLine,
    DeliveryOption,
    DeliveryProblem,
    LineProblem,
    OfferedProduct,
    OfferedVariant,
    ProductChoice,
    Totals,
    VatAmount,
)
from schema.checkout.codes import AppliedCode, CodeKind, CodeProblem
from schema.delivery.delivery import DeliveryKind
from schema.validation.numbers import LARGEST_AMOUNT
from store.checkout.offers import ShopDelivery, ShopProduct
from store.coupon.coupons import CouponRow
from store.coupon.rules import Reduction, apply_coupons_to_cart, cents
from store.gift_card.gift_cards import UsableCard

ZERO = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class CartPricingInput:
    """All inputs of a cart's price."""

    choices: Sequence[ProductChoice]
    products: Mapping[int, ShopProduct]
    deliveries: Sequence[ShopDelivery]
    delivery_id: int | None
    country: str
    email: str
    codes: Sequence[CouponRow | UsableCard]
    currency: str


@dataclass(frozen=True, slots=True)
class PricedCart:
    lines: tuple[CheckoutLine, ...]
    deliveries: tuple[DeliveryOption, ...]
    codes: tuple[AppliedCode, ...]
    totals: Totals
    reduction: Reduction
    """The effect of coupons on the lines that can be ordered, in their order."""
    expected: CheckoutEstimate | None
    """The estimate that includes lines with missing choices; None if there are none."""

    @property
    def orderable_lines(self) -> tuple[CheckoutLine, ...]:
        return tuple(line for line in self.lines if _is_orderable(line))


def price_cart(pricing_input: CartPricingInput) -> PricedCart:
    lines = price_lines(pricing_input.choices, pricing_input.products)
    good = [line for line in lines if _is_orderable(line)]
    # If no line can be ordered, the delivery options are those of all lines.
    goods = good or [line for line in lines if line.product]
    physical = any(line.product and line.product.is_physical for line in goods)
    options, applied, totals, reduction = _price_orderable_lines(pricing_input, good, physical=physical)
    return PricedCart(lines, options, applied, totals, reduction, _estimate(pricing_input, lines))


def _estimate(pricing_input: CartPricingInput, lines: Sequence[CheckoutLine]) -> CheckoutEstimate | None:
    """The total including the fixable lines; None without such lines, or beyond the largest possible order amount."""
    expected_lines = [line for line in lines if _is_orderable(line) or line.is_fixable]
    as_wanted = [replace(line, total=(line.unit_price or ZERO) * line.choice.quantity) for line in expected_lines]
    if not any(line.is_fixable for line in expected_lines) or not all(
        lines_within_limit([line.total for line in as_wanted])
    ):
        return None
    physical = any(line.product and line.product.is_physical for line in expected_lines)
    options, applied, totals, _ = _price_orderable_lines(pricing_input, as_wanted, physical=physical)
    return CheckoutEstimate(options, applied, totals, is_minimum=any(line.is_starting_price for line in expected_lines))


def _is_orderable(line: CheckoutLine) -> bool:
    return line.problem is None and line.choice.quantity > 0


def _price_orderable_lines(
    pricing_input: CartPricingInput, good: Sequence[CheckoutLine], *, physical: bool
) -> tuple[tuple[DeliveryOption, ...], tuple[AppliedCode, ...], Totals, Reduction]:
    """The delivery options, the applied codes, the totals and the reduction of these lines."""
    mode = next((d for d in pricing_input.deliveries if d.id == pricing_input.delivery_id), None)
    coupons = [code for code in pricing_input.codes if isinstance(code, CouponRow)]
    kind, costs = (mode.kind, has_shipping_cost(mode)) if mode else (None, True)
    reduction = apply_coupons_to_cart(good, coupons, kind, pricing_input.email, collecting_costs=costs)
    worth = sum((line.total for line in good), ZERO) - reduction.total
    weight = weight_of(good, pricing_input.products)
    options = tuple(
        delivery_option(d, [Shipment(pricing_input.country, weight)], worth, reduction, physical=physical)
        for d in pricing_input.deliveries
    )
    chosen = next((o for o in options if o.id == pricing_input.delivery_id and o.is_available), None)
    sold = [PricedLine(line.total, pricing_input.products[line.choice.product_id].vat_rate) for line in good]
    shipping = ShippingCost(chosen.price if chosen else None, mode.vat_rate if mode else ZERO)
    totals, applied = compute_totals(sold, reduction, shipping, pricing_input.codes, pricing_input.currency)
    return options, applied, totals, reduction


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
    """The totals, and the effect of each code. It serves carts and baskets alike."""
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


# ---- lines ------------------------------------------------------------------------------------------------------------


def price_lines(choices: Sequence[ProductChoice], products: Mapping[int, ShopProduct]) -> tuple[CheckoutLine, ...]:
    """The lines with the shop's prices or a problem each. Lines of the same product and variant share its stock."""
    taken: dict[tuple[int, int | None], int] = {}
    lines = [_price_line(choice, products.get(choice.product_id), taken) for choice in choices]
    fitting = lines_within_limit([line.total for line in lines])
    return tuple(
        line if fits else replace(line, total=ZERO, problem=LineProblem.TOO_MUCH)
        for line, fits in zip(lines, fitting, strict=True)
    )


def lines_within_limit(totals: Sequence[Decimal]) -> list[bool]:
    """For each line, True if the order has room for it. Lines are accepted in order up to the largest order amount."""
    fitting, worth = [], ZERO
    for total in totals:
        fitting.append(worth + total <= LARGEST_AMOUNT)
        worth += total if fitting[-1] else ZERO
    return fitting


def _price_line(
    choice: ProductChoice, sold: ShopProduct | None, taken: dict[tuple[int, int | None], int]
) -> CheckoutLine:
    if sold is None:
        return CheckoutLine(choice, None, None, None, ZERO, LineProblem.NOT_SOLD)
    product = sold.offered
    variant = next((v for v in product.variants if v.id == choice.variant_id), None)
    problem = None if sold.is_active else LineProblem.INACTIVE
    problem = problem or _variant_problem(product, variant, choice) or _attribute_problem(product, choice)
    unit_price = variant.price if variant else product.price
    if problem is not None:
        return CheckoutLine(
            choice, product, variant, unit_price if problem in FIXABLE_PROBLEMS else None, ZERO, problem
        )
    stock = variant.available if variant else product.available
    key = (product.id, variant.id if variant else None)
    left = None if stock is None else stock - taken.get(key, 0)
    if left is not None and left < choice.quantity:
        short = LineProblem.OUT_OF_STOCK if left <= 0 else LineProblem.NOT_ENOUGH_STOCK
        return CheckoutLine(choice, product, variant, unit_price, ZERO, short, max(left, 0))
    taken[key] = taken.get(key, 0) + choice.quantity
    return CheckoutLine(choice, product, variant, unit_price, unit_price * choice.quantity)


def _variant_problem(
    product: OfferedProduct, variant: OfferedVariant | None, choice: ProductChoice
) -> LineProblem | None:
    if choice.variant_id is not None and variant is None:
        return LineProblem.UNKNOWN_VARIANT
    if product.variants and variant is None:
        return LineProblem.VARIANT_REQUIRED
    return None


def _attribute_problem(product: OfferedProduct, choice: ProductChoice) -> LineProblem | None:
    known = {attribute.id: attribute for attribute in product.attributes}
    for key, value in choice.attribute_values.items():
        if key not in known or (value and value not in {v.value for v in known[key].values}):
            return LineProblem.UNKNOWN_ATTRIBUTE_VALUE
    if any(a.is_required and not choice.attribute_values.get(a.id) for a in product.attributes):
        return LineProblem.ATTRIBUTE_REQUIRED
    return None


# ---- delivery ---------------------------------------------------------------------------------------------------------


def weight_of(lines: Sequence[CheckoutLine], products: Mapping[int, ShopProduct]) -> int:
    """The total weight in grams."""
    total = 0
    for line in lines:
        sold = products[line.choice.product_id]
        each = sold.variant_weights[line.variant.id] if line.variant else sold.weight
        total += each * line.choice.quantity
    return total


def shipping_rate_for(delivery: ShopDelivery, country: str, weight: int) -> Decimal | None:
    """The shipping price for a country and weight; None if it is not delivered.

    It is the rate with the lowest sufficient weight limit. If the country has rates of its own, only those count; else
    the rates for all other countries do.
    """
    for rate_country in (country, ""):
        of_country = [rate for rate in delivery.rates if rate.country == rate_country]
        fitting = [r for r in of_country if r.max_weight_grams is None or weight <= r.max_weight_grams]
        if of_country:
            best = min(fitting, key=lambda r: (r.max_weight_grams is None, r.max_weight_grams or 0), default=None)
            return best.price_amount if best else None
    return None


def has_shipping_cost(delivery: ShopDelivery) -> bool:
    """True if any rate of the delivery mode is above zero."""
    return any(rate.price_amount for rate in delivery.rates)


@dataclass(frozen=True, slots=True)
class Shipment:
    """A shipment: destination country (empty if unknown) and weight in grams."""

    country: str
    weight: int


def delivery_option(
    delivery: ShopDelivery, shipments: Sequence[Shipment], worth: Decimal, reduction: Reduction, *, physical: bool
) -> DeliveryOption:
    """The delivery option for these shipments. Each shipment is charged separately."""
    countries = tuple(sorted({r.country for r in delivery.rates if r.country}))
    everywhere = any(not r.country for r in delivery.rates)
    destinations = {shipment.country for shipment in shipments}
    needs_country = delivery.kind is DeliveryKind.HOME_DELIVERY and bool(countries)
    price: Decimal | None = ZERO
    problem = DeliveryProblem.GOODS if delivery.kind is DeliveryKind.DIGITAL and physical else None
    if delivery.kind is not DeliveryKind.DIGITAL and delivery.rates:
        known = not needs_country or all(destinations)
        price = _shipping_price(delivery, shipments) if known else None
        problem = None if price is not None or not known else _delivery_problem(delivery, shipments)
    if price and delivery.free_above is not None and worth >= delivery.free_above:
        price = ZERO
    if delivery.kind is DeliveryKind.CLICK_AND_COLLECT and reduction.free_collection_coupons and problem is None:
        price = ZERO
    if price and worth + price > LARGEST_AMOUNT:
        problem = DeliveryProblem.TOO_MUCH
    return DeliveryOption(
        id=delivery.id,
        kind=delivery.kind,
        name=delivery.name,
        description=delivery.description,
        price=price if problem is None else None,
        free_above=delivery.free_above,
        countries=() if everywhere else countries,
        problem=problem,
        priced_for=next(iter(destinations)) if needs_country and len(destinations) == 1 else "",
    )


def presumed_country(deliveries: Sequence[ShopDelivery], home: str) -> str:
    """The country that delivery is priced for while the customer has chosen none: the shop's own, else the only one that
    it delivers to; empty if it is none of these.
    """
    rates = [rate for delivery in deliveries if delivery.kind is DeliveryKind.HOME_DELIVERY for rate in delivery.rates]
    countries = {rate.country for rate in rates}
    if home in countries or "" in countries:
        return home
    return next(iter(countries)) if len(countries) == 1 else ""


def _delivery_problem(delivery: ShopDelivery, shipments: Sequence[Shipment]) -> DeliveryProblem:
    """COUNTRY if even weightless shipments could not be delivered, else WEIGHT."""
    lighter = [replace(shipment, weight=0) for shipment in shipments]
    return DeliveryProblem.COUNTRY if _shipping_price(delivery, lighter) is None else DeliveryProblem.WEIGHT


def _shipping_price(delivery: ShopDelivery, shipments: Sequence[Shipment]) -> Decimal | None:
    """The total price of the shipments; None if one of them cannot be delivered."""
    prices = [shipping_rate_for(delivery, shipment.country, shipment.weight) for shipment in shipments]
    known = [price for price in prices if price is not None]
    return sum(known, ZERO) if len(known) == len(prices) else None


# ---- VAT and payment -------------------------------------------------------------------------------------------------


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

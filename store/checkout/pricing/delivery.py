"""Prices of delivery. Pure functions."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from decimal import Decimal

from schema.checkout.checkout import DeliveryOption, DeliveryProblem
from schema.delivery.delivery import DeliveryKind
from schema.validation.numbers import LARGEST_AMOUNT
from store.checkout.offers import ShopDelivery
from store.coupon.rules import ZERO, Reduction


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

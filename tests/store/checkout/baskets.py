"""Shops, choices and codes without a database, for what is pure: pricing and coupon rules."""

from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from schema.checkout.checkout import (
    CheckoutLine,
    OfferedAttribute,
    OfferedProduct,
    OfferedValue,
    OfferedVariant,
    ProductChoice,
)
from schema.core.text import Text
from schema.coupon.coupon import CouponTarget
from schema.delivery.delivery import DeliveryKind
from store.checkout.offers import ShippingRate, ShopDelivery, ShopProduct
from store.checkout.pricing.order import PricedOrder, PricingInput, price_order
from store.core.codes import normalize
from store.coupon.coupons import CouponRow
from store.gift_card.gift_cards import UsableCard

SHOP = [CouponTarget.ECOMMERCE, CouponTarget.CLICK_AND_COLLECT]


def variant(id: int, price: str = "10.00", available: int | None = None) -> OfferedVariant:
    """A version of a product."""
    return OfferedVariant(id, Text(en=f"Variant {id}"), Decimal(price), available)


def attribute(id: int, *values: str, required: bool = True) -> OfferedAttribute:
    """Something to choose."""
    return OfferedAttribute(id, Text(en="Colour"), required, tuple(OfferedValue(v, Text(en=v)) for v in values))


def sold(
    id: int = 1,
    price: str = "10.00",
    *,
    available: int | None = None,
    vat: str = "20.00",
    weight: int = 0,
    variants: Sequence[OfferedVariant] = (),
    attributes: Sequence[OfferedAttribute] = (),
    physical: bool = True,
    active: bool = True,
) -> ShopProduct:
    """A product; its variants weigh what it weighs."""
    offered = OfferedProduct(
        id=id,
        name=Text(en=f"Product {id}"),
        description=Text(),
        picture_url="",
        price=Decimal(price),
        variants=tuple(variants),
        attributes=tuple(attributes),
        available=available,
        is_physical=physical,
    )
    return ShopProduct(offered, active, Decimal(vat), weight, {v.id: weight for v in variants})


def mode(
    kind: DeliveryKind = DeliveryKind.HOME_DELIVERY,
    *rates: tuple[str, int | None, str],
    id: int = 1,
    free_above: str | None = None,
    vat: str = "20.00",
) -> ShopDelivery:
    """A way to deliver, with rates of (country, weight limit, price)."""
    return ShopDelivery(
        id=id,
        kind=kind,
        name=Text(en=kind.value),
        description=Text(),
        vat_rate=Decimal(vat),
        free_above=None if free_above is None else Decimal(free_above),
        rates=tuple(
            ShippingRate(country=country, max_weight_grams=limit, price_amount=Decimal(price))
            for country, limit, price in rates
        ),
    )


def coupon(id: int = 1, percentage: str = "10.00", *, amount: str | None = None, **more: Any) -> CouponRow:
    """A coupon of the shop, ten per cent by default; an amount takes the place of a percentage."""
    code = f"COUPON{id}"
    off = {"discount_percentage": Decimal(percentage)} if amount is None else {"discount_amount": Decimal(amount)}
    values: dict[str, Any] = {"code": code, "normal_code": normalize(code), "targets": SHOP, **off, **more}
    return CouponRow(partner_id=1, id=id, **values)


def card(id: int = 1, remaining: str = "50.00") -> UsableCard:
    """A gift card."""
    return UsableCard(id, f"CARD{id}", Decimal(remaining))


def line(product_id: int = 1, unit_price: str = "10.00", quantity: int = 1) -> CheckoutLine:
    """A good line."""
    unit = Decimal(unit_price)
    return CheckoutLine(
        ProductChoice(product_id, quantity), sold(product_id, unit_price).offered, None, unit, unit * quantity
    )


def priced(
    choices: Sequence[ProductChoice],
    products: Sequence[ShopProduct],
    deliveries: Sequence[ShopDelivery] = (),
    *,
    delivery_id: int | None = None,
    country: str = "",
    email: str = "",
    codes: Sequence[CouponRow | UsableCard] = (),
) -> PricedOrder:
    """What it comes to."""
    return price_order(
        PricingInput(
            goods=choices,
            products={p.offered.id: p for p in products},
            deliveries=deliveries,
            delivery_id=delivery_id,
            country=country,
            email=email,
            codes=codes,
            currency="EUR",
        )
    )

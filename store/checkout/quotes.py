"""What a checkout comes to, whatever it sells: what is to be paid, and what an attempt to pay it keeps."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schema.checkout.checkout import AppliedCode, CheckoutLine, DeliveryOption, Totals
from schema.coupon.coupon import ReceptionMode
from schema.validation.languages import LANGUAGES
from store.checkout.basket_pricing import BagBasket, PricedBag
from store.checkout.fulfilment import attempt_line
from store.checkout.pricing import Basket, Priced
from store.coupon.coupons import CouponRow
from store.gift_card.gift_cards import UsableCard


@dataclass(frozen=True)
class Quote(ABC):
    """What is to be paid for what, as the shop is now. `codes` are what the `usable` ones do, in their order."""

    totals: Totals
    codes: tuple[AppliedCode, ...]
    usable: Sequence[CouponRow | UsableCard]
    delivery: DeliveryOption | None
    """The chosen delivery, while it can be had."""
    ready: bool
    """Whether there is something to order, and nothing in its way."""

    @property
    def reception(self) -> ReceptionMode | None:
        """How vouchers and gift cards reach their recipients; None for goods."""
        return None

    @abstractmethod
    def attempt_lines(self) -> list[dict[str, Any]]:
        """What is bought, as an attempt keeps it."""


@dataclass(frozen=True)
class CartQuote(Quote):
    """Of a shop's cart."""

    basket: Basket
    priced: Priced

    @classmethod
    def of(cls, basket: Basket, priced: Priced) -> "CartQuote":
        """What a priced basket comes to."""
        wanted = basket.delivery_id
        delivery = next((o for o in priced.deliveries if o.id == wanted and o.is_available), None)
        return cls(priced.totals, priced.codes, basket.codes, delivery, bool(priced.good), basket, priced)

    def attempt_lines(self) -> list[dict[str, Any]]:
        """The products that can be ordered."""
        return [_product_line(line, self.basket) for line in self.priced.good]


@dataclass(frozen=True)
class BagQuote(Quote):
    """Of a bag of vouchers or gift cards."""

    basket: BagBasket
    priced: PricedBag

    @classmethod
    def of(cls, basket: BagBasket, priced: PricedBag) -> "BagQuote":
        """What a priced bag comes to."""
        delivery = priced.reception.delivery if priced.reception else None
        return cls(priced.totals, priced.codes, basket.codes, delivery, priced.ready, basket, priced)

    @property
    def reception(self) -> ReceptionMode | None:
        """How it reaches its recipients."""
        return self.priced.reception.mode if self.priced.reception else None

    def attempt_lines(self) -> list[dict[str, Any]]:
        """The vouchers or gift cards."""
        reduction = self.priced.reduction
        rates = {id: sold.vat_rate for id, sold in self.basket.prototypes.items()}
        return [
            attempt_line(line, off, coupons, rates, self.basket.gift_cards)
            for line, off, coupons in zip(self.priced.lines, reduction.by_line, reduction.coupons, strict=True)
        ]


def _product_line(line: CheckoutLine, basket: Basket) -> dict[str, Any]:
    assert line.product is not None
    chosen = _chosen(line)
    return {
        "product_id": line.product.id,
        "variant_id": line.variant.id if line.variant else None,
        "name": line.product.name.model_dump(exclude_none=True),
        "variant": line.variant.name.model_dump(exclude_none=True) if line.variant else None,
        "choices": chosen,
        "quantity": line.choice.quantity,
        "unit_price": str(line.unit_price),
        "total": str(line.total),
        "vat_rate": str(basket.products[line.product.id].vat_rate),
        "picture_url": line.product.picture_url,
    }


def _chosen(line: CheckoutLine) -> dict[str, str] | None:
    """The chosen attribute values, as a text in each language: `Colour: sage; Ribbon: gold`."""
    assert line.product is not None
    pairs = [
        (attribute.name, value.label)
        for attribute in line.product.attributes
        for value in attribute.values
        if line.choice.attribute_values.get(attribute.id) == value.value
    ]
    if not pairs:
        return None
    return {
        language: "; ".join(f"{name.in_language(language)}: {label.in_language(language)}" for name, label in pairs)
        for language in LANGUAGES
    }

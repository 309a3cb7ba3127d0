"""Quotes: the amount to pay and the lines to store, for carts and baskets alike."""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal

from schema.checkout.basket import NetworkChoice, content_of
from schema.checkout.checkout import CheckoutLine, DeliveryOption, ShopKind, Totals
from schema.checkout.codes import AppliedCode
from schema.core.text import Text
from schema.coupon.coupon import ReceptionMode
from schema.validation.languages import LANGUAGES
from store.checkout.basket_pricing import BasketPricingInput, PricedBasket
from store.checkout.fulfilment import attempt_line
from store.checkout.network_fulfilment import network_attempt_lines
from store.checkout.pricing import CartPricingInput, PricedCart
from store.core.localization.formats import colon_in
from store.core.localization.sale_texts import DETAILS
from store.coupon.coupons import CouponRow
from store.gift_card.gift_cards import UsableCard
from store.payment.snapshot import AttemptLine


@dataclass(frozen=True)
class Quote(ABC):
    """A quote at the shop's current prices. `codes` has the effect of each of the `usable` codes, in the same order."""

    totals: Totals
    codes: tuple[AppliedCode, ...]
    usable: Sequence[CouponRow | UsableCard]
    country: str
    """The country that delivery is priced for; empty while none is known."""
    delivery: DeliveryOption | None
    """The chosen delivery if it is available."""
    ready: bool
    """True if there is something to order and nothing prevents it."""

    @property
    def reception(self) -> ReceptionMode | None:
        """How vouchers and gift cards are received whose lines do not say so; None for goods."""
        return None

    @property
    def content(self) -> ShopKind:
        """What is ordered."""
        return ShopKind.PRODUCTS

    @abstractmethod
    def attempt_lines(self) -> tuple[AttemptLine, ...]:
        """The ordered lines as stored with a payment attempt."""


@dataclass(frozen=True)
class CartQuote(Quote):
    """The quote of a cart."""

    pricing_input: CartPricingInput
    priced: PricedCart

    @classmethod
    def from_priced(cls, basket: CartPricingInput, priced: PricedCart) -> "CartQuote":
        delivery_id = basket.delivery_id
        delivery = next((o for o in priced.deliveries if o.id == delivery_id and o.is_available), None)
        ready = bool(priced.orderable_lines)
        return cls(priced.totals, priced.codes, basket.codes, basket.country, delivery, ready, basket, priced)

    def attempt_lines(self) -> tuple[AttemptLine, ...]:
        priced = zip(self.priced.orderable_lines, self.priced.reduction.by_line, strict=True)
        return tuple(_attempt_line(line, off, self.pricing_input) for line, off in priced)


@dataclass(frozen=True)
class BasketQuote(Quote):
    """The quote of a basket of vouchers, gift cards or network products."""

    pricing_input: BasketPricingInput
    priced: PricedBasket

    @classmethod
    def from_priced(cls, basket: BasketPricingInput, priced: PricedBasket) -> "BasketQuote":
        return cls(
            priced.totals, priced.codes, basket.codes, basket.country, priced.delivery, priced.ready, basket, priced
        )

    @property
    def reception(self) -> ReceptionMode | None:
        return self.priced.lines[0].reception if self.priced.lines else None

    @property
    def content(self) -> ShopKind:
        content = content_of(self.pricing_input.choices.values())
        return content if content.checkout is self.pricing_input.kind else ShopKind.MIXED

    def attempt_lines(self) -> tuple[AttemptLine, ...]:
        reduction = self.priced.reduction
        rates = {id: sold.vat_rate for id, sold in self.pricing_input.prototypes.items()}
        lines: list[AttemptLine] = []
        for line, off, coupons in zip(self.priced.lines, reduction.by_line, reduction.coupons, strict=True):
            if isinstance(line.choice, NetworkChoice):
                lines += network_attempt_lines(line, off, coupons, self.pricing_input.network_cards, self.reception)
            else:
                lines.append(attempt_line(line, off, coupons, rates, self.pricing_input.gift_cards, self.reception))
        return tuple(lines)


def _attempt_line(line: CheckoutLine, off: Decimal, basket: CartPricingInput) -> AttemptLine:
    """`off` is the discount that coupons take off the line."""
    assert line.product is not None
    assert line.unit_price is not None
    return AttemptLine(
        product_id=line.product.id,
        variant_id=line.variant.id if line.variant else None,
        name=line.product.name,
        variant=line.variant.name if line.variant else None,
        choices=_attribute_texts(line),
        quantity=line.choice.quantity,
        unit_price=line.unit_price,
        total=line.total,
        discount=off,
        vat_rate=basket.products[line.product.id].vat_rate,
        picture_url=line.product.picture_url,
    )


def _attribute_texts(line: CheckoutLine) -> Text | None:
    """The chosen attribute values as a text in each language: `Colour: sage · Ribbon: gold`."""
    assert line.product is not None
    pairs = [
        (attribute.name, value.label)
        for attribute in line.product.attributes
        for value in attribute.values
        if line.choice.attribute_values.get(attribute.id) == value.value
    ]
    if not pairs:
        return None
    return Text(
        **{
            language: DETAILS.join(
                f"{name.in_language(language)}{colon_in(language)} {label.in_language(language)}"
                for name, label in pairs
            )
            for language in LANGUAGES
        }
    )

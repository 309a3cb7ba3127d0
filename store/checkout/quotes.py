"""Quotes: the amount to pay and the lines to store."""

from dataclasses import dataclass
from decimal import Decimal

from schema.checkout.basket import content_of
from schema.checkout.checkout import CheckoutLine, DeliveryOption, ShopKind, Totals
from schema.checkout.codes import AppliedCode
from schema.core.text import Text
from schema.coupon.coupon import ReceptionMode
from schema.validation.languages import LANGUAGES
from store.checkout.fulfilment import attempt_line
from store.checkout.network_fulfilment import network_attempt_lines
from store.checkout.pricing.order import PricedOrder, PricingInput, price_order
from store.core.localization.formats import colon_in
from store.core.localization.sale_texts import DETAILS
from store.payment.snapshot import AttemptLine


@dataclass(frozen=True)
class Quote:
    """A quote at the shop's current prices."""

    pricing_input: PricingInput
    priced: PricedOrder

    @classmethod
    def of(cls, pricing_input: PricingInput) -> "Quote":
        return cls(pricing_input, price_order(pricing_input))

    @property
    def totals(self) -> Totals:
        return self.priced.totals

    @property
    def codes(self) -> tuple[AppliedCode, ...]:
        """The effect of each of the usable codes, in the same order."""
        return self.priced.codes

    @property
    def country(self) -> str:
        """The country that delivery is priced for; empty while none is known."""
        return self.pricing_input.country

    @property
    def delivery(self) -> DeliveryOption | None:
        """The delivery of the order if it is available."""
        return self.priced.delivery

    @property
    def ready(self) -> bool:
        """True if there is something to order and nothing prevents it."""
        return self.priced.ready

    @property
    def reception(self) -> ReceptionMode | None:
        """How vouchers and gift cards are received whose lines do not say so; None for goods."""
        return self.priced.gifts[0].reception if self.priced.gifts else None

    @property
    def content(self) -> ShopKind:
        """What is ordered."""
        gifts = self.pricing_input.choices.values()
        has_goods = bool(self.priced.orderable_lines) or (self.pricing_input.goods is not None and not gifts)
        return content_of(gifts, has_goods=has_goods)

    def attempt_lines(self) -> tuple[AttemptLine, ...]:
        """The ordered lines as stored with a payment attempt: goods first."""
        goods, reduction = self.priced.orderable_lines, self.priced.reduction
        count = len(goods)
        lines = [
            _attempt_line(line, off, self.pricing_input)
            for line, off in zip(goods, reduction.by_line[:count], strict=True)
        ]
        rates = {id: sold.vat_rate for id, sold in self.pricing_input.prototypes.items()}
        reductions = zip(reduction.by_line[count:], reduction.coupons[count:], strict=True)
        for line, (off, coupons) in zip(self.priced.gifts, reductions, strict=True):
            if line.choice.is_of_network:
                lines += network_attempt_lines(line, off, coupons, self.pricing_input.network_cards, self.reception)
            else:
                lines.append(attempt_line(line, off, coupons, rates, self.pricing_input.gift_cards, self.reception))
        return tuple(lines)


def _attempt_line(line: CheckoutLine, off: Decimal, pricing_input: PricingInput) -> AttemptLine:
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
        vat_rate=pricing_input.products[line.product.id].vat_rate,
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

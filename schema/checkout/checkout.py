"""The checkout's data and inputs: plain values without database rows. Amounts are decimals in one currency."""

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum
from typing import Annotated

from schema.checkout.codes import AppliedCode
from schema.checkout.contact import Contact
from schema.checkout.legal import LegalLink
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.json_keys import OMITTED_IF_EMPTY
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind


@graphql_enum
class ShopKind(DescribedEnum):
    """What an order has."""

    PRODUCTS = "products", "Goods, from a cart that a shop creates over the API."
    VOUCHERS = "vouchers", "Experiences, which the customer chooses in the checkout."
    GIFT_CARDS = "gift_cards", "Prepaid money, which the customer chooses in the checkout."
    MIXED = "mixed", "Several of goods, experiences, prepaid money, and gift cards and boxes of the network."
    NETWORK = "network", "Gift cards and boxes of the network, from a basket or from a multi-product cart."


SHOP_PATHS = {
    ShopKind.VOUCHERS: "/vouchers/shop/",
    ShopKind.GIFT_CARDS: "/giftcards/shop/",
    ShopKind.MIXED: "/vouchers/shop/",
    ShopKind.NETWORK: "/network/shop/",
}
"""Where customers choose what they order; products are chosen on the partner's own site."""


class CheckoutKind(StrEnum):
    """Where the lines of a checkout come from. All kinds have the same steps and the same payment."""

    CART = "cart"
    """A cart of goods that a shop creates over the API, and what the customer adds to it."""
    BASKET = "basket"
    """The partner's experiences and gift cards, which the customer chooses in the checkout."""
    NETWORK = "network"
    """Gift cards and boxes of the network, chosen in the checkout or from a multi-product cart."""

    @property
    def contents(self) -> tuple[ShopKind, ...]:
        """What its orders can have; the first is that of an empty one."""
        return _CONTENTS[self]


_CONTENTS: Mapping[CheckoutKind, tuple[ShopKind, ...]] = {
    CheckoutKind.CART: tuple(ShopKind),
    CheckoutKind.BASKET: (ShopKind.VOUCHERS, ShopKind.GIFT_CARDS, ShopKind.MIXED, ShopKind.NETWORK),
    CheckoutKind.NETWORK: (ShopKind.NETWORK,),
}


@dataclass(frozen=True, slots=True)
class CheckoutKey:
    """The identity of a checkout: the cart or basket, the browser session with the customer's data, and where its lines
    come from.
    """

    cart_id: uuid.UUID
    session_id: str
    kind: CheckoutKind = CheckoutKind.CART


@dataclass(frozen=True, slots=True)
class ProductChoice:
    """One line as chosen by the customer. Quantity 0 omits the line."""

    product_id: int
    quantity: int
    variant_id: int | None = None
    attribute_values: Mapping[int, str] = field(default_factory=dict)


class LineProblem(StrEnum):
    """Why a line cannot be ordered."""

    NOT_SOLD = "not_sold"
    INACTIVE = "inactive"
    OUT_OF_STOCK = "out_of_stock"
    NOT_ENOUGH_STOCK = "not_enough_stock"
    VARIANT_REQUIRED = "variant_required"
    UNKNOWN_VARIANT = "unknown_variant"
    ATTRIBUTE_REQUIRED = "attribute_required"
    UNKNOWN_ATTRIBUTE_VALUE = "unknown_attribute_value"
    TOO_MUCH = "too_much"


@dataclass(frozen=True, slots=True)
class OfferedValue:
    """One value of an attribute: the value to send, and the label that customers see."""

    value: str
    label: Text


@dataclass(frozen=True, slots=True)
class OfferedAttribute:
    """An attribute of a product that the customer chooses, such as a size or a colour."""

    id: int
    name: Text
    is_required: bool
    values: tuple[OfferedValue, ...]


@dataclass(frozen=True, slots=True)
class OfferedVariant:
    """A variant of a product with its own price and stock. `available` is None if stock is unlimited."""

    id: int
    name: Text
    price: Decimal
    available: int | None


@dataclass(frozen=True, slots=True)
class OfferedProduct:
    """A product as the shop offers it now. `available` is None if stock is unlimited."""

    id: int
    name: Text
    description: Text
    picture_url: str
    price: Decimal
    variants: tuple[OfferedVariant, ...]
    attributes: tuple[OfferedAttribute, ...]
    available: int | None
    is_physical: bool


FIXABLE_PROBLEMS = frozenset(
    {
        LineProblem.NOT_ENOUGH_STOCK,
        LineProblem.VARIANT_REQUIRED,
        LineProblem.UNKNOWN_VARIANT,
        LineProblem.ATTRIBUTE_REQUIRED,
        LineProblem.UNKNOWN_ATTRIBUTE_VALUE,
    }
)
"""Problems of a line that has a price already: the customer still has to choose something, or choose again."""


@dataclass(frozen=True, slots=True)
class CheckoutLine:
    """One line of the cart, priced by the shop. A line with a problem is not ordered, and its total is 0."""

    choice: ProductChoice
    product: OfferedProduct | None
    variant: OfferedVariant | None
    unit_price: Decimal | None
    """The unit price; the lowest one while a variant is not chosen. None if the product is unknown."""
    total: Decimal
    problem: LineProblem | None = None
    available: int | None = None
    """The available stock, for NOT_ENOUGH_STOCK."""
    reserved_until: dt.datetime | None = None
    """For stock that another browser's payment for the same cart has reserved: when the reservation ends at the
    latest.
    """
    is_held_by_others: bool = False
    """True if payments of other buyers hold the missing stock, so that it may be free again soon."""

    @property
    def is_fixable(self) -> bool:
        """True if the line can be ordered once the customer chooses, or chooses again."""
        return self.problem in FIXABLE_PROBLEMS and self.choice.quantity > 0

    @property
    def is_starting_price(self) -> bool:
        """True if the price is the lowest of several variants."""
        of = self.product
        return self.variant is None and of is not None and any(version.price != of.price for version in of.variants)


class DeliveryProblem(StrEnum):
    """Why a delivery mode is not available."""

    GOODS = "goods"
    """Goods cannot be delivered by e-mail."""
    COUNTRY = "country"
    WEIGHT = "weight"
    TOO_MUCH = "too_much"
    """With this delivery the order would exceed the maximum amount."""


@dataclass(frozen=True, slots=True)
class DeliveryOption:
    """A delivery mode. `price` is None while it depends on an unknown country."""

    id: int
    kind: DeliveryKind
    name: Text
    description: Text
    price: Decimal | None
    free_above: Decimal | None
    countries: tuple[str, ...]
    """ISO 3166 codes that home delivery goes to; empty for any."""
    problem: DeliveryProblem | None = None
    """Why it is not available; None if it is."""
    to_giftees: bool = False
    """It is delivered to the giftees, whose addresses are part of their gifts. The buyer's address is not required."""
    priced_for: str = ""
    """ISO 3166 code of the country that the price is for; empty if it does not depend on one, or on several."""

    @property
    def suits_goods(self) -> bool:
        """False if the order has goods that this delivery cannot carry, wherever they go."""
        return self.problem is not DeliveryProblem.GOODS

    @property
    def is_available(self) -> bool:
        return self.problem is None


@dataclass(frozen=True, slots=True)
class VatAmount:
    """The VAT of one rate, included in the total."""

    rate: Decimal
    net: Decimal
    vat: Decimal
    gross: Decimal


@dataclass(frozen=True, slots=True)
class Totals:
    """products - discount + delivery = total = gift_cards + by_card. `delivery` is None while it is unknown."""

    currency: str
    products: Decimal
    discount: Decimal
    delivery: Decimal | None
    total: Decimal
    gift_cards: Decimal
    by_card: Decimal
    vat: tuple[VatAmount, ...]


@dataclass(frozen=True, slots=True)
class CheckoutEstimate:
    """The expected totals of a cart, including lines with choices still to be made, as far as they are known."""

    deliveries: tuple[DeliveryOption, ...]
    codes: tuple[AppliedCode, ...]
    totals: Totals
    is_minimum: bool
    """Whether the total may become higher."""


@dataclass(frozen=True, slots=True)
class AgreedTotals:
    """What the customer has seen and agrees to: the total, its part paid by bank card, and the seller's legal texts."""

    total: Decimal
    by_card: Decimal
    documents: tuple[int, ...] = ()
    """The ids of the legal texts that the page linked to."""

    @classmethod
    def of(cls, totals: Totals, legal: tuple[LegalLink, ...] = ()) -> "AgreedTotals":
        return cls(totals.total, totals.by_card, tuple(link.id for link in legal))


@dataclass(frozen=True, slots=True)
class Buyer(Contact):
    """The buyer, with the address of home delivery."""

    recipient_name: str = ""
    """The parcel's recipient, if it is not the buyer."""
    message: str = ""
    company_name: Annotated[str, OMITTED_IF_EMPTY] = ""
    """The company that buys, for the invoice; empty for a person. Without one the fields below are empty."""
    vat_id: Annotated[str, OMITTED_IF_EMPTY] = ""
    """The company's VAT number; empty if not given."""
    billing_line_1: Annotated[str, OMITTED_IF_EMPTY] = ""
    """The company's address. Empty as a whole: that of home delivery."""
    billing_line_2: Annotated[str, OMITTED_IF_EMPTY] = ""
    billing_postal_code: Annotated[str, OMITTED_IF_EMPTY] = ""
    billing_city: Annotated[str, OMITTED_IF_EMPTY] = ""
    billing_country: Annotated[str, OMITTED_IF_EMPTY] = ""
    """ISO 3166 alpha-2."""


class CheckoutNotice(StrEnum):
    """A notice for the customer before the next step."""

    CART_REPLACED = "cart_replaced"
    PRICE_CHANGED = "price_changed"
    CODE_NO_LONGER_VALID = "code_no_longer_valid"
    SHOP_CLOSED = "shop_closed"
    """The partner no longer sells. A payment in progress can be completed; nothing else can be bought."""
    PAYMENT_DECLINED = "payment_declined"
    """Refused without a reason that the customer may be told, as of a lost card."""
    PAYMENT_OVER_LIMIT = "payment_over_limit"
    """The amount is over a limit of the card."""
    CARD_NOT_VALID = "card_not_valid"
    """The card has expired, or its number or code is wrong."""
    PAYMENT_NOT_CONFIRMED = "payment_not_confirmed"
    """The bank's confirmation of the payment failed or was not available."""
    PAYMENT_CANCELLED = "payment_cancelled"
    PAYMENT_EXPIRED = "payment_expired"
    PAYMENT_FAILED = "payment_failed"
    PAYMENT_REFUNDED = "payment_refunded"
    """The card was charged, but the order could no longer be fulfilled, and the card is refunded in full."""


class CheckoutStep(StrEnum):
    """The steps of the checkout, in order."""

    CUSTOMIZATION = "customization"
    INFORMATION = "information"
    PAYMENT = "payment"
    SUMMARY = "summary"


class PaymentAttemptStatus(StrEnum):
    """The status of a payment attempt. WAITING: open at the provider, or its outcome is unknown. COMPLETED: the
    order is created.
    """

    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    REFUNDED = "refunded"


@dataclass(frozen=True, slots=True)
class StartedPayment:
    """The result of starting a payment: a redirect to the provider, or the order itself if nothing is left to pay by
    card.
    """

    attempt_id: uuid.UUID
    status: PaymentAttemptStatus
    redirect_url: str | None

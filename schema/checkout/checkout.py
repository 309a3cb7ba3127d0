"""What the checkout shows a customer and takes from one: plain values, no rows. Amounts are decimals in one currency."""

import datetime as dt
import uuid
from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from enum import StrEnum

from schema.core.resource import ClosedSet, Text, closed_set
from schema.delivery import DeliveryKind


@closed_set
class ShopKind(ClosedSet):
    """What a checkout sells."""

    # Every kind has the same steps, and is paid in the same way.
    PRODUCTS = "products", "Goods, out of a cart that a shop hands over."
    VOUCHERS = "vouchers", "Experiences, out of a bag that the customer fills in the checkout."
    GIFT_CARDS = "gift_cards", "Prepaid money, out of a bag as well."


@dataclass(frozen=True, slots=True)
class CheckoutKey:
    """Which checkout: the cart or bag, the browser session that holds the customer's own data, and what is sold."""

    cart_id: uuid.UUID
    session_id: str
    kind: ShopKind = ShopKind.PRODUCTS


@dataclass(frozen=True, slots=True)
class Choice:
    """One line as the customer wants it. Quantity 0 leaves the line out."""

    product_id: int
    quantity: int
    variant_id: int | None = None
    attribute_values: Mapping[int, str] = field(default_factory=dict)


class LineProblem(StrEnum):
    """Why a line cannot be ordered as it stands."""

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
    """One value of an attribute: what is sent, and what customers read."""

    value: str
    label: Text


@dataclass(frozen=True, slots=True)
class OfferedAttribute:
    """Something to choose about a product: a size, a colour."""

    id: int
    name: Text
    is_required: bool
    values: tuple[OfferedValue, ...]


@dataclass(frozen=True, slots=True)
class OfferedVariant:
    """A version of a product with its own price and stock. `available` is None where stock is not counted."""

    id: int
    name: Text
    price: Decimal
    available: int | None


@dataclass(frozen=True, slots=True)
class OfferedProduct:
    """A product as the shop offers it now. `available` is None where stock is not counted."""

    id: int
    name: Text
    description: Text
    picture_url: str
    price: Decimal
    variants: tuple[OfferedVariant, ...]
    attributes: tuple[OfferedAttribute, ...]
    available: int | None
    is_physical: bool


OPEN = frozenset(
    {
        LineProblem.NOT_ENOUGH_STOCK,
        LineProblem.VARIANT_REQUIRED,
        LineProblem.UNKNOWN_VARIANT,
        LineProblem.ATTRIBUTE_REQUIRED,
        LineProblem.UNKNOWN_ATTRIBUTE_VALUE,
    }
)
"""What a line waits for that has a price already: something, or something else, is still to be chosen."""


@dataclass(frozen=True, slots=True)
class CheckoutLine:
    """One line of the cart, priced by the shop. With a problem it is not ordered, and its total is 0."""

    choice: Choice
    product: OfferedProduct | None
    variant: OfferedVariant | None
    unit_price: Decimal | None
    """What one costs; of a product whose version is still to be chosen the least. None where nothing is known of it."""
    total: Decimal
    problem: LineProblem | None = None
    available: int | None = None
    """How many there are, for NOT_ENOUGH_STOCK."""
    held_until: dt.datetime | None = None
    """Where it is missing because another browser began to pay for the same cart: until when that holds it at the latest."""

    @property
    def is_open(self) -> bool:
        """Whether it can be ordered once something is chosen, or chosen otherwise."""
        return self.problem in OPEN and self.choice.quantity > 0

    @property
    def is_least(self) -> bool:
        """Whether its price is the least of several: that of the version to be chosen may be more."""
        of = self.product
        return self.variant is None and of is not None and any(version.price != of.price for version in of.variants)


class DeliveryProblem(StrEnum):
    """Why a delivery cannot be had."""

    GOODS = "goods"
    """Goods do not go by e-mail."""
    COUNTRY = "country"
    WEIGHT = "weight"
    TOO_MUCH = "too_much"
    """With it the order would come to more than an amount can be."""


@dataclass(frozen=True, slots=True)
class DeliveryOption:
    """A way to get the goods. `price` is None while it depends on a country not given yet."""

    id: int
    kind: DeliveryKind
    name: Text
    description: Text
    price: Decimal | None
    free_above: Decimal | None
    countries: tuple[str, ...]
    """ISO 3166 codes that home delivery goes to; empty: any."""
    problem: DeliveryProblem | None = None
    """Why it cannot be had; None: it can."""
    to_giftees: bool = False
    """It goes to those it is for, whose addresses are told with what they get; so the buyer's is not needed."""

    @property
    def is_available(self) -> bool:
        """Whether it can be had."""
        return self.problem is None


class CodeKind(StrEnum):
    """What a code turned out to be."""

    COUPON = "coupon"
    GIFT_CARD = "gift_card"


class CodeProblem(StrEnum):
    """Why a coupon takes nothing off what is chosen now."""

    NOT_FOR_THESE = "not_for_these"
    OTHER_DELIVERY = "other_delivery"
    OTHER_EMAIL = "other_email"
    MINIMUM_PRICE = "minimum_price"
    MINIMUM_BASKET = "minimum_basket"
    MINIMUM_PAYMENT = "minimum_payment"
    NOTHING_LEFT = "nothing_left"
    """What it is for is paid for already, by the coupons before it."""
    TOO_MUCH = "too_much"
    """It would raise a value beyond what an amount can be."""


@dataclass(frozen=True, slots=True)
class AppliedCode:
    """A coupon or gift card in use. `amount` is what it takes off (0 when it takes nothing off the cart as it is now)."""

    code: str
    kind: CodeKind
    amount: Decimal
    applies: bool
    adds: Decimal = Decimal("0.00")
    """What a coupon adds to the value of what is bought, instead of taking off its price."""
    frees: bool = False
    """Whether a coupon makes collecting free."""
    problem: CodeProblem | None = None
    """Of a coupon that does not apply: why."""
    least: Decimal | None = None
    """The amount that a `problem` of a minimum is about."""


@dataclass(frozen=True, slots=True)
class VatAmount:
    """The VAT of one rate, contained in the total."""

    rate: Decimal
    net: Decimal
    vat: Decimal
    gross: Decimal


@dataclass(frozen=True, slots=True)
class Totals:
    """products - discount + delivery = total = gift_cards + by_card. `delivery` is None while it is not known."""

    currency: str
    products: Decimal
    discount: Decimal
    delivery: Decimal | None
    total: Decimal
    gift_cards: Decimal
    by_card: Decimal
    vat: tuple[VatAmount, ...]


@dataclass(frozen=True, slots=True)
class Expected:
    """What a cart would come to with the lines that something is still to be chosen for, as far as that is known."""

    deliveries: tuple[DeliveryOption, ...]
    codes: tuple[AppliedCode, ...]
    totals: Totals
    is_least: bool
    """Whether it may come to more."""


@dataclass(frozen=True, slots=True)
class Agreed:
    """What the customer has seen and agrees to pay: in all, and of that by bank card."""

    total: Decimal
    by_card: Decimal

    @classmethod
    def of(cls, totals: Totals) -> "Agreed":
        """The amounts of these totals."""
        return cls(totals.total, totals.by_card)


@dataclass(frozen=True, slots=True)
class Contact:
    """Somebody, as typed: a name, how to be reached, where the post goes."""

    first_name: str = ""
    last_name: str = ""
    email: str = ""
    phone: str = ""
    address_line_1: str = ""
    address_line_2: str = ""
    postal_code: str = ""
    city: str = ""
    country: str = ""
    """ISO 3166 alpha-2."""


@dataclass(frozen=True, slots=True)
class Buyer(Contact):
    """Who buys, and where home delivery goes."""

    recipient_name: str = ""
    """When the parcel is for somebody else."""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Brand:
    """The partner as customers see it. `accent_ink` is the text colour that is readable on the accent."""

    name: str
    logo_url: str
    accent: str
    accent_ink: str
    accent_text: str
    """The accent, darkened until it is readable as text on white."""
    website: str
    email: str
    phone: str


class Notice(StrEnum):
    """Something the customer should know before going on."""

    CART_REPLACED = "cart_replaced"
    PRICE_CHANGED = "price_changed"
    CODE_NO_LONGER_VALID = "code_no_longer_valid"
    SHOP_CLOSED = "shop_closed"
    """The partner does not sell any more; a payment that is under way can be finished, and nothing else can be bought."""
    PAYMENT_DECLINED = "payment_declined"
    PAYMENT_CANCELLED = "payment_cancelled"
    PAYMENT_EXPIRED = "payment_expired"
    PAYMENT_FAILED = "payment_failed"
    PAYMENT_REFUNDED = "payment_refunded"
    """The card was charged, what covers the order was gone by then, and the card is refunded in full."""


class Step(StrEnum):
    """The steps of the checkout, in order."""

    CUSTOMIZATION = "customization"
    INFORMATION = "information"
    PAYMENT = "payment"
    SUMMARY = "summary"


@dataclass(frozen=True, slots=True)
class Checkout:
    """All that any step shows. `reached` is the furthest step that may be opened now."""

    key: CheckoutKey
    brand: Brand
    currency: str
    lines: tuple[CheckoutLine, ...]
    offered: tuple[OfferedProduct, ...]
    """The shop's active products, for adding to the cart."""
    deliveries: tuple[DeliveryOption, ...]
    delivery_id: int | None
    country: str
    """The country that delivery is priced for: the one chosen, else the buyer's; empty while neither is known."""
    buyer: Buyer | None
    codes: tuple[AppliedCode, ...]
    totals: Totals
    reached: Step
    notices: tuple[Notice, ...]
    has_return_url: bool
    pending_attempt: uuid.UUID | None
    """A payment of this session that is still open at the provider."""
    pending_url: str | None
    """Where that payment goes on, while its link lives."""
    expected: Expected | None = None
    """While something is still to be chosen: what to show instead of deliveries, codes and totals of what can be ordered."""

    @property
    def is_closed(self) -> bool:
        """Whether the shop sells no more: a payment that was begun can be finished, and nothing changed."""
        return Notice.SHOP_CLOSED in self.notices


class AttemptStatus(StrEnum):
    """Where a payment stands. WAITING: at the provider or not known yet; COMPLETED: there is an order."""

    WAITING = "waiting"
    COMPLETED = "completed"
    FAILED = "failed"
    REFUNDED = "refunded"


@dataclass(frozen=True, slots=True)
class PaymentStarted:
    """What happens after pressing pay: go to the provider, or (wholly covered) the order is there."""

    attempt_id: uuid.UUID
    status: AttemptStatus
    redirect_url: str | None

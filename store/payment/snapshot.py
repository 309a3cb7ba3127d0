"""What a payment attempt stores of its checkout, as it was when the customer agreed to it.

Keys are added, never renamed: attempts stored by older releases are read. What they lack has a default.
"""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from typing import Annotated

from schema.checkout.basket import Gift
from schema.checkout.checkout import Buyer, DeliveryOption, VatAmount
from schema.core.json_keys import OMITTED_IF_EMPTY, OMITTED_IF_NONE
from schema.core.text import Text
from schema.coupon.coupon import ReceptionMode
from schema.delivery.delivery import DeliveryKind
from store.core.typed_json import TEXT_AS_STORED, TypedJson

StoredText = Annotated[Text, TEXT_AS_STORED]


@dataclass(frozen=True, slots=True)
class PurchasedOption:
    """An option of a purchased voucher."""

    id: int
    count: int
    unit_price: Decimal


@dataclass(frozen=True, slots=True, kw_only=True)
class Purchase(Gift):
    """What a voucher and a gift card have in common until they are issued."""

    from_gifter: Annotated[str, OMITTED_IF_EMPTY] = ""
    send_on: Annotated[dt.date | None, OMITTED_IF_EMPTY] = None
    send_at: Annotated[dt.time | None, OMITTED_IF_EMPTY] = None
    reception: Annotated[ReceptionMode | None, OMITTED_IF_NONE] = None
    value: Decimal
    paid: Decimal
    """The value, less the discounts."""
    coupon_id: int | None
    validity: str
    """The period of validity that a coupon grants; empty for the usual one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GiftCardPurchase(Purchase):
    """A gift card to issue."""

    validity_months: int = 12
    """Attempts without it were stored before partners could set it."""
    design_id: Annotated[int | None, OMITTED_IF_NONE] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkPurchase(Purchase):
    """What a network's gift card and voucher have in common until they are issued."""

    send_on: dt.date | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkGiftCardPurchase(NetworkPurchase):
    """A gift card of a network to issue."""

    design_id: int | None
    validity_months: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NetworkVoucherPurchase(NetworkPurchase):
    """A voucher of a network to issue. Its value is the price of the box."""

    box_id: int
    max_usages: int
    max_days_after_first_usage: int


@dataclass(frozen=True, slots=True, kw_only=True)
class VoucherPurchase(Purchase):
    """A voucher to issue."""

    prototype_id: int
    adults: int
    children: int
    babies: int
    nights: int
    options: tuple[PurchasedOption, ...]
    rent: Decimal
    paid_rent: Decimal
    """The rent, less its part of the discounts."""
    from_gifter: str = ""
    to_giftee: str = ""
    """The name printed after "for", in attempts of releases that asked for it beside the giftee's name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AttemptLine:
    """An ordered line with its names and prices: goods, or a voucher or gift card, of the partner or of its network, to
    issue.
    """

    product_id: int | None = None
    """None for a voucher or gift card."""
    variant_id: int | None = None
    name: StoredText
    variant: StoredText | None = None
    choices: StoredText | None
    """The chosen attributes of goods, or the guests and options of a voucher."""
    quantity: int
    unit_price: Decimal
    total: Decimal
    discount: Annotated[Decimal | None, OMITTED_IF_NONE] = None
    """What coupons take off the total; None in attempts of releases that did not store it."""
    vat_rate: Decimal
    picture_url: str
    voucher: Annotated[VoucherPurchase | None, OMITTED_IF_NONE] = None
    gift_card: Annotated[GiftCardPurchase | None, OMITTED_IF_NONE] = None
    network_gift_card: Annotated[NetworkGiftCardPurchase | None, OMITTED_IF_NONE] = None
    network_voucher: Annotated[NetworkVoucherPurchase | None, OMITTED_IF_NONE] = None
    counted: Annotated[bool | None, OMITTED_IF_NONE] = None
    """True if stock was taken for it, False if its stock is unlimited; None before the reservation."""
    voucher_id: Annotated[int | None, OMITTED_IF_NONE] = None
    """The issued voucher."""
    gift_card_id: Annotated[int | None, OMITTED_IF_NONE] = None
    """The issued gift card of a partner."""
    network_gift_card_id: Annotated[int | None, OMITTED_IF_NONE] = None
    """The issued gift card of a network."""
    network_voucher_id: Annotated[int | None, OMITTED_IF_NONE] = None
    """The issued voucher of a network."""

    @property
    def purchase(self) -> Purchase | None:
        """What is to be issued for it; None for goods."""
        return self.voucher or self.gift_card or self.network_gift_card or self.network_voucher

    @property
    def is_goods(self) -> bool:
        return self.product_id is not None

    @property
    def is_of_network(self) -> bool:
        """True if it is a gift card or voucher of a network."""
        return self.network_gift_card is not None or self.network_voucher is not None

    @property
    def paid(self) -> Decimal:
        """What is paid for it. Attempts that do not tell the discount of each line have none on vouchers or gift cards."""
        return self.total - (self.discount or Decimal("0.00"))

    @property
    def details(self) -> tuple[Text, ...]:
        """The variant and the choices, as far as they say something."""
        return tuple(text for text in (self.variant, self.choices) if text is not None and text != Text())


@dataclass(frozen=True, slots=True)
class AttemptDelivery:
    """The chosen delivery."""

    mode_id: int
    kind: DeliveryKind
    name: StoredText
    description: StoredText
    to_giftees: bool = False
    reception: ReceptionMode | None = None
    """How vouchers and gift cards are received that do not say so; None for goods."""

    @property
    def is_posted_to_buyer(self) -> bool:
        """True if goods are sent to the buyer's address."""
        return self.kind is DeliveryKind.HOME_DELIVERY and not self.to_giftees


def attempt_delivery(chosen: DeliveryOption, reception: ReceptionMode | None) -> AttemptDelivery:
    """The chosen delivery as stored with a payment attempt."""
    return AttemptDelivery(chosen.id, chosen.kind, chosen.name, chosen.description, chosen.to_giftees, reception)


@dataclass(frozen=True, slots=True)
class AttemptCode:
    """A coupon with its discount, or a gift card with the amount that it pays."""

    id: int
    code: str
    amount: Decimal
    adds: Decimal = Decimal("0.00")
    """The value that a coupon adds to the purchase."""
    frees: bool = False
    """True if a coupon makes click and collect free."""


LINES = TypedJson(tuple[AttemptLine, ...])
BUYER = TypedJson(Buyer)
DELIVERY = TypedJson(AttemptDelivery)
VAT = TypedJson(tuple[VatAmount, ...])
CODES = TypedJson(tuple[AttemptCode, ...])

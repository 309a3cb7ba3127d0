"""What a customer sees on the page of an order."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from schema.checkout.brand import Brand
from schema.checkout.checkout import ShopKind, Totals
from schema.checkout.codes import AppliedCode
from schema.checkout.legal import LegalLink
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.text import Text
from schema.coupon.coupon import ReceptionMode
from schema.delivery.delivery import DeliveryKind
from schema.order.order import OrderStatus
from schema.order.page_fulfilment import OrderPageFulfilment
from schema.order.page_requests import OrderPageRequest, RequestOffer
from schema.payment.payment import RefundState

FIND_PATH = "/orders/"
"""The page of a shop where customers ask for the link to their order. Below it are the pages of orders."""


@graphql_enum
class IssuedState(DescribedEnum):
    """What can be done with a voucher or gift card."""

    USABLE = "usable", "It can be used."
    NOT_BEGUN = "not_begun", "It can be used from a later day."
    PAUSED = "paused", "A dispute, or its issuer, keeps it from being used for now."
    USED = "used", "It was used."
    EXPIRED = "expired", "It has expired."
    WITHDRAWN = "withdrawn", "It was refunded or cancelled."


@dataclass(frozen=True, slots=True, kw_only=True)
class IssuedItem:
    """A voucher or gift card, of the partner or of its network, issued by an order. Only the buyer may see it."""

    state: IssuedState
    code: str
    """In groups of four characters."""
    currency: str
    value: Decimal
    """Its value, which is higher than its price if a coupon increased it."""
    remaining: Decimal | None
    """What is left of a gift card; None for vouchers."""
    usages_left: int | None
    """How often a voucher of the network can still be used; None for all others."""
    starts_on: dt.datetime | None
    expires_on: dt.datetime | None
    """The end of the last day on which it can be used; None: no limit."""
    used_on: dt.datetime | None
    """When a voucher was used; None if it was not, and for others."""
    document_path: str
    """The path of its printable document on this service; empty if it has none any more."""
    apple_pass_path: str
    """The path of its pass for Apple Wallet; empty without a document, and without a key that signs it."""
    google_pass_path: str
    """The path of its pass for Google Wallet; empty likewise."""
    giftee: str
    """The name of the person it is for; empty if unknown."""
    recipient_email: str
    """The e-mail address it is sent to; empty if it is posted or collected."""
    reception: ReceptionMode
    """How it is received."""
    send_on: dt.datetime | None = None
    """When it will be e-mailed to its recipient, in the time zone of the marketplace; None once that is over, and if it is
    not left for later.
    """
    is_sendable: bool = False
    """True if it was e-mailed to its recipient and is untouched, so that it can be sent again, or elsewhere."""
    is_waiting: bool = False
    """True if it waits for its day and is untouched, so that it can be sent now, on another day, or elsewhere."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPageLine:
    """A line of the order, as sold. `details` are the variant and the chosen values, for display."""

    name: Text
    details: tuple[Text, ...]
    quantity: int
    unit_price: Decimal
    total: Decimal
    picture_url: str
    refunded_quantity: int
    """How many of it were refunded, or are promised to be."""
    issued_item: IssuedItem | None
    """The issued voucher or gift card; None for goods."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPageRefund:
    """A refund of the order's payment."""

    moment: dt.datetime
    amount: Decimal
    state: RefundState


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPageDelivery:
    """How the order is delivered."""

    kind: DeliveryKind
    name: Text
    description: Text
    """The shop's information about this delivery, such as opening hours and delivery times."""
    address: tuple[str, ...]
    """The lines of the address without the country; empty if nothing is sent to the buyer's address."""
    country: str
    """ISO 3166 code; empty without an address."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPageBilling:
    """The company that has bought, as its invoice names it."""

    company_name: str
    vat_id: str
    """Empty if not given."""
    address: tuple[str, ...]
    country: str
    """ISO 3166 code."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OrderPage:
    """The page of an order. Its link is the credential: whoever has it sees the codes of what was bought."""

    path: str
    partner_id: int
    marketplace_id: int
    brand: Brand
    status: OrderStatus
    kind: ShopKind
    number: int
    ordered_on: dt.datetime
    time_zone: str
    language: str
    first_name: str
    email: str
    message: str
    """What the buyer wrote to the shop; empty if nothing."""
    billing: OrderPageBilling | None
    """None if the buyer is a person. The receipts are invoices otherwise."""
    lines: tuple[OrderPageLine, ...]
    delivery: OrderPageDelivery
    fulfilment: OrderPageFulfilment | None
    """None if nothing is handed over or sent, or nobody has recorded it."""
    totals: Totals
    codes: tuple[AppliedCode, ...]
    refunds: tuple[OrderPageRefund, ...]
    """The newest first. Of one that failed in part it is what went back, of one that failed wholly there is nothing."""
    requests: tuple[OrderPageRequest, ...]
    """What its buyer has asked for: to withdraw from the contract, or for a refund. The newest first."""
    request_offer: RequestOffer | None
    """What its buyer can ask for; None if nothing."""
    shop_kind: ShopKind
    """The shop where more can be bought: its own, or that of vouchers while gift cards are not sold."""
    shop_url: str
    """The URL of that shop; empty for products, which are sold on the partner's own site."""
    legal: tuple[LegalLink, ...]
    """The versions of the legal texts that it was placed under."""
    receipts: tuple[str, ...]
    """The paths of the receipts of its payments."""

    @property
    def has_several_receptions(self) -> bool:
        """Whether its vouchers and gift cards are received in different ways."""
        return len({line.issued_item.reception for line in self.lines if line.issued_item}) > 1

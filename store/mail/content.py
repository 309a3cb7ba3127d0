"""The content of each kind of message, as it was when the message was queued."""

import datetime as dt
import enum
from collections.abc import Mapping
from decimal import Decimal
from typing import Any
from uuid import UUID

from schema.checkout.checkout import ShopKind
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from schema.invoice.invoice import InvoiceKind
from schema.mail import MailKind
from schema.order.order import OrderStatus
from schema.payment.dispute import DisputeState
from store.mail.link_content import (
    AccountChangeContent,
    AccountLinkContent,
    Content,
    EndpointContent,
    OrderLinkContent,
    RefundRequestContent,
)


class OrderLineContent(Content):
    """A line of an order. `details` are the variant and the choices."""

    name: Text
    details: tuple[Text, ...]
    quantity: int
    unit_price: Decimal | None = None
    """None in a refund: what is refunded of a line is less its discounts."""
    total: Decimal
    picture: str = ""
    """The path of its picture; empty if there is none. Older messages lack this field."""


class DeductionContent(Content):
    """The deduction of a coupon, or the payment by a gift card. Of a gift card's code only the end is included."""

    code: str
    amount: Decimal


class VatContent(Content):
    """The VAT of one rate."""

    rate: Decimal
    net: Decimal
    vat: Decimal


class DeliveryContent(Content):
    """The delivery. `address` is empty if nothing is sent to the buyer's home."""

    kind: DeliveryKind
    name: Text
    description: Text
    address: tuple[str, ...]
    """The lines of the address without the country."""
    country: str
    """ISO 3166 code; empty without an address."""
    to_giftees: bool = False
    """True if it goes to the giftees, whose addresses are not included here."""


class BillingContent(Content):
    """The company that has bought."""

    company_name: str
    vat_id: str
    address: tuple[str, ...]
    country: str


class OrderContent(Content):
    """An order, for the messages to the buyer and to the partner."""

    number: int
    ordered_on: dt.datetime
    time_zone: str
    currency: str
    first_name: str
    last_name: str
    email: str
    phone: str
    message: str
    lines: tuple[OrderLineContent, ...]
    delivery: DeliveryContent
    kind: ShopKind = ShopKind.PRODUCTS
    """What was bought. Older messages lack this field and are about products."""
    products_amount: Decimal
    coupons: tuple[DeductionContent, ...]
    delivery_amount: Decimal
    total_amount: Decimal
    gift_cards: tuple[DeductionContent, ...]
    card_amount: Decimal
    vat: tuple[VatContent, ...]
    order_page: UUID | None = None
    """The uuid of the order, by which its page is linked. Older messages lack this field."""
    billing: BillingContent | None = None
    """None if the buyer is a person. Older messages lack this field."""


class RefundContent(Content):
    """A refunded payment: the amount charged to the card, and the lines it was for."""

    first_name: str
    amount: Decimal
    currency: str
    lines: tuple[OrderLineContent, ...]


class OrderRefundContent(Content):
    """Lines of an order that are refunded, with what is refunded of each."""

    first_name: str
    order_number: int
    currency: str
    card_amount: Decimal
    """What goes back to the bank card."""
    gift_card_amount: Decimal
    """What has gone back to the gift cards that the order was paid with."""
    delivery_amount: Decimal
    lines: tuple[OrderLineContent, ...]
    is_withdrawn: bool
    """Whether there are vouchers or gift cards among the lines."""
    message: str = ""
    """What the seller writes with it, in answer to a request; empty if nothing."""
    order_page: UUID | None = None
    """As of an order; None in what does not go to the address of the order."""


class FulfilmentContent(OrderLinkContent):
    """The state that the fulfilment of an order has reached. What is unknown of the carrier is None."""

    lines: tuple[OrderLineContent, ...]
    delivery: DeliveryContent
    kind: ShopKind
    carrier: str | None = None
    tracking_number: str | None = None
    tracking_url: str | None = None
    is_refunded: bool


class DisputeContent(Content):
    """A dispute of a payment, for the partner's staff; of a refill and of what a network sells, for the marketplace's. Of what a
    partner has a share in, for both: the partner's with its amounts.
    """

    dispute_id: str
    state: DisputeState
    amount: Decimal
    lost: Decimal
    currency: str
    reason: str
    """In the words of the buyer's bank; empty if it gives none."""
    contest_until: dt.datetime | None = None
    time_zone: str
    order_number: int | None = None
    order_status: OrderStatus | None = None
    """After the dispute has changed it; None of a payment without an order."""
    is_taken: bool = True
    """Whether the bank has taken the money back, or is about to; false if it only asks for documents."""
    has_goods: bool = True
    """Whether what was sold with the order can be used but for a dispute, or was withdrawn by the end of this one."""
    is_for_marketplace: bool = False
    """Whether its money is the marketplace's: of a refill, or of what a network sells."""
    is_of_share: bool = False
    """Whether it is about the partner's share of a payment, whose dispute the marketplace answers."""
    buyer: str
    paid_on: dt.datetime


class PayoutMailContent(Content):
    """A payout request that waits for a refill of `missing`, was paid, or has failed; `cause` is a `FailureReason`."""

    payout_id: int
    amount: Decimal
    currency: str
    first_day: dt.date
    last_day: dt.date
    partner: str = ""
    missing: Decimal | None = None
    cause: str = ""
    reason: str = ""
    is_returned: bool = False


class FindingContent(Content):
    """Something about which the payment provider and the ledger disagree."""

    id: int
    subject: str
    reported: Decimal | None = None
    recorded: Decimal | None = None
    currency: str
    detail: str


class ReconciliationContent(Content):
    """What a reconciliation has found: `count` in all, of which the first are told."""

    count: int
    first_day: dt.date
    last_day: dt.date
    findings: tuple[FindingContent, ...]


class OnboardingContent(Content):
    """The link of a legal representative to the onboarding page."""

    first_name: str
    """Empty if it is unknown."""
    url: str
    is_paid: bool
    """True if payments are active, so that the link is for a renewed confirmation."""
    platform: str = ""
    """The marketplace's name; empty in older messages, which lack this field."""
    platform_address: str = ""


class PaymentRequestContent(Content):
    """A payment request, with the link to pay it."""

    first_name: str
    """Empty if it is unknown."""
    amount: Decimal
    currency: str
    description: str
    """Empty if it is not told."""
    reference: str
    """Empty if there is none."""
    url: str
    expires_on: dt.datetime
    time_zone: str


class RenewalContent(Content):
    """The deadline by which a legal representative must verify the identity again, and the page for it."""

    first_name: str
    """Empty if it is unknown."""
    url: str
    renew_by: dt.date
    platform: str
    platform_address: str


class GiftRole(enum.StrEnum):
    """The purpose and the addressee of a message about vouchers or gift cards."""

    BOUGHT = "bought"
    """To the buyer: the documents to print."""
    FOR_GIFTEE = "given"
    """To the giftee: the documents, and who gives them."""
    SENT_TO_GIFTEE = "sent_to_giftee"
    """To the buyer: they were e-mailed to the giftee."""
    POSTED = "posted"
    """To the buyer: they are sent to the buyer by post."""
    POSTED_TO_GIFTEE = "posted_to_giftee"
    """To the buyer: they are sent to the giftee by post."""
    WAITING = "waiting"
    """To the buyer: they can be collected."""

    @property
    def attaches_documents(self) -> bool:
        """True if the documents are attached to the message."""
        return self in {GiftRole.BOUGHT, GiftRole.FOR_GIFTEE}


class GiftItem(Content):
    """A voucher or a gift card. Its code is in its document only."""

    id: int
    name: Text
    """The name of the voucher or of its box; of a gift card, the theme of its design; empty if there is none."""
    value: Decimal | None = None
    """The value of a gift card; None for a voucher."""
    currency: str = ""
    to: str
    """The name of the giftee; empty if none is given."""
    sender: str
    """The name of the giver; empty if none is given."""
    message: str
    expires_on: dt.datetime | None = None
    picture: str = ""
    """The path of the picture of its design or box; empty if there is none."""


class GiftContent(Content):
    """Vouchers or gift cards of one order, for one addressee. Their documents are rendered when the message is sent."""

    role: GiftRole
    first_name: str
    """The addressee's first name; empty if it is unknown."""
    giftee_email: str
    """The address they were e-mailed to, in messages to the buyer; else empty."""
    time_zone: str
    items: tuple[GiftItem, ...]
    accent: str = ""
    """The colour of the design of the gift cards; empty for the shop's or the default one."""
    order_page: UUID | None = None
    """As of an order, in messages to the buyer; None for all others, and for what was not sold in an order."""


class NetworkUsageContent(Content):
    """A usage of a network's gift card or voucher, for the network or for the beneficiary."""

    is_for_network: bool
    used_id: int = 0
    """The id of the gift card or voucher."""
    holder_page: UUID | None = None
    """The uuid of what was used, by which the page for its holder is linked; None for the network, and for an address that
    came with the usage: the page leads to the code.
    """
    first_name: str
    """The beneficiary's first name; empty if it is unknown, and for the network."""
    holder: str
    """Whose card or voucher it is, for the network; empty if unknown, and for the beneficiary."""
    code_end: str
    """The last characters of the code."""
    partner: str
    partner_email: str
    used_on: dt.datetime
    time_zone: str
    expires_on: dt.datetime | None = None
    """Until when it can be used; None: no limit."""
    reservation_id: str
    """Empty if there is none."""
    comment: str
    """The partner's note, for the network; empty if there is none, and for the beneficiary."""
    accent: str = ""
    """The colour of the design of the card; empty for the default one."""


class CardUsageContent(NetworkUsageContent):
    """A usage of a network's gift card."""

    amount: Decimal
    remaining: Decimal
    currency: str


class VoucherUsageContent(NetworkUsageContent):
    """A usage of a network voucher."""

    box: Text
    offer: Text
    """The name of the offer that was used; empty if unknown."""
    usages_left: int


class InvoiceContent(Content):
    """An invoice or credit note. `total` is positive, VAT included."""

    invoice_id: UUID
    number: str
    kind: InvoiceKind
    issuer: str
    reason: str
    """Why a credit note corrects an invoice; empty on others."""
    total: Decimal
    currency: str
    first_day: dt.date
    last_day: dt.date


CONTENTS: Mapping[MailKind, type[Content]] = {
    MailKind.ORDER_CONFIRMATION: OrderContent,
    MailKind.NEW_ORDER: OrderContent,
    MailKind.PAYMENT_REFUNDED: RefundContent,
    MailKind.ORDER_REFUNDED: OrderRefundContent,
    MailKind.ORDER_LINK: OrderLinkContent,
    **dict.fromkeys((MailKind.REQUEST_RECEIPT, MailKind.NEW_REQUEST, MailKind.REQUEST_DECLINED), RefundRequestContent),
    **dict.fromkeys((MailKind.ORDER_READY, MailKind.ORDER_SENT, MailKind.ORDER_CANCELLED), FulfilmentContent),
    **dict.fromkeys((MailKind.PASSWORD_RESET, MailKind.USER_INVITATION), AccountLinkContent),
    MailKind.ACCOUNT_CHANGED: AccountChangeContent,
    MailKind.ONBOARDING_LINK: OnboardingContent,
    MailKind.PAYMENT_REQUEST: PaymentRequestContent,
    MailKind.PAYMENT_REQUEST_REMINDER: PaymentRequestContent,
    MailKind.IDENTITY_RENEWAL: RenewalContent,
    **dict.fromkeys((MailKind.VOUCHER, MailKind.GIFT_CARD), GiftContent),
    **dict.fromkeys((MailKind.NETWORK_VOUCHER, MailKind.NETWORK_GIFT_CARD), GiftContent),
    MailKind.NETWORK_GIFT_CARD_USED: CardUsageContent,
    MailKind.NETWORK_VOUCHER_USED: VoucherUsageContent,
    MailKind.DISPUTE_OPENED: DisputeContent,
    MailKind.DISPUTE_ENDED: DisputeContent,
    MailKind.INVOICE: InvoiceContent,
    **dict.fromkeys((MailKind.PAYOUT_WAITING, MailKind.PAYOUT_FAILED, MailKind.PAYOUT_PAID), PayoutMailContent),
    MailKind.RECONCILIATION: ReconciliationContent,
    MailKind.ENDPOINT_DISABLED: EndpointContent,
}


def content_of(kind: MailKind, data: Mapping[str, Any]) -> Content:
    """Parse the content of a message. Raises pydantic's ValidationError for the data of another kind."""
    return CONTENTS[kind].model_validate(data)

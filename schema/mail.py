"""Mail: the messages that are sent, and their delivery state."""

import datetime as dt
from uuid import UUID, uuid4

import strawberry
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.ownership import marketplace_relation, partner_relation
from schema.core.resource import SchemaModel


@graphql_enum
class MailKind(DescribedEnum):
    """The kind of a message."""

    ORDER_CONFIRMATION = "order_confirmation", "To the buyer: the order is paid, with its contents."
    NEW_ORDER = "new_order", "To the partner: there is a new order."
    PAYMENT_REFUNDED = "payment_refunded", "To the buyer: no order was created, and the bank card is refunded."
    ORDER_REFUNDED = "order_refunded", "To the buyer: lines of the order are refunded, and how much goes back where."
    ORDER_READY = "order_ready", "To the buyer: the order is ready to collect, with where and when."
    ORDER_SENT = "order_sent", "To the buyer: the order was sent, with what is known of the carrier."
    ORDER_CANCELLED = "order_cancelled", "To the buyer: the order is neither sent nor handed over."
    REQUEST_RECEIPT = (
        "request_receipt",
        "To the buyer: a withdrawal or a request for a refund has arrived, with its content, date and time.",
    )
    NEW_REQUEST = "new_request", "To the partner: a buyer withdraws from the contract, or asks for a refund."
    REQUEST_DECLINED = "request_declined", "To the buyer: a request is declined, with the seller's message."
    ORDER_LINK = "order_link", "To the buyer, who asked for it: the link to the page of the order."
    ONBOARDING_LINK = "onboarding_link", "To a partner's legal representative: the link to activate its payments."
    IDENTITY_RENEWAL = "identity_renewal", "To a partner's legal representative: the identity must be verified again."
    VOUCHER = "voucher", "To a buyer or giftee: vouchers to print, or how they are delivered."
    GIFT_CARD = "gift_card", "To a buyer or giftee: gift cards to print, or how they are delivered."
    NETWORK_GIFT_CARD = "network_gift_card", "To a buyer or giftee: gift cards of a network to print."
    NETWORK_VOUCHER = "network_voucher", "To a buyer or giftee: vouchers of a network to print."
    NETWORK_GIFT_CARD_USED = (
        "network_card_used",
        "To a network and to the beneficiary of its gift card: an amount was used at a partner.",
    )
    NETWORK_VOUCHER_USED = (
        "network_voucher_used",
        "To a network and to the beneficiary of its voucher: it was used at a partner.",
    )
    PAYMENT_REQUEST = "payment_request", "To a customer: the link to pay an amount."
    PAYMENT_REQUEST_REMINDER = (
        "payment_reminder",
        "To a customer: the amount is not paid yet, and the link expires soon.",
    )
    DISPUTE_OPENED = (
        "dispute_opened",
        "To the partner, of a refill to the marketplace: the bank of a buyer disputes a payment.",
    )
    DISPUTE_ENDED = "dispute_ended", "To the partner, of a refill to the marketplace: how a dispute has ended."
    INVOICE = "invoice", "To a partner: an invoice or credit note, with its document."
    PAYOUT_WAITING = (
        "payout_waiting",
        "To the partner and the marketplace: a payout waits for money of the marketplace.",
    )
    PAYOUT_FAILED = "payout_failed", "To the partner and the marketplace: a payout failed, or the bank sent it back."
    PAYOUT_PAID = "payout_paid", "To the partner: a payout was sent to its bank account."
    RECONCILIATION = (
        "reconciliation",
        "To those who run the installation: the payment provider and the ledger disagree.",
    )
    PASSWORD_RESET = "password_reset", "To a user who asked for it: the link to choose a new password."
    USER_INVITATION = "user_invitation", "To a new user: the link to choose a password."
    ACCOUNT_CHANGED = (
        "account_changed",
        "To a user: the password, the second factor, a passkey, an API token or the e-mail address of the log-in has changed.",
    )
    ENDPOINT_DISABLED = "endpoint_disabled", "To the owner of a webhook endpoint: it failed for days and was disabled."


@graphql_enum
class MailState(DescribedEnum):
    """The delivery state of a message."""

    QUEUED = "queued", "It waits to be sent or retried."
    SENT = "sent", "The mail server has accepted it."
    FAILED = "failed", "It was rejected permanently, or could not be sent for more than a day. It can be sent again."


@strawberry.pydantic.type(description="A mail message. Messages are deleted after a retention period.")
class Mail(SchemaModel):
    id: int = id_column("The message's id.")
    uuid: UUID = Field(
        default_factory=uuid4, unique=True, description="The message's uuid; its Message-ID begins with it."
    )
    kind: MailKind = enum_column(MailKind, "The kind of message.")
    recipient: str = Field(max_length=320, description="The recipient's e-mail address.")
    language: str = Field(max_length=2, description="The language it is written in.")
    subject: str = Field(
        default="", max_length=998, description="The subject; empty until the first attempt to send it."
    )
    state: MailState = enum_column(MailState, "The delivery state.", default=MailState.QUEUED)
    tries: int = Field(default=0, description="How often it was passed to the mail server.")
    last_error: str = Field(default="", max_length=500, description="The last error of the mail server; empty if none.")
    created_on: dt.datetime = datetime_column("When it was created.")
    due_on: dt.datetime | None = datetime_column(
        "When the next attempt is due; null if it is sent or failed.", default=None, nullable=True
    )
    sent_on: dt.datetime | None = datetime_column(
        "When the mail server accepted it; null if not yet.", default=None, nullable=True
    )
    partner = partner_relation(nullable=True)
    marketplace = marketplace_relation(nullable=True)

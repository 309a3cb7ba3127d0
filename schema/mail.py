"""Mail: what is written to people, and where each message stands."""

import datetime as dt
from uuid import UUID

import strawberry
from sqlmodel import Field

from schema.core.ownership import of_marketplace, of_partner
from schema.core.resource import ClosedSet, Fields, choice, closed_set, moment


@closed_set
class MailKind(ClosedSet):
    """What a message is about."""

    ORDER_CONFIRMATION = "order_confirmation", "To the buyer: the order is paid, and what it contains."
    NEW_ORDER = "new_order", "To the partner: something was bought."
    PAYMENT_REFUNDED = "payment_refunded", "To the buyer: there is no order, and the card gets its money back."
    ONBOARDING_LINK = "onboarding_link", "To a partner's legal representative: where to activate its payments."
    VOUCHER = "voucher", "To a buyer or a giftee: vouchers to print, or what becomes of them."
    GIFT_CARD = "gift_card", "To a buyer or a giftee: gift cards to print, or what becomes of them."
    ENDPOINT_DISABLED = "endpoint_disabled", "To whoever gets events: their address failed for days and gets no more."


@closed_set
class MailState(ClosedSet):
    """Where a message stands."""

    QUEUED = "queued", "It waits to be sent, for the first time or again."
    SENT = "sent", "The mail server has taken it."
    FAILED = "failed", "It was refused for good, or for more than a day. It can be sent again."


@strawberry.pydantic.type(description="A message to somebody. Messages are kept for a while, then deleted.")
class Mail(Fields):
    """A message to somebody."""

    id: int = Field(description="Its id.")
    uuid: UUID = Field(description="Its uuid, which its Message-ID begins with.")
    kind: MailKind = choice(MailKind, "What it is about.")
    recipient: str = Field(max_length=320, description="The address it goes to.")
    language: str = Field(max_length=2, description="The language it is written in.")
    subject: str = Field(default="", max_length=998, description="Its subject; empty until it is first tried.")
    state: MailState = choice(MailState, "Where it stands.", default=MailState.QUEUED)
    tries: int = Field(default=0, description="How often the mail server was asked to take it.")
    last_error: str = Field(
        default="", max_length=500, description="Why it was not taken the last time; empty: it was."
    )
    created_on: dt.datetime = moment("When it was written.")
    due_on: dt.datetime | None = moment(
        "When it is tried next; null when it is sent or failed.", default=None, nullable=True
    )
    sent_on: dt.datetime | None = moment("When the mail server took it; null: not yet.", default=None, nullable=True)
    partner = of_partner(nullable=True)
    marketplace = of_marketplace(nullable=True)

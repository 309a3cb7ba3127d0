"""The timeline of an order: what has happened to it, who did it, and what was mailed about it."""

import datetime as dt

import strawberry
from pydantic import BaseModel
from pydantic import Field as PydanticField

from schema.audit import AuditActor
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.money import Money
from schema.mail import MailKind


@graphql_enum
class OrderTimelineKind(DescribedEnum):
    """What has happened to an order."""

    PLACED = "placed", "It was placed."
    PAID = "paid", "Money came in."
    DETAILS_CORRECTED = "details_corrected", "Its buyer, its recipient or its address was corrected."
    READY = "ready", "It was ready to collect."
    COLLECTED = "collected", "It was collected."
    SENT = "sent", "It was sent, or its tracking was corrected."
    DELIVERED = "delivered", "It arrived."
    CANCELLED = "cancelled", "Its fulfilment was cancelled."
    REOPENED = "reopened", "Its fulfilment was reopened."
    REFUND_REQUESTED = "refund_requested", "Its buyer withdrew, or asked for a refund."
    REQUEST_ANSWERED = "request_answered", "The request of its buyer was approved, declined or taken back."
    REFUNDED = "refunded", "A refund was accepted."
    MAIL_QUEUED = "mail_queued", "A message about it waits to be sent."
    MAIL_SENT = "mail_sent", "A message about it was sent."
    MAIL_FAILED = "mail_failed", "A message about it could not be sent."


@strawberry.pydantic.type(description="Something that has happened to an order.")
class OrderTimelineEntry(BaseModel):
    occurred_on: dt.datetime = PydanticField(description="When it happened.")
    kind: OrderTimelineKind = PydanticField(description="What happened.")
    actor: AuditActor | None = PydanticField(
        default=None, description="The role in which somebody did it; null if nobody did, or if it is not recorded."
    )
    username: str = PydanticField(
        default="",
        description="The name of the user who did it; empty if it was no user, and without `permissions.view_audit`.",
    )
    amount: Money | None = PydanticField(default=None, description="The money that moved; null if none did.")
    mail_id: int | None = PydanticField(
        default=None, description="The id of a message, for `resendMail`; null if it was none."
    )
    mail_kind: MailKind | None = PydanticField(default=None, description="The kind of message; null if it was none.")
    recipient: str = PydanticField(default="", description="Whom a message went to; empty if it was none.")
    text: str = PydanticField(
        default="",
        description="Why, or what is known of it: the reason of a refund or request, the tracking number, the last error of a "
        "message. Empty if nothing is.",
    )

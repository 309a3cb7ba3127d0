"""Webhooks: the endpoints that receive events, and the delivery log."""

import datetime as dt
from typing import Annotated

import strawberry
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, enum_type, graphql_enum, id_column
from schema.core.ownership import marketplace_relation, partner_relation
from schema.core.resource import SchemaModel, relation, relations
from schema.event import LONGEST_TYPE, Event, EventType


@graphql_enum
class DisabledReason(DescribedEnum):
    """Why Coffret has disabled an endpoint."""

    FAILING = "failing", "A message could not be delivered for three days."
    GONE = "gone", "It answered 410 Gone."


@graphql_enum
class DeliveryState(DescribedEnum):
    """The state of a message."""

    WAITING = "waiting", "It waits for its first attempt or for a retry."
    DELIVERED = "delivered", "The endpoint has accepted it."
    FAILED = "failed", "It was retried for three days without success. It can be replayed."


@graphql_enum
class AttemptOutcome(DescribedEnum):
    """How a delivery attempt ended."""

    DELIVERED = "delivered", "The endpoint answered with a status of 200 to 299."
    REFUSED = "refused", "It answered with another status."
    REDIRECTED = "redirected", "It answered with a redirect. Redirects are never followed."
    GONE = "gone", "It answered 410 Gone and was disabled."
    TIMED_OUT = "timed_out", "It did not answer in time."
    UNREACHABLE = "unreachable", "The connection failed or broke."
    FORBIDDEN = "forbidden", "Its host name resolves to an address that webhooks are not sent to."


@strawberry.pydantic.type(description="A URL that receives events.")
class WebhookEndpoint(SchemaModel):
    id: int = id_column("The endpoint's id.")
    url: str = Field(max_length=2048, description="The URL that messages are sent to, by POST.")
    description: str = Field(default="", max_length=200, description="What it is for; empty if not given.")
    event_types: list[EventType] = Field(
        default_factory=list,
        sa_type=ARRAY(enum_type(EventType, LONGEST_TYPE)),
        description="The event types it receives; empty for all, including types added later.",
    )
    is_active: bool = Field(
        default=True, description="Whether messages are sent. While it is inactive they wait, and are sent afterwards."
    )
    disabled_reason: DisabledReason | None = enum_column(
        DisabledReason, "Why Coffret has disabled it; null if it has not.", default=None, nullable=True
    )
    created_on: dt.datetime = datetime_column("When it was created.")
    previous_secret_until: dt.datetime | None = datetime_column(
        "Until when messages are also signed with the previous secret; null if there is none.",
        default=None,
        nullable=True,
    )
    partner = partner_relation("The partner whose events it receives; null for all partners.", nullable=True)
    marketplace = marketplace_relation()


@strawberry.type(description="An endpoint with its secret. The secret is shown only here.")
class IssuedWebhookEndpoint:
    endpoint: WebhookEndpoint = strawberry.field(description="The endpoint.")
    secret: str = strawberry.field(description="The key for verifying signatures: `whsec_…`.")


@strawberry.pydantic.type(description="An attempt to deliver a message.")
class WebhookAttempt(SchemaModel):
    started_on: dt.datetime = datetime_column("When it started.")
    duration_ms: int = Field(description="The duration, in milliseconds.")
    outcome: AttemptOutcome = enum_column(AttemptOutcome, "How it ended.")
    status: int | None = Field(default=None, description="The HTTP status of the response; null if there was none.")
    error: str = Field(default="", max_length=300, description="The error; empty if none.")
    answer: str = Field(default="", max_length=1024, description="The beginning of the response body.")


@strawberry.pydantic.type(description="A message: the delivery of an event to an endpoint.")
class WebhookDelivery(SchemaModel):
    key: Annotated[str, strawberry.field(name="id")] = Field(
        max_length=40,
        unique=True,
        description="The message's id, `msg_…`: the header `webhook-id` of every attempt and every replay.",
    )
    state: DeliveryState = enum_column(DeliveryState, "The message's state.", default=DeliveryState.WAITING)
    tries: int = Field(default=0, description="The number of attempts since it was last queued.")
    next_try_on: dt.datetime | None = datetime_column(
        "When the next retry is due; null if it has not failed, or is not retried.", default=None, nullable=True
    )
    last_status: int | None = Field(default=None, description="The HTTP status of the last response; null if none.")
    last_error: str = Field(default="", max_length=300, description="The error of the last attempt; empty if none.")
    created_on: dt.datetime = datetime_column("When it was first queued.")
    delivered_on: dt.datetime | None = datetime_column(
        "When it was last delivered; null if never.", default=None, nullable=True
    )
    event = relation(Event, by="event_id", description="The event.")
    endpoint = relation(WebhookEndpoint, by="endpoint_id", description="The endpoint that receives it.")
    attempts = relations(WebhookAttempt, by="delivery_id", description="All attempts, oldest first.")
    partner = partner_relation(nullable=True)
    marketplace = marketplace_relation()

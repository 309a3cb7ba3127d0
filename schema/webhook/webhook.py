"""Webhooks: the addresses that are told of events, and the log of what they were told."""

import datetime as dt
from typing import Annotated

import strawberry
from sqlalchemy import Enum
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field

from schema.core.ownership import of_marketplace, of_partner
from schema.core.resource import ClosedSet, Fields, choice, closed_set, moment, relation, relations
from schema.event import LONGEST_TYPE, Event, EventType


@closed_set
class DisabledReason(ClosedSet):
    """Why we have stopped telling an endpoint."""

    FAILING = "failing", "A message could not be delivered for three days."
    GONE = "gone", "It answered 410 Gone."


@closed_set
class DeliveryState(ClosedSet):
    """Where a message stands."""

    WAITING = "waiting", "It waits for its turn, or to be tried again."
    DELIVERED = "delivered", "The endpoint has taken it."
    FAILED = "failed", "It was tried for three days and given up. It can be replayed."


@closed_set
class AttemptOutcome(ClosedSet):
    """How a try ended."""

    DELIVERED = "delivered", "The endpoint answered with a status of 200 to 299."
    REFUSED = "refused", "It answered with another status."
    REDIRECTED = "redirected", "It answered with a redirect, which is never followed."
    GONE = "gone", "It answered 410 Gone, and is told no more."
    TIMED_OUT = "timed_out", "It did not answer in time."
    UNREACHABLE = "unreachable", "No connection could be made, or it broke."
    FORBIDDEN = "forbidden", "Its name leads to an address that webhooks are not sent to."


@strawberry.pydantic.type(description="An address that is told of events.")
class WebhookEndpoint(Fields):
    """An address that is told of events."""

    id: int = Field(description="Its id.")
    url: str = Field(max_length=2048, description="Where messages are sent, by POST.")
    description: str = Field(default="", max_length=200, description="What it is for; empty: not told.")
    event_types: list[EventType] = Field(
        default_factory=list,
        sa_type=ARRAY(
            Enum(EventType, native_enum=False, length=LONGEST_TYPE, values_callable=lambda e: [m.value for m in e])
        ),
        description="What it is told of; empty: of everything, also of what is added later.",
    )
    is_active: bool = Field(
        default=True, description="Whether messages are sent. While they are not, they wait, and are sent afterwards."
    )
    disabled_reason: DisabledReason | None = choice(
        DisabledReason, "Why we have made it inactive; null: we have not.", default=None, nullable=True
    )
    created_on: dt.datetime = moment("When it was made.")
    previous_secret_until: dt.datetime | None = moment(
        "Until when messages are signed with the secret before the present one as well; null: there is none.",
        default=None,
        nullable=True,
    )
    partner = of_partner("Whose events it is told; null: all partners'.", nullable=True)
    marketplace = of_marketplace()


@strawberry.type(description="An endpoint with its secret, which is shown here and never again.")
class IssuedWebhookEndpoint:
    """An endpoint with its secret."""

    endpoint: WebhookEndpoint = strawberry.field(description="The endpoint.")
    secret: str = strawberry.field(description="What receivers verify signatures with: `whsec_…`.")


@strawberry.pydantic.type(description="One try to deliver a message.")
class WebhookAttempt(Fields):
    """One try to deliver a message."""

    started_on: dt.datetime = moment("When it began.")
    duration_ms: int = Field(description="How long it took, in milliseconds.")
    outcome: AttemptOutcome = choice(AttemptOutcome, "How it ended.")
    status: int | None = Field(default=None, description="The HTTP status of the answer; null: there was none.")
    error: str = Field(default="", max_length=300, description="What went wrong; empty: nothing.")
    answer: str = Field(default="", max_length=1024, description="The beginning of the answer's body.")


@strawberry.pydantic.type(description="A message: an event on its way to an endpoint.")
class WebhookDelivery(Fields):
    """A message: an event on its way to an endpoint."""

    key: Annotated[str, strawberry.field(name="id")] = Field(
        max_length=40, unique=True, description="Its id, `msg_…`: the `webhook-id` of every try and every replay."
    )
    state: DeliveryState = choice(DeliveryState, "Where it stands.", default=DeliveryState.WAITING)
    tries: int = Field(default=0, description="How often it was tried since it was last put in line.")
    next_try_on: dt.datetime | None = moment(
        "When it is tried again; null: it has not failed, or is not tried any more.", default=None, nullable=True
    )
    last_status: int | None = Field(default=None, description="The HTTP status of the last answer; null: none.")
    last_error: str = Field(default="", max_length=300, description="What went wrong at the last try; empty: nothing.")
    created_on: dt.datetime = moment("When it was first put in line.")
    delivered_on: dt.datetime | None = moment("When it was last delivered; null: never.", default=None, nullable=True)
    event = relation(Event, by="event_id", description="What it tells of.")
    endpoint = relation(WebhookEndpoint, by="endpoint_id", description="Whom it tells.")
    attempts = relations(WebhookAttempt, by="delivery_id", description="Every try, the first one first.")
    partner = of_partner(nullable=True)
    marketplace = of_marketplace()

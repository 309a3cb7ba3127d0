"""What is sent to manage webhooks."""

import datetime as dt
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.core.resource import Fields, writable, writable_as
from schema.event import EventType
from schema.validation.characters import up_to
from schema.webhook.webhook import AttemptOutcome, WebhookEndpoint

Url = Annotated[str, up_to(2048)]
Words = Annotated[str, up_to(200)]
Types = Annotated[list[EventType], Field(max_length=len(EventType))]
EventKeys = Annotated[list[str], Field(min_length=1, max_length=100)]


@writable_as(WebhookEndpoint)
class CreateWebhookEndpoint(Fields):
    """An address to tell of events. Without a partner it is the marketplace's own, and is told of all its partners."""

    partner_uuid: UUID | None = Field(
        default=None, description="Whose events; a partner's own users may leave it out, others then mean all partners."
    )
    marketplace_uuid: UUID | None = Field(
        default=None, description="For all partners of which marketplace; its own users may leave it out."
    )
    url: Url
    description: Words = ""
    event_types: Types = Field(default_factory=list)


@writable_as(WebhookEndpoint)
class UpdateWebhookEndpoint(Fields):
    """What is left out stays as it is. Making it active, or sending it elsewhere, tries what waits at once."""

    id: int
    url: strawberry.Maybe[Url]
    description: strawberry.Maybe[Words]
    event_types: strawberry.Maybe[Types]
    is_active: strawberry.Maybe[bool]


@writable
class DeleteWebhookEndpoint(Fields):
    """Which endpoint to delete, with what waits for it and its log."""

    id: int = Field(description="The id of the endpoint.")


@writable
class RotateWebhookSecret(Fields):
    """Which endpoint gets a new secret."""

    id: int = Field(description="The id of the endpoint.")
    revoke_previous: bool = Field(
        default=False, description="Whether the secret it has now is used no more from this moment: somebody knows it."
    )


@writable
class TestWebhookEndpoint(Fields):
    """Which endpoint to try, and how."""

    __test__ = False  # of pytest

    id: int = Field(description="The id of the endpoint.")
    type: EventType = Field(
        default=EventType.WEBHOOK_TEST,
        description="Of which type the event is. Its data are those of the documentation.",
    )
    send: bool = Field(default=True, description="Whether it is sent; false only shows what would be.")


@writable
class ReplayWebhooks(Fields):
    """What to send an endpoint again: single events, or all of a time. Send `eventIds`, or `since` with or without `until`."""

    id: int = Field(description="The id of the endpoint.")
    event_ids: EventKeys | None = Field(default=None, description="Which events, `evt_…`; 1 to 100.")
    since: dt.datetime | None = Field(default=None, description="Events from this time on, of the endpoint's types.")
    until: dt.datetime | None = Field(default=None, description="And to this time; null: up to now.")


@strawberry.type(description="A header of an HTTP request.")
class HttpHeader:
    """A header of an HTTP request."""

    name: str = strawberry.field(description="Its name, in lower case.")
    value: str = strawberry.field(description="Its value.")


@strawberry.type(description="What an endpoint answered.")
class WebhookAnswer:
    """What an endpoint answered."""

    outcome: AttemptOutcome = strawberry.field(description="How the try ended.")
    status: int | None = strawberry.field(description="The HTTP status of the answer; null: there was none.")
    duration_ms: int = strawberry.field(description="How long it took, in milliseconds.")
    error: str = strawberry.field(description="What went wrong; empty: nothing.")
    body: str = strawberry.field(description="The beginning of the answer's body.")


@strawberry.type(description="A try of an endpoint. It is in no log.")
class WebhookTest:
    """A try of an endpoint."""

    url: str = strawberry.field(description="Where it is sent.")
    headers: list[HttpHeader] = strawberry.field(description="The headers, with a signature of the body.")
    body: str = strawberry.field(description="The body, byte for byte.")
    answer: WebhookAnswer | None = strawberry.field(description="What came back; null: it was not sent.")

"""Inputs that manage webhook endpoints."""

import datetime as dt
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.core.inputs import graphql_input, graphql_input_for
from schema.core.resource import SchemaModel
from schema.event import EventType
from schema.validation.characters import line_up_to
from schema.webhook.webhook import AttemptOutcome, WebhookEndpoint

Url = Annotated[str, line_up_to(2048)]
EndpointDescription = Annotated[str, line_up_to(200)]
EventTypes = Annotated[list[EventType], Field(max_length=len(EventType))]
EventKeys = Annotated[list[str], Field(min_length=1, max_length=100)]


@graphql_input_for(WebhookEndpoint)
class CreateWebhookEndpoint(SchemaModel):
    """Create a webhook endpoint. Without a partner it belongs to the marketplace and receives the events of all its
    partners.
    """

    partner_uuid: UUID | None = Field(
        default=None,
        description="The uuid of the partner whose events it receives. A partner's own users may omit it; for "
        "other users, omitting it means all partners.",
    )
    marketplace_uuid: UUID | None = Field(
        default=None,
        description="The uuid of the marketplace, for the events of all its partners; its own users may omit it.",
    )
    url: Url
    description: EndpointDescription = ""
    event_types: EventTypes = Field(default_factory=list)


@graphql_input_for(WebhookEndpoint)
class UpdateWebhookEndpoint(SchemaModel):
    """Update a webhook endpoint. Omitted fields stay unchanged. Activating it or changing its URL retries waiting
    messages at once.
    """

    id: int
    url: strawberry.Maybe[Url]
    description: strawberry.Maybe[EndpointDescription]
    event_types: strawberry.Maybe[EventTypes]
    is_active: strawberry.Maybe[bool]


@graphql_input
class DeleteWebhookEndpoint(SchemaModel):
    """Delete a webhook endpoint with its waiting messages and its log."""

    id: int = Field(description="The id of the endpoint.")


@graphql_input
class RotateWebhookSecret(SchemaModel):
    """Create a new secret for a webhook endpoint."""

    id: int = Field(description="The id of the endpoint.")
    revoke_previous: bool = Field(
        default=False,
        description="Whether the current secret stops being used at once, because somebody else knows it.",
    )


@graphql_input
class TestWebhookEndpoint(SchemaModel):
    """Test a webhook endpoint."""

    __test__ = False  # otherwise pytest collects it

    id: int = Field(description="The id of the endpoint.")
    type: EventType = Field(
        default=EventType.WEBHOOK_TEST,
        description="The type of the event. Its data are the examples of the documentation.",
    )
    send: bool = Field(default=True, description="Whether it is sent; if not, the request is only shown.")


@graphql_input
class ReplayWebhooks(SchemaModel):
    """Send events to an endpoint again: single events, or all of a period. Send `eventIds`, or `since` with or
    without `until`.
    """

    id: int = Field(description="The id of the endpoint.")
    event_ids: EventKeys | None = Field(default=None, description="The ids of the events, `evt_…`; 1 to 100.")
    since: dt.datetime | None = Field(
        default=None, description="The beginning of the period; only events of the endpoint's types are sent."
    )
    until: dt.datetime | None = Field(default=None, description="The end of the period; null for now.")


@strawberry.type(description="A header of an HTTP request.")
class HttpHeader:
    name: str = strawberry.field(description="The header's name, in lower case.")
    value: str = strawberry.field(description="The header's value.")


@strawberry.type(description="The response of an endpoint.")
class WebhookAnswer:
    outcome: AttemptOutcome = strawberry.field(description="How the attempt ended.")
    status: int | None = strawberry.field(description="The HTTP status of the response; null if there was none.")
    duration_ms: int = strawberry.field(description="The duration of the attempt, in milliseconds.")
    error: str = strawberry.field(description="The error; empty if none.")
    body: str = strawberry.field(description="The beginning of the response body.")


@strawberry.type(description="A test of an endpoint. It is not logged.")
class WebhookTest:
    url: str = strawberry.field(description="The URL that the request is sent to.")
    headers: list[HttpHeader] = strawberry.field(description="The headers, including the signature of the body.")
    body: str = strawberry.field(description="The exact body.")
    answer: WebhookAnswer | None = strawberry.field(description="The response; null if it was not sent.")

"""Webhook endpoints, their message log, replay and tests."""

import datetime as dt
import socket
from typing import Annotated
from uuid import UUID, uuid4

from pydantic import Field
from sqlalchemy import func
from sqlmodel import col, select

from resolvers.core.caller import Role
from resolvers.core.input_mapping import ById, apply, marketplace_of, owner_of
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.webhook.delivery import enqueue_deliveries
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.message_names import TemplatedMessage
from schema.core.permission import Permission
from schema.event import EVENT_EXAMPLES, EventType
from schema.webhook.input import (
    CreateWebhookEndpoint,
    DeleteWebhookEndpoint,
    HttpHeader,
    ReplayWebhooks,
    RotateWebhookSecret,
    TestWebhookEndpoint,
    UpdateWebhookEndpoint,
    WebhookAnswer,
    WebhookTest,
)
from schema.webhook.webhook import DeliveryState, IssuedWebhookEndpoint, WebhookDelivery, WebhookEndpoint
from store.order.signing_secrets import new_salt, rotate
from store.partner.partners import PartnerRow
from store.webhook.addresses import ForbiddenAddress, InvalidUrl
from store.webhook.queue import replay_events, reset_retries
from store.webhook.rows import WebhookEndpointRow
from store.webhook.sender import SendResult
from store.webhook.signing import WEBHOOK_SECRET, signed_headers, webhook_body

MOST_ENDPOINTS = 20
"""Maximum number of endpoints per owner; each event is sent to all of them."""


@graphql_enum
class WebhookEndpointSort(DescribedEnum):
    """Sort order of endpoints."""

    NEWEST = "-id", "The newest first."


@graphql_input_for(WebhookEndpoint)
class WebhookEndpointFilter(OfPartner):
    """Filter for endpoints."""

    is_active: Annotated[bool | None, Where("is_active")] = None


webhook_endpoints = Listing(
    WebhookEndpoint,
    WebhookEndpointFilter,
    WebhookEndpointSort,
    Permission.MANAGE_WEBHOOK,
    "The webhook endpoints visible to you, newest first.",
)
webhook_endpoint = Lookup(
    WebhookEndpoint, "id", "webhook endpoint", Permission.MANAGE_WEBHOOK, "An endpoint by its id."
)


@graphql_enum
class WebhookDeliverySort(DescribedEnum):
    """Sort order of messages."""

    NEWEST = "-id", "Newest first, by when the message was first queued."


@graphql_input_for(WebhookDelivery)
class WebhookDeliveryFilter(OfPartner):
    """Filter for messages. Periods include both ends."""

    ids: Annotated[list[str] | None, Where("key", "in")] = Field(
        default=None, description="Only messages with one of these ids."
    )
    endpoint_id: Annotated[int | None, Where("endpoint_id")] = Field(
        default=None, description="Only messages to the endpoint with this id."
    )
    states: Annotated[list[DeliveryState] | None, Where("state", "in")] = Field(
        default=None, description="Only messages in one of these states."
    )
    event_types: Annotated[list[EventType] | None, Where("event_type", "in")] = Field(
        default=None, description="Only messages about events of one of these types."
    )
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only messages first queued at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only messages first queued at or before this time."
    )


webhook_deliveries = Listing(
    WebhookDelivery,
    WebhookDeliveryFilter,
    WebhookDeliverySort,
    Permission.MANAGE_WEBHOOK,
    "The messages to the endpoints visible to you, newest first.",
)
webhook_delivery = Lookup(
    WebhookDelivery, "key", "message", Permission.MANAGE_WEBHOOK, "A webhook message by its id, `msg_…`."
)


_endpoint = ById(WebhookEndpointRow, "webhook endpoint")


@operation(Permission.MANAGE_WEBHOOK)
async def create_webhook_endpoint(call: Call, input: CreateWebhookEndpoint) -> IssuedWebhookEndpoint:
    """Create a webhook endpoint: a URL that receives events from now on. Its secret is returned only here."""
    findings = ProblemCollector()
    with findings.collect():
        partner_id, marketplace_id = await _owner(call, input)
        await _check_endpoint_limit(call, partner_id, marketplace_id)
    with findings.collect():
        _check_event_types(input.event_types)
    with findings.collect():
        host = await _check_reachable(call, input.url)
    findings.raise_problems()
    row = WebhookEndpointRow(
        partner_id=partner_id,
        marketplace_id=marketplace_id,
        url=input.url,
        host=host,
        description=input.description,
        event_types=input.event_types,
        secret_salt=new_salt(),
    )
    call.db.add(row)
    await call.db.flush()
    return _issued_endpoint(call, row)


@operation(Permission.MANAGE_WEBHOOK, exists=_endpoint)
async def update_webhook_endpoint(call: Call, input: UpdateWebhookEndpoint) -> WebhookEndpoint:
    """Update an endpoint. Its secret stays unchanged."""
    row = await _endpoint.find(call, input.id)
    findings = ProblemCollector()
    with findings.collect():
        if input.event_types is not None:
            _check_event_types(input.event_types.value)
    host = None
    with findings.collect():
        if input.url is not None:
            host = await _check_reachable(call, input.url.value)
    findings.raise_problems()
    row = await _endpoint.find(call, input.id, lock=True)
    apply(row, input)
    if input.is_active is not None:
        row.disabled_reason = None
    if host is not None:
        row.host = host
    await call.db.flush()
    if row.is_active and (input.url is not None or input.is_active is not None):
        await reset_retries(call.db, row.id)
        await enqueue_deliveries(call.db, [row.id])
    return row


@operation(Permission.MANAGE_WEBHOOK, exists=_endpoint)
async def delete_webhook_endpoint(call: Call, input: DeleteWebhookEndpoint) -> None:
    """Delete an endpoint, with its queued messages and its log."""
    await call.db.delete(await _endpoint.find(call, input.id, lock=True))


@operation(Permission.MANAGE_WEBHOOK, exists=_endpoint)
async def rotate_webhook_secret(call: Call, input: RotateWebhookSecret) -> IssuedWebhookEndpoint:
    """Issue a new secret to an endpoint. For a day, messages are also signed with the previous secret, unless it is
    revoked.
    """
    row = await _endpoint.find(call, input.id, lock=True)
    overlap = dt.timedelta(hours=call.services.settings.webhook_secret_hours)
    rotate(row, call.services.clock.now(), overlap, revoke=input.revoke_previous)
    await call.db.flush()
    return _issued_endpoint(call, row)


@operation(Permission.MANAGE_WEBHOOK, exists=_endpoint)
async def replay_webhooks(call: Call, input: ReplayWebhooks) -> int:
    """Queue messages for an endpoint again: at most 10,000, oldest first. Returns their number.

    Each message keeps its `webhook-id`. Events that were never sent to the endpoint, for example from before it was
    created, are included. Messages already waiting are not queued twice.
    """
    row = await _endpoint.find(call, input.id, lock=True)
    call.add_audit_subject(row)
    findings = ProblemCollector()
    with findings.collect():
        if (input.event_ids is None) is (input.since is None):
            raise InvalidInput.at("since", "Send `eventIds` or `since`.")
    with findings.collect():
        if input.until is not None and (input.since is None or input.until < input.since):
            raise InvalidInput.at("until", "Send `until` only with `since`, and not before it.")
    findings.raise_problems()
    count = await replay_events(call.db, row.id, keys=input.event_ids, since=input.since, until=input.until)
    if count:
        await enqueue_deliveries(call.db, [row.id])
    return count


@operation(Permission.MANAGE_WEBHOOK, transaction=False)
async def test_webhook_endpoint(call: Call, input: TestWebhookEndpoint) -> WebhookTest:
    """Send an example message to an endpoint, or show what would be sent. It is not an event, and is neither queued nor
    logged.
    """
    async with call.services.db.sessions() as db:
        row = await find_visible(db, call.caller, WebhookEndpointRow, "webhook endpoint", id=input.id)
        call.add_audit_subject(row)
        of = (
            PartnerRow.marketplace_id == row.marketplace_id
            if row.partner_id is None
            else PartnerRow.id == row.partner_id
        )
        first = select(PartnerRow.id, PartnerRow.uuid).where(of).order_by(col(PartnerRow.id)).limit(1)
        partner = (await db.exec(first)).first() or (0, UUID(int=0))
    now = call.services.clock.now()
    body = webhook_body(
        key=f"evt_{uuid4().hex}",
        type=input.type.value,
        occurred_on=now,
        subject="test",
        data=EVENT_EXAMPLES[input.type],
        partner=partner,
    )
    headers = signed_headers(
        f"msg_{uuid4().hex}", body, now, WEBHOOK_SECRET.secrets_of(call.services.settings.secret, row, now)
    )
    answer = await call.services.webhook_sender.send(row.url, headers, body) if input.send else None
    return WebhookTest(
        url=row.url,
        headers=[HttpHeader(name=name, value=value) for name, value in headers.items()],
        body=body.decode(),
        answer=None if answer is None else _webhook_answer_of(answer),
    )


def _webhook_answer_of(answer: SendResult) -> WebhookAnswer:
    return WebhookAnswer(
        outcome=answer.outcome,
        status=answer.status,
        duration_ms=answer.duration // dt.timedelta(milliseconds=1),
        error=answer.error,
        body=answer.body_excerpt,
    )


def _issued_endpoint(call: Call, row: WebhookEndpointRow) -> IssuedWebhookEndpoint:
    return IssuedWebhookEndpoint(
        endpoint=row, secret=WEBHOOK_SECRET.secret_of(call.services.settings.secret, row.secret_salt)
    )


async def _owner(call: Call, input: CreateWebhookEndpoint) -> tuple[int | None, int]:
    """The partner id, if the endpoint is for one partner, and the marketplace id."""
    if input.partner_uuid is not None or call.caller.role is Role.PARTNER:
        if input.marketplace_uuid is not None:
            raise InvalidInput.at(
                "marketplace_uuid", "An endpoint receives the events of one partner or of one marketplace, not both."
            )
        partner = await owner_of(call, input.partner_uuid)
        return partner.id, partner.marketplace_id
    return None, (await marketplace_of(call, input.marketplace_uuid)).id


async def _check_endpoint_limit(call: Call, partner_id: int | None, marketplace_id: int) -> None:
    own = select(func.count()).where(
        col(WebhookEndpointRow.marketplace_id) == marketplace_id,
        col(WebhookEndpointRow.partner_id).is_not_distinct_from(partner_id),
    )
    if (await call.db.exec(own)).one() >= MOST_ENDPOINTS:
        raise InvalidInput.at(
            (),
            TemplatedMessage("There are {most} endpoints already. Delete one first.", most=MOST_ENDPOINTS),
            "TOO_MANY",
        )


def _check_event_types(types: list[EventType]) -> None:
    if EventType.WEBHOOK_TEST in types:
        raise InvalidInput.at("event_types", "Test messages are not events, so an endpoint cannot subscribe to them.")


async def _check_reachable(call: Call, url: str) -> str:
    """The host of a URL. Raises InvalidInput if messages cannot be sent there."""
    try:
        target = call.services.webhook_sender.target(url)
        await call.services.webhook_sender.check(target)
    except (InvalidUrl, ForbiddenAddress) as error:
        raise InvalidInput.at("url", error.args[0]) from error
    except (socket.gaierror, TimeoutError) as error:
        raise InvalidInput.at("url", "The host name cannot be resolved.") from error
    return target.host

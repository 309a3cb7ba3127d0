"""Who is told of events, what they were told, and telling it again."""

import datetime as dt
import socket
from typing import Annotated
from uuid import UUID, uuid4

from pydantic import Field
from sqlalchemy import func
from sqlmodel import col, select

from resolvers.core.context import Role
from resolvers.core.input_mapping import ById, apply, marketplace_of, owner_of
from resolvers.core.listing import Listing, Lookup, OfPartner, Where
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find
from resolvers.webhook.delivery import wake
from schema.core.errors import InvalidInput
from schema.core.input_errors import Findings
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, closed_set, writable_as
from schema.event import EXAMPLES, EventType
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
from store.webhook.addresses import BadUrl, ForbiddenAddress
from store.webhook.queue import forget_failures, replay
from store.webhook.rows import WebhookEndpointRow
from store.webhook.sender import Answer
from store.webhook.signing import WEBHOOK_SECRET, body_of, headers_of

MOST_ENDPOINTS = 20
"""Of one owner: each event is sent so often."""


@closed_set
class WebhookEndpointSort(ClosedSet):
    """How to order endpoints."""

    NEWEST = "-id", "The newest first."


@writable_as(WebhookEndpoint)
class WebhookEndpointFilter(OfPartner):
    """Which endpoints."""

    is_active: Annotated[bool | None, Where("is_active")] = None


webhook_endpoints = Listing(
    WebhookEndpoint,
    WebhookEndpointFilter,
    WebhookEndpointSort,
    Permission.MANAGE_WEBHOOK,
    "The addresses that are told of events, newest first.",
)
webhook_endpoint = Lookup(
    WebhookEndpoint, "id", "webhook endpoint", Permission.MANAGE_WEBHOOK, "An endpoint by its id."
)


@closed_set
class WebhookDeliverySort(ClosedSet):
    """How to order messages."""

    NEWEST = "-id", "Those that were first put in line last."


@writable_as(WebhookDelivery)
class WebhookDeliveryFilter(OfPartner):
    """Which messages."""

    ids: Annotated[list[str] | None, Where("key", "in")] = Field(default=None, description="With one of these ids.")
    endpoint_id: Annotated[int | None, Where("endpoint_id")] = Field(default=None, description="To this endpoint.")
    states: Annotated[list[DeliveryState] | None, Where("state", "in")] = Field(
        default=None, description="In one of these states."
    )
    event_types: Annotated[list[EventType] | None, Where("event_type", "in")] = Field(
        default=None, description="Of events of one of these types."
    )
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="First put in line from this time on."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="First put in line to this time."
    )


webhook_deliveries = Listing(
    WebhookDelivery,
    WebhookDeliveryFilter,
    WebhookDeliverySort,
    Permission.MANAGE_WEBHOOK,
    "The log of messages to your endpoints, newest first.",
)


_endpoint = ById(WebhookEndpointRow, "webhook endpoint")


@operation(Permission.MANAGE_WEBHOOK)
async def create_webhook_endpoint(call: Call, input: CreateWebhookEndpoint) -> IssuedWebhookEndpoint:
    """Have an address told of events from now on. Its secret is answered here and never again."""
    findings = Findings()
    with findings.of_one():
        partner_id, marketplace_id = await _owner(call, input)
        await _not_too_many(call, partner_id, marketplace_id)
    with findings.of_one():
        _subscribable(input.event_types)
    with findings.of_one():
        host = await _reachable(call, input.url)
    findings.tell()
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
    return _issued(call, row)


@operation(Permission.MANAGE_WEBHOOK, exists=_endpoint)
async def update_webhook_endpoint(call: Call, input: UpdateWebhookEndpoint) -> WebhookEndpoint:
    """Change an endpoint. Its secret stays."""
    row = await _endpoint.find(call, input.id)
    findings = Findings()
    with findings.of_one():
        if input.event_types is not None:
            _subscribable(input.event_types.value)
    host = None
    with findings.of_one():
        if input.url is not None:
            host = await _reachable(call, input.url.value)
    findings.tell()
    row = await _endpoint.find(call, input.id, lock=True)
    apply(row, input)
    if input.is_active is not None:
        row.disabled_reason = None
    if host is not None:
        row.host = host
    await call.db.flush()
    if row.is_active and (input.url is not None or input.is_active is not None):
        await forget_failures(call.db, row.id)
        await wake(call.db, [row.id])
    return row


@operation(Permission.MANAGE_WEBHOOK, exists=_endpoint)
async def delete_webhook_endpoint(call: Call, input: DeleteWebhookEndpoint) -> None:
    """Delete an endpoint, with what waits for it and with its log."""
    await call.db.delete(await _endpoint.find(call, input.id, lock=True))


@operation(Permission.MANAGE_WEBHOOK, exists=_endpoint)
async def rotate_webhook_secret(call: Call, input: RotateWebhookSecret) -> IssuedWebhookEndpoint:
    """Give an endpoint a new secret. Unless told otherwise, messages are signed with both for a day."""
    row = await _endpoint.find(call, input.id, lock=True)
    overlap = dt.timedelta(hours=call.services.settings.webhook_secret_hours)
    rotate(row, call.services.clock.now(), overlap, revoke=input.revoke_previous)
    await call.db.flush()
    return _issued(call, row)


@operation(Permission.MANAGE_WEBHOOK, exists=_endpoint)
async def replay_webhooks(call: Call, input: ReplayWebhooks) -> int:
    """Put messages in line for an endpoint again: at most 10,000, the oldest first; answers how many.

    Each keeps its `webhook-id`. Events that the endpoint was never told of, from before it was made for example, are
    told as well; what waits already waits on.
    """
    row = await _endpoint.find(call, input.id, lock=True)
    call.concerns(row)
    findings = Findings()
    with findings.of_one():
        if (input.event_ids is None) is (input.since is None):
            raise InvalidInput.at("since", "Send `eventIds` or `since`.")
    with findings.of_one():
        if input.until is not None and (input.since is None or input.until < input.since):
            raise InvalidInput.at("until", "A time to end at comes after `since`.")
    findings.tell()
    count = await replay(call.db, row.id, keys=input.event_ids, since=input.since, until=input.until)
    if count:
        await wake(call.db, [row.id])
    return count


@operation(Permission.MANAGE_WEBHOOK, transaction=False)
async def test_webhook_endpoint(call: Call, input: TestWebhookEndpoint) -> WebhookTest:
    """Send an endpoint an example, or show what would be sent. It is no event, stands in no line and in no log."""
    async with call.services.db.sessions() as db:
        row = await find(db, call.caller, WebhookEndpointRow, "webhook endpoint", id=input.id)
        call.concerns(row)
        of = (
            PartnerRow.marketplace_id == row.marketplace_id
            if row.partner_id is None
            else PartnerRow.id == row.partner_id
        )
        first = select(PartnerRow.id, PartnerRow.uuid).where(of).order_by(col(PartnerRow.id)).limit(1)
        partner = (await db.exec(first)).first() or (0, UUID(int=0))
    now = call.services.clock.now()
    body = body_of(
        key=f"evt_{uuid4().hex}",
        type=input.type.value,
        occurred_on=now,
        subject="test",
        data=EXAMPLES[input.type],
        partner=partner,
    )
    headers = headers_of(
        f"msg_{uuid4().hex}", body, now, WEBHOOK_SECRET.secrets_of(call.services.settings.secret, row, now)
    )
    answer = await call.services.webhooks.send(row.url, headers, body) if input.send else None
    return WebhookTest(
        url=row.url,
        headers=[HttpHeader(name=name, value=value) for name, value in headers.items()],
        body=body.decode(),
        answer=None if answer is None else _told(answer),
    )


def _told(answer: Answer) -> WebhookAnswer:
    return WebhookAnswer(
        outcome=answer.outcome,
        status=answer.status,
        duration_ms=answer.duration // dt.timedelta(milliseconds=1),
        error=answer.error,
        body=answer.beginning,
    )


def _issued(call: Call, row: WebhookEndpointRow) -> IssuedWebhookEndpoint:
    return IssuedWebhookEndpoint(
        endpoint=row, secret=WEBHOOK_SECRET.secret_of(call.services.settings.secret, row.secret_salt)
    )


async def _owner(call: Call, input: CreateWebhookEndpoint) -> tuple[int | None, int]:
    """The partner whose events are told, if it is one, and the marketplace."""
    if input.partner_uuid is not None or call.caller.role is Role.PARTNER:
        if input.marketplace_uuid is not None:
            raise InvalidInput.at("marketplace_uuid", "An endpoint is told of one partner, or of all of a marketplace.")
        partner = await owner_of(call, input.partner_uuid)
        return partner.id, partner.marketplace_id
    return None, (await marketplace_of(call, input.marketplace_uuid)).id


async def _not_too_many(call: Call, partner_id: int | None, marketplace_id: int) -> None:
    own = select(func.count()).where(
        col(WebhookEndpointRow.marketplace_id) == marketplace_id,
        col(WebhookEndpointRow.partner_id).is_not_distinct_from(partner_id),
    )
    if (await call.db.exec(own)).one() >= MOST_ENDPOINTS:
        raise InvalidInput.at((), f"There are {MOST_ENDPOINTS} endpoints already: delete one first.", "TOO_MANY")


def _subscribable(types: list[EventType]) -> None:
    if EventType.WEBHOOK_TEST in types:
        raise InvalidInput.at("event_types", "A test is sent when you ask for it, and no event.")


async def _reachable(call: Call, url: str) -> str:
    """The host of a URL that messages may be sent to."""
    try:
        target = call.services.webhooks.target(url)
        await call.services.webhooks.check(target)
    except (BadUrl, ForbiddenAddress) as error:
        raise InvalidInput.at("url", str(error)) from error
    except (socket.gaierror, TimeoutError) as error:
        raise InvalidInput.at("url", "The name of the host cannot be found.") from error
    return target.host

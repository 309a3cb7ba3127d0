"""The delivery queue of an endpoint: one worker sends the oldest message, then the next after success or
final failure.
"""

import datetime as dt
import random
from collections.abc import Sequence
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import func, literal, or_, update
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.webhook.webhook import AttemptOutcome, DeliveryState, DisabledReason
from store.event.events import EventRow
from store.partner.partners import PartnerRow
from store.webhook.fan_out import COLUMNS, deliveries_for, is_subscribed
from store.webhook.rows import WebhookAttemptRow, WebhookDeliveryRow, WebhookEndpointRow
from store.webhook.sender import SendResult
from store.webhook.signing import webhook_body

RETRY_PAUSES = tuple(
    dt.timedelta(seconds=seconds)
    for seconds in (5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600)
)
"""Pauses between the tries of a message, a little more than three days in all."""
JITTER = 0.1
"""The maximum extension of a pause, relative to it, so that simultaneous failures are not retried simultaneously."""
MAX_RETRY_AFTER = dt.timedelta(hours=24)
"""The maximum `Retry-After` that is respected."""
LEASE = dt.timedelta(seconds=45)
"""How long a worker holds an endpoint: much longer than a try. After that the worker is considered dead."""
EARLY_TOLERANCE = dt.timedelta(seconds=2)
"""How far the database's clock, which determines when a job runs, may be ahead of ours."""
MAX_PER_HOST = 4
"""Maximum number of endpoints of one host that are sent to at the same time."""
MAX_REPLAYED = 10_000
"""Maximum number of messages that one replay queues."""
_random = random.SystemRandom()


@dataclass(frozen=True)
class ClaimedDelivery:
    """The next message of an endpoint, held by one worker."""

    lease: UUID
    endpoint: WebhookEndpointRow
    delivery: WebhookDeliveryRow
    body: bytes


@dataclass(frozen=True)
class NoCapacity:
    """There may be a message, but its host or this process has reached its limit of simultaneous messages."""


@dataclass(frozen=True)
class DeliveryUpdate:
    """The consequences of a try."""

    pause: dt.timedelta | None = None
    """The pause before the next try; None if there is none."""
    disabled: DisabledReason | None = None


async def claim_next(db: AsyncSession, endpoint_id: int, now: dt.datetime) -> ClaimedDelivery | NoCapacity | None:
    """Claim the next message of an endpoint, if one is due and no other worker is sending to it.

    The holder of an endpoint checks again when it is done, so that messages queued meanwhile are not missed.
    """
    is_held = func.coalesce(col(WebhookEndpointRow.leased_until) > func.clock_timestamp(), literal(value=False))
    asked = select(WebhookEndpointRow, is_held).where(
        col(WebhookEndpointRow.id) == endpoint_id, col(WebhookEndpointRow.is_active)
    )
    row = (await db.exec(asked.with_for_update(key_share=True))).one_or_none()
    if row is None or row[1]:
        return None
    endpoint, head = row[0], await _next_delivery(db, endpoint_id)
    if head is None or (head[0].next_try_on is not None and head[0].next_try_on > now + EARLY_TOLERANCE):
        return None
    if await _active_sends(db, endpoint.host) >= MAX_PER_HOST:
        return NoCapacity()
    lease = uuid4()
    lent = update(WebhookEndpointRow).where(col(WebhookEndpointRow.id) == endpoint_id)
    await db.exec(lent.values(leased_by=lease, leased_until=func.clock_timestamp() + LEASE))
    delivery, event, partner_uuid = head
    return ClaimedDelivery(lease, endpoint, delivery, event_body(event, partner_uuid))


def event_body(event: EventRow, partner_uuid: UUID | None) -> bytes:
    """The request body of an event's messages. `partner_uuid` is that of its partner; None if it has none."""
    return webhook_body(
        key=event.key,
        type=event.type.value,
        occurred_on=event.occurred_on,
        subject=event.subject,
        data=event.data,
        partner=None if event.partner_id is None or partner_uuid is None else (event.partner_id, partner_uuid),
    )


async def _next_delivery(db: AsyncSession, endpoint_id: int) -> tuple[WebhookDeliveryRow, EventRow, UUID | None] | None:
    query = (
        select(WebhookDeliveryRow, EventRow, PartnerRow.uuid)
        .join(EventRow, col(EventRow.id) == col(WebhookDeliveryRow.event_id))
        .outerjoin(PartnerRow, col(PartnerRow.id) == col(EventRow.partner_id))
        .where(
            col(WebhookDeliveryRow.endpoint_id) == endpoint_id, col(WebhookDeliveryRow.state) == DeliveryState.WAITING
        )
        .order_by(col(WebhookDeliveryRow.event_id))
        .limit(1)
    )
    return (await db.exec(query)).first()


async def _active_sends(db: AsyncSession, host: str) -> int:
    """The number of endpoints of a host that are being sent to. Callers are serialized until their transactions end."""
    await db.exec(select(func.pg_advisory_xact_lock(func.hashtextextended(f"webhooks to {host}", 0))))
    held = select(func.count()).where(
        col(WebhookEndpointRow.host) == host,
        col(WebhookEndpointRow.leased_by).is_not(None),
        col(WebhookEndpointRow.leased_until) > func.clock_timestamp(),
    )
    return (await db.exec(held)).one()


async def record_attempt(
    db: AsyncSession, taken: ClaimedDelivery, answer: SendResult, now: dt.datetime
) -> DeliveryUpdate | None:
    """Record the result of a try and release the endpoint. None if the lease was lost or the endpoint is deleted."""
    held = select(WebhookEndpointRow).where(
        col(WebhookEndpointRow.id) == taken.endpoint.id, col(WebhookEndpointRow.leased_by) == taken.lease
    )
    endpoint = (await db.exec(held.with_for_update(key_share=True))).one_or_none()
    delivery = None if endpoint is None else await db.get(WebhookDeliveryRow, taken.delivery.id)
    if endpoint is None or delivery is None:
        return None
    endpoint.leased_by = endpoint.leased_until = None
    db.add(
        WebhookAttemptRow(
            delivery_id=delivery.id,
            started_on=now - answer.duration,
            duration_ms=answer.duration // dt.timedelta(milliseconds=1),
            outcome=answer.outcome,
            status=answer.status,
            error=answer.error,
            answer=answer.body_excerpt,
        )
    )
    delivery.tries += 1
    delivery.last_status, delivery.last_error, delivery.next_try_on = answer.status, answer.error, None
    noted = _next_update(delivery, answer, now)
    if noted.disabled is not None and endpoint.is_active:
        endpoint.is_active, endpoint.disabled_reason = False, noted.disabled
    await db.flush()
    return noted


def _next_update(delivery: WebhookDeliveryRow, answer: SendResult, now: dt.datetime) -> DeliveryUpdate:
    """Update a message after a try."""
    if answer.outcome is AttemptOutcome.DELIVERED:
        delivery.state, delivery.delivered_on = DeliveryState.DELIVERED, now
        return DeliveryUpdate()
    if answer.outcome is AttemptOutcome.GONE:  # it stays queued: the owner may activate the endpoint again
        return DeliveryUpdate(disabled=DisabledReason.GONE)
    if delivery.tries > len(RETRY_PAUSES):
        delivery.state = DeliveryState.FAILED
        return DeliveryUpdate(disabled=DisabledReason.FAILING)
    usual = RETRY_PAUSES[delivery.tries - 1] * _random.uniform(1, 1 + JITTER)
    pause = max(usual, min(parse_retry_after(answer.retry_after, now), MAX_RETRY_AFTER))
    delivery.next_try_on = now + pause
    return DeliveryUpdate(pause=pause)


def parse_retry_after(retry_after: str | None, now: dt.datetime) -> dt.timedelta:
    """Parse a `Retry-After` header of seconds or a date; zero for any other text."""
    header = (retry_after or "").strip()
    if header.isascii() and header.isdecimal():
        return dt.timedelta(seconds=min(int(header[:10]), 10**9))
    try:
        until = parsedate_to_datetime(header)
    except (ValueError, OverflowError):  # a year may exceed the range of int
        return dt.timedelta()
    return max(dt.timedelta(), until.replace(tzinfo=until.tzinfo or dt.UTC) - now)


async def reset_retries(db: AsyncSession, endpoint_id: int) -> None:
    """Restart the tries of an endpoint's waiting messages, at once."""
    waiting = update(WebhookDeliveryRow).where(
        col(WebhookDeliveryRow.endpoint_id) == endpoint_id,
        col(WebhookDeliveryRow.state) == DeliveryState.WAITING,
        col(WebhookDeliveryRow.tries) > 0,
    )
    await db.exec(waiting.values(tries=0, next_try_on=None))


async def replay_events(
    db: AsyncSession,
    endpoint_id: int,
    *,
    keys: Sequence[str] | None = None,
    since: dt.datetime | None = None,
    until: dt.datetime | None = None,
) -> int:
    """Queue events for an endpoint, again or for the first time: the oldest first, at most 10,000; returns their
    number.

    Messages that already wait are skipped and not counted, so a repeated call queues what exceeded the limit before.
    Events that the endpoint may not see are left out; without `keys`, so are types it does not subscribe to.
    """
    waits = select(WebhookDeliveryRow.id).where(
        col(WebhookDeliveryRow.endpoint_id) == endpoint_id,
        col(WebhookDeliveryRow.event_id) == col(EventRow.id),
        col(WebhookDeliveryRow.state) == DeliveryState.WAITING,
    )
    which: list[Any] = [col(WebhookEndpointRow.id) == endpoint_id, ~waits.exists()]
    if keys is not None:
        which.append(col(EventRow.key).in_(keys))
    else:
        which.append(is_subscribed())
    which += [col(EventRow.occurred_on) >= since] if since else []
    which += [col(EventRow.occurred_on) <= until] if until else []
    chosen = insert(WebhookDeliveryRow).from_select(
        COLUMNS, deliveries_for(*which).order_by(col(EventRow.id)).limit(MAX_REPLAYED)
    )
    again = chosen.on_conflict_do_update(
        constraint="webhook_delivery_message_key",
        set_={"state": DeliveryState.WAITING, "tries": 0, "next_try_on": None},
        where=col(WebhookDeliveryRow.state) != DeliveryState.WAITING,
    )
    return len((await db.exec(again.returning(col(WebhookDeliveryRow.id)))).all())


async def due_endpoints(db: AsyncSession, now: dt.datetime, limit: int) -> Sequence[int]:
    """The endpoints with a message that is due and that no worker is sending to."""
    head = (
        select(WebhookDeliveryRow.next_try_on)
        .where(
            col(WebhookDeliveryRow.endpoint_id) == col(WebhookEndpointRow.id),
            col(WebhookDeliveryRow.state) == DeliveryState.WAITING,
        )
        .order_by(col(WebhookDeliveryRow.event_id))
        .limit(1)
        .lateral("head")
    )
    query = (
        select(WebhookEndpointRow.id)
        .join(head, literal(value=True))
        .where(
            col(WebhookEndpointRow.is_active),
            or_(head.c.next_try_on.is_(None), head.c.next_try_on <= now + EARLY_TOLERANCE),
            or_(
                col(WebhookEndpointRow.leased_until).is_(None),
                col(WebhookEndpointRow.leased_until) <= func.clock_timestamp(),
            ),
        )
        .order_by(func.random())  # failing endpoints must not delay the others
        .limit(limit)
    )
    return (await db.exec(query)).all()

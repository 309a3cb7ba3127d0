"""The line of an endpoint: the oldest message first, by one worker at a time, the next one when that is delivered or given up."""

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
from store.webhook.fan_out import COLUMNS, messages, wanted
from store.webhook.rows import WebhookAttemptRow, WebhookDeliveryRow, WebhookEndpointRow
from store.webhook.sender import Answer
from store.webhook.signing import body_of

PAUSES = tuple(
    dt.timedelta(seconds=seconds)
    for seconds in (5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 14 * 3600, 20 * 3600, 24 * 3600)
)
"""Between the tries of a message: a little more than three days in all."""
JITTER = 0.1
"""By how much of itself a pause is longer at most: what fell at once does not come back at once."""
LONGEST_WISH = dt.timedelta(hours=24)
"""How long a receiver may ask us to wait."""
LEASE = dt.timedelta(seconds=45)
"""How long an endpoint belongs to the worker that sends to it: much longer than a try. Then the worker has died."""
EARLY = dt.timedelta(seconds=2)
"""How far the database's clock, which says when a job runs, may be ahead of ours."""
AT_ONE_HOST = 4
"""To how many endpoints of one host messages are sent at once."""
REPLAYED = 10_000
"""How many messages one replay puts in line."""
_random = random.SystemRandom()


@dataclass(frozen=True)
class Taken:
    """The next message of an endpoint, in the hands of one worker."""

    lease: UUID
    endpoint: WebhookEndpointRow
    delivery: WebhookDeliveryRow
    body: bytes


@dataclass(frozen=True)
class Busy:
    """There may be a message, and as many are being sent as may be, to its host or by this process."""


@dataclass(frozen=True)
class Noted:
    """What a try has led to."""

    pause: dt.timedelta | None = None
    """When the message is tried again; None when it is not."""
    disabled: DisabledReason | None = None


async def take(db: AsyncSession, endpoint_id: int, now: dt.datetime) -> Taken | Busy | None:
    """Take the next message of an endpoint when one is due and nobody else is sending to it.

    Whoever holds the endpoint looks again when it is done, so that nothing which came in meanwhile is overlooked.
    """
    is_held = func.coalesce(col(WebhookEndpointRow.leased_until) > func.clock_timestamp(), literal(value=False))
    asked = select(WebhookEndpointRow, is_held).where(
        col(WebhookEndpointRow.id) == endpoint_id, col(WebhookEndpointRow.is_active)
    )
    found = (await db.exec(asked.with_for_update(key_share=True))).one_or_none()
    if found is None or found[1]:
        return None
    endpoint, head = found[0], await _head(db, endpoint_id)
    if head is None or (head[0].next_try_on is not None and head[0].next_try_on > now + EARLY):
        return None
    if await _sent_to(db, endpoint.host) >= AT_ONE_HOST:
        return Busy()
    lease = uuid4()
    lent = update(WebhookEndpointRow).where(col(WebhookEndpointRow.id) == endpoint_id)
    await db.exec(lent.values(leased_by=lease, leased_until=func.clock_timestamp() + LEASE))
    delivery, event, partner_uuid = head
    return Taken(lease, endpoint, delivery, body(event, partner_uuid))


def body(event: EventRow, partner_uuid: UUID) -> bytes:
    """The body of the messages that tell of an event."""
    return body_of(
        key=event.key,
        type=event.type.value,
        occurred_on=event.occurred_on,
        subject=event.subject,
        data=event.data,
        partner=(event.partner_id, partner_uuid),
    )


async def _head(db: AsyncSession, endpoint_id: int) -> tuple[WebhookDeliveryRow, EventRow, UUID] | None:
    query = (
        select(WebhookDeliveryRow, EventRow, PartnerRow.uuid)
        .join(EventRow, col(EventRow.id) == col(WebhookDeliveryRow.event_id))
        .join(PartnerRow, col(PartnerRow.id) == col(EventRow.partner_id))
        .where(
            col(WebhookDeliveryRow.endpoint_id) == endpoint_id, col(WebhookDeliveryRow.state) == DeliveryState.WAITING
        )
        .order_by(col(WebhookDeliveryRow.event_id))
        .limit(1)
    )
    return (await db.exec(query)).first()


async def _sent_to(db: AsyncSession, host: str) -> int:
    """How many endpoints of a host are being sent to; whoever asks is alone in asking until its transaction ends."""
    await db.exec(select(func.pg_advisory_xact_lock(func.hashtextextended(f"webhooks to {host}", 0))))
    held = select(func.count()).where(
        col(WebhookEndpointRow.host) == host,
        col(WebhookEndpointRow.leased_by).is_not(None),
        col(WebhookEndpointRow.leased_until) > func.clock_timestamp(),
    )
    return (await db.exec(held)).one()


async def note(db: AsyncSession, taken: Taken, answer: Answer, now: dt.datetime) -> Noted | None:
    """Write down how a try ended, and let the endpoint go. None when it was no longer ours, or is deleted."""
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
            answer=answer.beginning,
        )
    )
    delivery.tries += 1
    delivery.last_status, delivery.last_error, delivery.next_try_on = answer.status, answer.error, None
    noted = _judge(delivery, answer, now)
    if noted.disabled is not None and endpoint.is_active:
        endpoint.is_active, endpoint.disabled_reason = False, noted.disabled
    await db.flush()
    return noted


def _judge(delivery: WebhookDeliveryRow, answer: Answer, now: dt.datetime) -> Noted:
    """What becomes of a message."""
    if answer.outcome is AttemptOutcome.DELIVERED:
        delivery.state, delivery.delivered_on = DeliveryState.DELIVERED, now
        return Noted()
    if answer.outcome is AttemptOutcome.GONE:  # it waits: the owner may make the endpoint active again
        return Noted(disabled=DisabledReason.GONE)
    if delivery.tries > len(PAUSES):
        delivery.state = DeliveryState.FAILED
        return Noted(disabled=DisabledReason.FAILING)
    usual = PAUSES[delivery.tries - 1] * _random.uniform(1, 1 + JITTER)
    pause = max(usual, min(wish(answer.retry_after, now), LONGEST_WISH))
    delivery.next_try_on = now + pause
    return Noted(pause=pause)


def wish(retry_after: str | None, now: dt.datetime) -> dt.timedelta:
    """How long a receiver asks us to wait by its `Retry-After`: seconds or a date; nothing when it is neither."""
    told = (retry_after or "").strip()
    if told.isascii() and told.isdecimal():
        return dt.timedelta(seconds=min(int(told[:10]), 10**9))
    try:
        until = parsedate_to_datetime(told)
    except (ValueError, OverflowError):  # a year may be longer than any number
        return dt.timedelta()
    return max(dt.timedelta(), until.replace(tzinfo=until.tzinfo or dt.UTC) - now)


async def forget_failures(db: AsyncSession, endpoint_id: int) -> None:
    """Try what waits for an endpoint from the beginning, at once."""
    waiting = update(WebhookDeliveryRow).where(
        col(WebhookDeliveryRow.endpoint_id) == endpoint_id,
        col(WebhookDeliveryRow.state) == DeliveryState.WAITING,
        col(WebhookDeliveryRow.tries) > 0,
    )
    await db.exec(waiting.values(tries=0, next_try_on=None))


async def replay(
    db: AsyncSession,
    endpoint_id: int,
    *,
    keys: Sequence[str] | None = None,
    since: dt.datetime | None = None,
    until: dt.datetime | None = None,
) -> int:
    """Put events in line for an endpoint again, or for the first time: the oldest first, 10,000 at most; answers how many.

    What waits already waits on and is not counted: asking again at once puts in line what was too much before. An event that
    the endpoint may not see, or a range of types it has not asked for, is left out.
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
        which.append(wanted())
    which += [col(EventRow.occurred_on) >= since] if since else []
    which += [col(EventRow.occurred_on) <= until] if until else []
    chosen = insert(WebhookDeliveryRow).from_select(
        COLUMNS, messages(*which).order_by(col(EventRow.id)).limit(REPLAYED)
    )
    again = chosen.on_conflict_do_update(
        constraint="webhook_delivery_message_key",
        set_={"state": DeliveryState.WAITING, "tries": 0, "next_try_on": None},
        where=col(WebhookDeliveryRow.state) != DeliveryState.WAITING,
    )
    return len((await db.exec(again.returning(col(WebhookDeliveryRow.id)))).all())


async def due(db: AsyncSession, now: dt.datetime, limit: int) -> Sequence[int]:
    """The endpoints that a message could be sent to at this moment, and nobody is sending to."""
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
            or_(head.c.next_try_on.is_(None), head.c.next_try_on <= now + EARLY),
            or_(
                col(WebhookEndpointRow.leased_until).is_(None),
                col(WebhookEndpointRow.leased_until) <= func.clock_timestamp(),
            ),
        )
        .order_by(func.random())  # those that fail to be sent to do not keep the others waiting
        .limit(limit)
    )
    return (await db.exec(query)).all()

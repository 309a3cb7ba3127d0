"""Webhook jobs of the worker: events are fanned out to delivery queues, and each endpoint receives its messages in
order.
"""

import datetime as dt
import time
from collections.abc import Iterable, Sequence

import structlog
from prometheus_client import Counter, Gauge, Histogram
from sqlalchemy import delete, func
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.services import Services
from schema.mail import MailKind
from schema.webhook.webhook import DeliveryState, DisabledReason
from store.account.staff import STAFF_LANGUAGE, staff_of_marketplace
from store.database.loaders import is_any_of
from store.event.events import EventRow
from store.job.jobs import JobKind, enqueue_job
from store.mail.outbox import enqueue_mail
from store.partner.partners import PartnerRow
from store.webhook.fan_out import fan_out_events
from store.webhook.queue import (
    RETRY_PAUSES,
    ClaimedDelivery,
    DeliveryUpdate,
    NoCapacity,
    claim_next,
    due_endpoints,
    record_attempt,
)
from store.webhook.rows import WebhookDeliveryRow, WebhookEndpointRow
from store.webhook.sender import SendResult
from store.webhook.signing import WEBHOOK_SECRET, signed_headers

log = structlog.get_logger(__name__)

ENDPOINT_TIME_SLICE = dt.timedelta(seconds=30)
"""How long one job sends to one endpoint before other jobs get their turn."""
BUSY_PAUSE = dt.timedelta(seconds=1)
SWEEP_BATCH = 500
PRUNE_BATCH = 1_000
TRIES = Counter("coffret_webhook_tries_total", "Attempts to deliver webhooks, by outcome.", ["outcome"])
SECONDS = Histogram("coffret_webhook_seconds", "Duration of an attempt to deliver a webhook.")
DISABLED = Counter("coffret_webhook_endpoints_disabled_total", "Endpoints disabled by the service.", ["reason"])
WAITING = Gauge(
    "coffret_webhook_waiting",
    "Queued messages of active endpoints, counted every minute by one worker.",
    multiprocess_mode="mostrecent",
)
WAITING_SECONDS = Gauge(
    "coffret_webhook_waiting_seconds",
    "Age of the oldest queued message of an active endpoint.",
    multiprocess_mode="mostrecent",
)


async def enqueue_deliveries(
    db: AsyncSession, endpoint_ids: Iterable[int], after: dt.timedelta | None = None, once: str | None = None
) -> None:
    """Enqueue delivery jobs for these endpoints; they run once the session's transaction is committed."""
    for endpoint_id in endpoint_ids:
        await enqueue_job(
            db, JobKind.DELIVER_WEBHOOKS, {"id": endpoint_id}, after=after, unique_key=once and f"{once}:{endpoint_id}"
        )


async def fan_out(services: Services, event_id: int) -> None:
    """Job: add an event, and all earlier events, to the delivery queues of the subscribed endpoints."""
    async with services.db.sessions() as db:
        done = (await db.exec(select(EventRow.is_sorted).where(EventRow.id == event_id))).first()
    if done is False:  # neither fanned out with another event nor deleted
        await _fan_out_all(services)


async def _fan_out_all(services: Services) -> None:
    event_count = 1
    while event_count:
        async with services.db.sessions() as db, db.begin():
            event_count, endpoint_ids = await fan_out_events(db)
            await enqueue_deliveries(db, endpoint_ids)


async def deliver(services: Services, endpoint_id: int) -> None:
    """Job: send the due messages of an endpoint in order, until one fails, none is left, or the time slice ends.

    Delivery is at least once: after a crash between the response and its record, the message is sent again with the
    same `webhook-id`. If another worker holds the endpoint, that worker also sends the messages queued meanwhile.
    """
    ends = time.monotonic() + ENDPOINT_TIME_SLICE.total_seconds()
    while time.monotonic() < ends:
        taken = await _claim_delivery(services, endpoint_id)
        if taken is None:
            return
        noted = await _record_answer(services, taken, await _send(services, taken))
        if noted is None or noted.pause is not None or noted.disabled is not None:
            return
    async with services.db.sessions() as db, db.begin():
        await enqueue_deliveries(db, [endpoint_id])


async def _claim_delivery(services: Services, endpoint_id: int) -> ClaimedDelivery | None:
    now = services.clock.now()
    async with services.db.sessions() as db, db.begin():
        taken = NoCapacity() if services.webhook_sender.is_full else await claim_next(db, endpoint_id, now)
        if isinstance(taken, NoCapacity):
            # Each event has its own job. Jobs without capacity merge into one by their unique key, or all of them would
            # retry every second. The key contains the second, so it differs from that of the running job.
            await enqueue_deliveries(db, [endpoint_id], after=BUSY_PAUSE, once=f"busy {now:%H:%M:%S}")
            return None
        return taken


async def _send(services: Services, taken: ClaimedDelivery) -> SendResult:
    now = services.clock.now()
    secrets = WEBHOOK_SECRET.secrets_of(services.settings.secret, taken.endpoint, now)
    headers = signed_headers(taken.delivery.key, taken.body, now, secrets)
    answer = await services.webhook_sender.send(taken.endpoint.url, headers, taken.body)
    TRIES.labels(answer.outcome.value).inc()
    SECONDS.observe(answer.duration.total_seconds())
    return answer


async def _record_answer(services: Services, taken: ClaimedDelivery, answer: SendResult) -> DeliveryUpdate | None:
    async with services.db.sessions() as db, db.begin():
        noted = await record_attempt(db, taken, answer, services.clock.now())
        if noted is not None and noted.pause is not None:
            await enqueue_deliveries(db, [taken.endpoint.id], after=noted.pause)
        if noted is not None and noted.disabled is not None:
            await _tell_owner(db, taken.endpoint, noted.disabled)
    bound_log = log.bind(endpoint=taken.endpoint.id, message=taken.delivery.key, outcome=answer.outcome.value)
    if noted is None:
        bound_log.warning("the result of a webhook was dropped because another worker had taken over its endpoint")
    elif noted.disabled is not None:
        DISABLED.labels(noted.disabled.value).inc()
        bound_log.warning("a webhook endpoint was disabled", reason=noted.disabled.value)
    else:
        bound_log.info("a webhook was sent", status=answer.status, again_in=noted.pause and noted.pause.total_seconds())
    return noted


async def _tell_owner(db: AsyncSession, endpoint: WebhookEndpointRow, reason: DisabledReason) -> None:
    """Notify the partner by mail, or all active users of the marketplace."""
    failing = round(sum(RETRY_PAUSES, dt.timedelta()) / dt.timedelta(days=1))
    days = 0 if reason is DisabledReason.GONE else failing
    about = {"url": endpoint.url, "endpoint_id": endpoint.id, "days": days}
    for to, language in await _owners(db, endpoint):
        await enqueue_mail(
            db,
            MailKind.ENDPOINT_DISABLED,
            to=to,
            language=language,
            partner_id=endpoint.partner_id,
            marketplace_id=endpoint.marketplace_id,
            about=about,
        )


async def _owners(db: AsyncSession, endpoint: WebhookEndpointRow) -> Sequence[tuple[str, str]]:
    if endpoint.partner_id is not None:
        query = select(PartnerRow.agency_email, PartnerRow.language).where(PartnerRow.id == endpoint.partner_id)
        return (await db.exec(query)).all()
    return [(user.email, STAFF_LANGUAGE) for user in await staff_of_marketplace(db, endpoint.marketplace_id)]


async def sweep(services: Services) -> int:
    """Restart deliveries whose job was lost, and update the gauges; returns the number of endpoints."""
    await _fan_out_all(services)
    now = services.clock.now()
    async with services.db.sessions() as db, db.begin():
        endpoint_ids = await due_endpoints(db, now, SWEEP_BATCH)
        await enqueue_deliveries(db, endpoint_ids, once="swept")
        waiting, since = await _waiting(db)
    WAITING.set(waiting)
    WAITING_SECONDS.set(max(now - since, dt.timedelta()).total_seconds() if since else 0)
    return len(endpoint_ids)


async def _waiting(db: AsyncSession) -> tuple[int, dt.datetime | None]:
    query = (
        select(func.count(), func.min(WebhookDeliveryRow.created_on))
        .select_from(WebhookDeliveryRow)
        .join(WebhookEndpointRow, col(WebhookEndpointRow.id) == col(WebhookDeliveryRow.endpoint_id))
        .where(col(WebhookEndpointRow.is_active), col(WebhookDeliveryRow.state) == DeliveryState.WAITING)
    )
    return (await db.exec(query)).one()


async def prune_events(services: Services) -> int:
    """Delete events older than `event_days`, with their messages; returns their number."""
    before = services.clock.now() - dt.timedelta(days=services.settings.event_days)
    old = select(EventRow.id).where(col(EventRow.occurred_on) < before).limit(PRUNE_BATCH)
    deleted = 0
    while True:
        async with services.db.sessions() as db, db.begin():
            ids = (await db.exec(old)).all()
            await db.exec(delete(EventRow).where(is_any_of(col(EventRow.id), ids)))
        if not ids:
            return deleted
        deleted += len(ids)

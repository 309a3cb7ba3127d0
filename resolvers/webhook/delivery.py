"""What the worker does about webhooks: events are put in line, messages are sent, one after another for each endpoint."""

import datetime as dt
import time
from collections.abc import Iterable, Sequence

import structlog
from prometheus_client import Counter, Gauge, Histogram
from sqlalchemy import delete, func
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.context import Services
from schema.mail import MailKind
from schema.partner.partner import UserRole
from schema.webhook.webhook import DeliveryState, DisabledReason
from store.database.loaders import among
from store.event.events import EventRow
from store.job.jobs import Job, enqueue
from store.mail.outbox import post
from store.partner.partners import PartnerRow, UserRow
from store.webhook.fan_out import sort_events
from store.webhook.queue import PAUSES, Busy, Noted, Taken, due, note, take
from store.webhook.rows import WebhookDeliveryRow, WebhookEndpointRow
from store.webhook.sender import Answer
from store.webhook.signing import WEBHOOK_SECRET, headers_of

log = structlog.get_logger(__name__)

TURN = dt.timedelta(seconds=30)
"""How long one job sends to one endpoint; then the others have their turn."""
BUSY_PAUSE = dt.timedelta(seconds=1)
SWEPT = 500
FORGOTTEN_AT_ONCE = 1_000
SENT = Counter("coffret_webhook_tries_total", "Tries to deliver webhooks, by how they ended.", ["outcome"])
SECONDS = Histogram("coffret_webhook_seconds", "Time of a try to deliver a webhook.")
DISABLED = Counter("coffret_webhook_endpoints_disabled_total", "Endpoints that we have disabled.", ["reason"])
WAITING = Gauge(
    "coffret_webhook_waiting",
    "Messages of active endpoints in line, counted each minute by one worker.",
    multiprocess_mode="mostrecent",
)
WAITING_SECONDS = Gauge("coffret_webhook_waiting_seconds", "Age of the oldest of them.", multiprocess_mode="mostrecent")


async def wake(
    db: AsyncSession, endpoint_ids: Iterable[int], after: dt.timedelta | None = None, once: str | None = None
) -> None:
    """Have a worker look at what is in line for these endpoints, once the session's transaction is committed."""
    for endpoint_id in endpoint_ids:
        await enqueue(db, Job.DELIVER_WEBHOOKS, {"id": endpoint_id}, after=after, once=once and f"{once}:{endpoint_id}")


async def sort(services: Services, event_id: int) -> None:
    """Put an event in line for the endpoints that want it, and every event before it."""
    async with services.db.sessions() as db:
        done = (await db.exec(select(EventRow.is_sorted).where(EventRow.id == event_id))).first()
    if done is False:  # it was not sorted with another, nor deleted
        await _sort_all(services)


async def _sort_all(services: Services) -> None:
    found = 1
    while found:
        async with services.db.sessions() as db, db.begin():
            found, told = await sort_events(db)
            await wake(db, told)


async def deliver(services: Services, endpoint_id: int) -> None:
    """Send an endpoint what is due, in order, until it fails, nothing is left, or others want their turn.

    At least once: whoever dies between the answer and our note of it leaves the message to be sent again, under the same
    `webhook-id`. What has been put in line by the time another worker finds the endpoint taken is sent by the one who has it.
    """
    ends = time.monotonic() + TURN.total_seconds()
    while time.monotonic() < ends:
        taken = await _take(services, endpoint_id)
        if taken is None:
            return
        noted = await _note(services, taken, await _send(services, taken))
        if noted is None or noted.pause is not None or noted.disabled is not None:
            return
    async with services.db.sessions() as db, db.begin():
        await wake(db, [endpoint_id])


async def _take(services: Services, endpoint_id: int) -> Taken | None:
    now = services.clock.now()
    async with services.db.sessions() as db, db.begin():
        taken = Busy() if services.webhooks.is_full else await take(db, endpoint_id, now)
        if isinstance(taken, Busy):
            # Each event has a job of its own: those that find no room become one, or they would look again every second
            # for all that happens meanwhile. The job that runs has the name of an earlier second, if any.
            await wake(db, [endpoint_id], after=BUSY_PAUSE, once=f"busy {now:%H:%M:%S}")
            return None
        return taken


async def _send(services: Services, taken: Taken) -> Answer:
    now = services.clock.now()
    secrets = WEBHOOK_SECRET.secrets_of(services.settings.secret, taken.endpoint, now)
    headers = headers_of(taken.delivery.key, taken.body, now, secrets)
    answer = await services.webhooks.send(taken.endpoint.url, headers, taken.body)
    SENT.labels(answer.outcome.value).inc()
    SECONDS.observe(answer.duration.total_seconds())
    return answer


async def _note(services: Services, taken: Taken, answer: Answer) -> Noted | None:
    async with services.db.sessions() as db, db.begin():
        noted = await note(db, taken, answer, services.clock.now())
        if noted is not None and noted.pause is not None:
            await wake(db, [taken.endpoint.id], after=noted.pause)
        if noted is not None and noted.disabled is not None:
            await _tell_owner(db, taken.endpoint, noted.disabled)
    told = log.bind(endpoint=taken.endpoint.id, message=taken.delivery.key, outcome=answer.outcome.value)
    if noted is None:
        told.warning("a webhook was sent for an endpoint that was not ours any more")
    elif noted.disabled is not None:
        DISABLED.labels(noted.disabled.value).inc()
        told.warning("a webhook endpoint was disabled", reason=noted.disabled.value)
    else:
        told.info("a webhook was sent", status=answer.status, again_in=noted.pause and noted.pause.total_seconds())
    return noted


async def _tell_owner(db: AsyncSession, endpoint: WebhookEndpointRow, reason: DisabledReason) -> None:
    """Write to the partner, or to everybody who works for the marketplace."""
    failing = round(sum(PAUSES, dt.timedelta()) / dt.timedelta(days=1))
    days = 0 if reason is DisabledReason.GONE else failing
    about = {"url": endpoint.url, "endpoint_id": endpoint.id, "days": days}
    for to, language in await _owners(db, endpoint):
        await post(
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
    users = select(UserRow.email).where(
        UserRow.marketplace_id == endpoint.marketplace_id,
        UserRow.role == UserRole.MARKETPLACE,
        UserRow.is_active,
        UserRow.email != "",
    )
    return [(email, "en") for email in (await db.exec(users)).all()]


async def sweep(services: Services) -> int:
    """Do what a job that was lost had to do, and measure what waits; answers how many endpoints are sent to again."""
    await _sort_all(services)
    now = services.clock.now()
    async with services.db.sessions() as db, db.begin():
        found = await due(db, now, SWEPT)
        await wake(db, found, once="swept")
        waiting, since = await _waiting(db)
    WAITING.set(waiting)
    WAITING_SECONDS.set(max(now - since, dt.timedelta()).total_seconds() if since else 0)
    return len(found)


async def _waiting(db: AsyncSession) -> tuple[int, dt.datetime | None]:
    query = (
        select(func.count(), func.min(WebhookDeliveryRow.created_on))
        .select_from(WebhookDeliveryRow)
        .join(WebhookEndpointRow, col(WebhookEndpointRow.id) == col(WebhookDeliveryRow.endpoint_id))
        .where(col(WebhookEndpointRow.is_active), col(WebhookDeliveryRow.state) == DeliveryState.WAITING)
    )
    return (await db.exec(query)).one()


async def forget(services: Services) -> int:
    """Delete the events that are older than the setting says, with all that was sent of them; answers how many."""
    before = services.clock.now() - dt.timedelta(days=services.settings.event_days)
    old = select(EventRow.id).where(col(EventRow.occurred_on) < before).limit(FORGOTTEN_AT_ONCE)
    deleted = 0
    while True:
        async with services.db.sessions() as db, db.begin():
            ids = (await db.exec(old)).all()
            await db.exec(delete(EventRow).where(among(col(EventRow.id), ids)))
        if not ids:
            return deleted
        deleted += len(ids)

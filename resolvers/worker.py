"""What runs beside the requests: jobs, and the looks at attempts that are not final. Any number of workers, one effect."""

import asyncio
import datetime as dt
import uuid
from collections.abc import Awaitable, Callable

import asyncpg
import orjson
import structlog
from pgqueuer import DatabaseRetryEntrypointExecutor, PgQueuer
from pgqueuer.domain.models import Context as JobContext
from pgqueuer.domain.models import Job as QueuedJob
from pgqueuer.domain.models import Schedule
from pgqueuer.errors import RetryRequested
from sqlmodel import col, select

from resolvers.context import Services
from resolvers.settlement import drop_cart, next_check, read_attempt, settle, wait
from store.attempts import WATCHED, AttemptRow, AttemptState
from store.jobs import Job, enqueue
from store.providers.base import NotFound as UnknownToProvider
from store.providers.base import ProviderError, TransactionKind, TransactionStatus

log = structlog.get_logger(__name__)
Handler = Callable[[QueuedJob], Awaitable[None]]
EACH_SWEEP = 200
AT_ONCE = 40
"""How many jobs a worker runs beside each other: they share their connections with the requests of the process."""
TRIES = 30
"""How often a job that fails is run, after pauses from one second to five minutes: about two hours in all."""
CATCH_UP = dt.timedelta(hours=2)


async def settle_attempt(services: Services, attempt_id: uuid.UUID) -> None:
    """One look at one attempt. A provider that can't answer now is asked again later, ever more rarely."""
    try:
        await settle(services, attempt_id)
    except ProviderError as error:
        log.warning("the provider could not tell how an attempt stands", attempt=str(attempt_id), error=str(error))
        await wait(services, attempt_id)


async def follow_hint(services: Services, kind: TransactionKind, transaction_id: str) -> None:
    """Something happened at the provider: look at the attempt it belongs to, if it is one of ours."""
    column = AttemptRow.payin_id if kind is TransactionKind.PAYIN else AttemptRow.refund_id
    async with services.db.sessions() as db:
        known = (await db.exec(select(AttemptRow.id).where(col(column) == transaction_id))).first()
    if known is not None and kind is TransactionKind.PAYIN:
        await _believe(services, known, transaction_id)
    found = known or await _named(services, kind, transaction_id)
    if found is not None:
        await settle_attempt(services, found)


async def _believe(services: Services, attempt_id: uuid.UUID, payin_id: str) -> None:
    """Take up an attempt again that we were told had failed, should its pay-in be paid after all."""
    if (await read_attempt(services, attempt_id)).state is not AttemptState.FAILED:
        return
    payin = await services.provider.get_transaction(TransactionKind.PAYIN, payin_id)
    if payin.status is TransactionStatus.SUCCEEDED:
        log.error("a failed payment is paid after all", attempt=str(attempt_id), payin=payin_id)
        await wait(services, attempt_id, payin)


async def _named(services: Services, kind: TransactionKind, transaction_id: str) -> uuid.UUID | None:
    """The attempt that a transaction refers to, for one whose id was lost with the answer that told it."""
    try:
        transaction = await services.provider.get_transaction(kind, transaction_id)
        attempt_id = uuid.UUID(transaction.reference)
    except (UnknownToProvider, ValueError):
        return None
    async with services.db.sessions() as db:
        known = await db.get(AttemptRow, attempt_id)
    if known is not None and kind is TransactionKind.PAYIN and not known.payin_id:
        await wait(services, attempt_id, transaction)
    return attempt_id if known else None


async def sweep(services: Services) -> int:
    """Enqueue a look at every attempt that is due; answers how many.

    Each has its next look set at once, so that some whose looks fail never keep the others waiting.
    """
    now = services.clock.now()
    async with services.db.sessions() as db, db.begin():
        due = (
            select(AttemptRow)
            .where(col(AttemptRow.state).in_(WATCHED), col(AttemptRow.check_on) <= now)
            .order_by(col(AttemptRow.check_on))
            .limit(EACH_SWEEP)
            .with_for_update(skip_locked=True)
        )
        rows = (await db.exec(due)).all()
        for row in rows:
            row.check_on = next_check(row, now)
            await enqueue(db, Job.SETTLE_ATTEMPT, {"id": row.id}, once=str(row.id))
        return len(rows)


async def catch_up(services: Services) -> int:
    """Read the provider's events of the last hours, for notifications that never came; answers how many there were."""
    count = 0
    async for hint in services.provider.events_since(services.clock.now() - CATCH_UP):
        count += 1
        async with services.db.sessions() as db, db.begin():
            payload = {"kind": hint.kind, "id": hint.resource_id}
            await enqueue(db, Job.PROVIDER_HINT, payload, once=f"{hint.kind}:{hint.resource_id}")
    return count


class TriedAgain(DatabaseRetryEntrypointExecutor):
    """Runs a job, and puts it back for later when it fails. Each failure is told: the last one alone would come hours later."""

    async def execute(self, job: QueuedJob, context: JobContext) -> None:
        """Run it once."""
        try:
            await super().execute(job, context)
        except RetryRequested as retry:
            log.warning("a job failed and is tried again", job=job.entrypoint, tries=job.attempts + 1, exc_info=retry)
            raise


def queue(services: Services, pool: asyncpg.Pool) -> PgQueuer:
    """The job queue with a handler for every kind of job."""
    made = PgQueuer.from_asyncpg_pool(pool)

    def handles(job: Job) -> Callable[[Handler], Handler]:
        return made.entrypoint(job, executor_factory=lambda parameters: TriedAgain(parameters, max_attempts=TRIES))

    @handles(Job.SETTLE_ATTEMPT)
    async def _settle(job: QueuedJob) -> None:
        await settle_attempt(services, uuid.UUID(orjson.loads(job.payload or b"{}")["id"]))

    @handles(Job.DROP_CART)
    async def _drop(job: QueuedJob) -> None:
        said = orjson.loads(job.payload or b"{}")
        await drop_cart(services, said["partner_id"], uuid.UUID(said["cart_id"]), said["last_modified"])

    @handles(Job.PROVIDER_HINT)
    async def _hint(job: QueuedJob) -> None:
        said = orjson.loads(job.payload or b"{}")
        await follow_hint(services, TransactionKind(said["kind"]), said["id"])

    @made.schedule("sweep_attempts", "* * * * *")
    async def _sweep(_schedule: Schedule) -> None:
        await sweep(services)

    @made.schedule("provider_catch_up", "*/15 * * * *")
    async def _catch_up(_schedule: Schedule) -> None:
        try:
            await catch_up(services)
        except ProviderError as error:
            log.warning("the provider's events could not be read", error=str(error))

    return made


async def work(services: Services, dsn: str) -> None:
    """Run jobs until cancelled. Whatever ends the queue (a lost connection, a listener that hears nothing), it begins anew."""
    while True:
        try:
            async with asyncpg.create_pool(dsn, min_size=1, max_size=4) as pool:
                patience = dt.timedelta(seconds=5)
                await queue(services, pool).run(
                    dequeue_timeout=patience, max_concurrent_tasks=AT_ONCE, shutdown_on_listener_failure=True
                )
        except Exception:
            log.exception("the worker begins anew")
        await asyncio.sleep(1)

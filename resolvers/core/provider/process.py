"""Durable calls to the payment provider. A process that dies between any two steps leaves a row from which the next
one goes on.

1. The row is stored, with the keys of all its calls, and committed.
2. The provider is called. No transaction is open meanwhile.
3. Its answer is recorded in one transaction, under the row's lock. What is final by then stays as it is.

If the answer is lost, it is looked up: when the request is repeated, when the provider notifies, or when the worker
checks the row because it is due.
"""

import asyncio
import datetime as dt
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

import structlog
from sqlalchemy import ColumnElement
from sqlmodel import SQLModel
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.provider.calls import REFUSALS
from resolvers.core.services import Services
from store.core.provider_process import CheckedRow, due_rows
from store.job.jobs import JobKind, enqueue_job
from store.providers.errors import CallHeldBack, ProviderError, TransientError

log = structlog.get_logger(__name__)
R = TypeVar("R", bound=SQLModel)
C = TypeVar("C", bound=CheckedRow)
A = TypeVar("A")
SWEEP_BATCH = 200
SWEEP_AHEAD = dt.timedelta(seconds=15)
"""What is due so soon is swept now. Sweeps run every minute, and what a check makes due a minute later would always be a
moment too late for the next one.
"""


@dataclass(frozen=True)
class Recording:
    """The transaction in which an answer of the provider is recorded."""

    services: Services
    db: AsyncSession

    @property
    def now(self) -> dt.datetime:
        """The current time."""
        return self.services.clock.now()


@dataclass(frozen=True)
class RefusedCall(Generic[R]):
    """A call that the provider refused: the row as it was then, and the error."""

    row: R
    error: ProviderError


@dataclass(frozen=True, kw_only=True)
class ProviderCall(Generic[R, A]):
    """What becomes of the provider's answers about a row. `record` and `refuse` run under the lock that `lock` takes."""

    lock: Callable[[AsyncSession, R], Awaitable[R]]
    """Locks and reloads the row."""
    record: Callable[[Recording, R, A], Awaitable[R]]
    """Applies an answer, which may be repeated, late or outdated; returns the row that it is about."""
    refuse: Callable[[Recording, R, RefusedCall[R]], Awaitable[None]] | None = None
    """Applies a refusal to the row: nothing was done, and the provider will repeat the refusal for this key."""
    refusals: tuple[type[ProviderError], ...] = REFUSALS

    async def send(
        self, services: Services, row: R, answer: Awaitable[A], *, time_limit: dt.timedelta | None = None
    ) -> R:
        """Send the call of a stored row, or repeat it with its key, and record the outcome.

        Raises ProviderError: after a refusal, which is recorded; otherwise nothing is known about the outcome.
        """
        return await self.save(services, row, await self.ask(services, row, answer, time_limit=time_limit))

    async def look_up(
        self, services: Services, row: R, answer: Awaitable[A], *, time_limit: dt.timedelta | None = None
    ) -> R:
        """Record what the provider tells about a row. Raises ProviderError; then nothing is recorded."""
        return await self.save(services, row, await _received(answer, time_limit))

    async def ask(
        self, services: Services, row: R, answer: Awaitable[A], *, time_limit: dt.timedelta | None = None
    ) -> A:
        """The first half of `send`: the answer of a call, not yet recorded unless it is a refusal."""
        try:
            return await _received(answer, time_limit)
        except self.refusals as error:
            if self.refuse is not None:
                async with services.db.sessions() as db, db.begin():
                    await self.refuse(Recording(services, db), await self.lock(db, row), RefusedCall(row, error))
            raise

    async def save(self, services: Services, row: R, answer: A) -> R:
        """The second half: record an answer under the row's lock."""
        async with services.db.sessions() as db, db.begin():
            return await self.record(Recording(services, db), await self.lock(db, row), answer)


async def _received(answer: Awaitable[A], time_limit: dt.timedelta | None) -> A:
    """The answer. One that exceeds the time limit is like one that is lost."""
    try:
        async with asyncio.timeout(time_limit.total_seconds() if time_limit else None):
            return await answer
    except TimeoutError as error:
        raise TransientError(f"The provider has not answered within {time_limit}.") from error


@dataclass(frozen=True, kw_only=True)
class ProviderChecks(Generic[C]):
    """The periodic checks of a table's rows, each by a job of its own."""

    row: type[C]
    job: JobKind
    id: str = "id"
    """The column that identifies a row, and its name in the payload of the job."""
    next_check: Callable[[C, dt.datetime], dt.datetime | None]
    """When a row is checked again, unless the check itself decides otherwise."""
    check: Callable[[Services, Any], Awaitable[object]]
    """Asks the provider about the row with an id, and records the answer."""
    unanswered: Callable[[Services, Any], Awaitable[object]] | None = None
    """What happens if the provider could not tell."""
    conditions: tuple[ColumnElement[bool], ...] = ()
    """Which rows are checked at all, beside being due."""
    batch: int = SWEEP_BATCH

    async def sweep(self, services: Services) -> int:
        """Enqueue a check of every row that is due; returns their number.

        The next check is scheduled at once, so that failing checks do not block others.
        """
        async with services.db.sessions() as db, db.begin():
            now = services.clock.now()
            rows = await due_rows(db, self.row, now + SWEEP_AHEAD, self.batch, *self.conditions)
            for row in rows:
                row.check_on = self.next_check(row, now)
                id = getattr(row, self.id)
                await enqueue_job(db, self.job, {self.id: id}, unique_key=str(id))
            return len(rows)

    async def poll(self, services: Services, id: Any) -> None:
        """Job: check one row. If the provider is unavailable, the next check follows after a growing pause.

        Raises `CallHeldBack`, after which the worker runs the job again.
        """
        try:
            await self.check(services, id)
        except CallHeldBack:
            await self._leave_unanswered(services, id)
            raise
        except (ProviderError, TimeoutError) as error:
            log.warning("a status could not be read from the provider", job=self.job, id=str(id), error=repr(error))
            await self._leave_unanswered(services, id)

    async def _leave_unanswered(self, services: Services, id: Any) -> None:
        if self.unanswered is not None:
            await self.unanswered(services, id)

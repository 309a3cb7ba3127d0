"""Log entries that must not delay the request they describe: buffered, and written in batches."""

import asyncio
import contextlib
import itertools
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import asyncpg
import structlog
from prometheus_client import Counter, Gauge
from sqlalchemy import TextClause, text
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from sqlalchemy.ext.asyncio import AsyncConnection

from schema.core.errors import Unavailable
from store.database.db import Database

log = structlog.get_logger(__name__)
EntryBuilder = Callable[[], bytes]
"""Builds an entry later, so that its cost is not part of the request."""
FLUSH_INTERVAL = 0.5
"""Seconds between two writes."""
MAX_RETRY_PAUSE = 5.0
"""Maximum seconds between two tries while the database is away."""
TIMEOUT = 3.0
"""Seconds for a write that somebody waits for: a request, or the end of the program."""
WRITE_BATCH_SIZE = 2_000
"""Entries per statement. In a busy process a statement waits for the requests of half a second, so there must be
few: batches of 500, in six steps, wrote only a third of the entries of 1,100 requests a second."""
BUILD_BATCH_SIZE = 1_000
"""Entries built before other tasks of the process get a turn: about thirty milliseconds."""
MAX_ENTRIES = 20_000
MAX_BYTES = 32 * 1024 * 1024
DATABASE_ERRORS = (TimeoutError, OSError, SQLAlchemyError, asyncpg.PostgresError, asyncpg.InterfaceError, Unavailable)
RESERVE_IDS = text("SELECT nextval(pg_get_serial_sequence(:name, 'id')) FROM generate_series(1, :number)")


@dataclass(frozen=True, slots=True)
class LogTable:
    """A table that entries are added to. `insert` takes them as a JSON list, `entries`, with their `ids`."""

    name: str
    insert: TextClause
    lost: Counter
    """Counts entries that never reached the table."""
    waiting: Gauge
    """The number of entries that wait to be written."""

    async def reserve_ids(self, connection: AsyncConnection, number: int) -> list[int]:
        """Reserve ids for this many entries."""
        return [row[0] for row in await connection.execute(RESERVE_IDS, {"name": self.name, "number": number})]

    async def write_entries(self, connection: AsyncConnection, ids: Sequence[int], entries: Sequence[bytes]) -> None:
        """Write entries under ids that were reserved for them; existing entries stay unchanged."""
        await connection.execute(self.insert, {"entries": f"[{b','.join(entries).decode()}]", "ids": list(ids)})


class EntryBuffer:
    """A bounded buffer before a log. It writes nothing while it is empty.

    A request that produces entries faster than the database takes them waits in `wait_for_room`, so that none is lost.
    While the database is away nobody waits: entries are buffered as far as they fit and written once, even if the
    response to a write was lost. Entries that do not fit are counted, in the program's log and in the table's counter.
    """

    def __init__(self, db: Database, table: LogTable) -> None:
        self._db = db
        self._table = table
        self._drafts: deque[EntryBuilder] = deque()
        self._entries: deque[bytes] = deque()
        self._bytes = 0
        self._ids: list[int] = []
        """Ids reserved for the first entries, so that writing them again changes nothing."""
        self._at_once = WRITE_BATCH_SIZE
        self._ended = 0
        """Number of entries that were written or lost."""
        self._lost = 0
        self._task: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self._is_unreachable = False
        """True if the last write failed."""
        self._written = asyncio.Event()
        """Set and replaced after each write, successful or not."""

    @property
    def is_full(self) -> bool:
        """True if the next entry does not fit."""
        return len(self._drafts) + len(self._entries) >= MAX_ENTRIES or self._bytes >= MAX_BYTES

    async def wait_for_room(self) -> None:
        """Wait until an entry fits: three seconds at most, and only while the database accepts entries."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(TIMEOUT):
                while self.is_full and not self._is_unreachable:
                    await self._written.wait()

    def put(self, draft: EntryBuilder) -> None:
        """Queue an entry. Never waits; without room the entry is lost and counted."""
        if self.is_full:
            self._count_lost()
            return
        self._drafts.append(draft)
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name=f"buffer of {self._table.name}")

    async def write(self, draft: EntryBuilder) -> None:
        """Write an entry now, or later if the database does not accept it."""
        self.put(draft)
        try:
            async with asyncio.timeout(TIMEOUT):
                await self.flush()
        except DATABASE_ERRORS as error:
            log.warning("an entry could not be written yet", table=self._table.name, error=str(error))

    async def flush(self) -> None:
        """Write all current entries. Raises the errors of the database; unwritten entries then stay in the buffer."""
        async with self._writing:
            target = self._ended + len(self._drafts) + len(self._entries)
            while self._ended < target:
                await self._build_entries()
                if self._entries:
                    await self._write_batch()

    async def _write_batch(self) -> None:
        """Write the first entries. If one of them is invalid, halve the batch until that one is found and left out."""
        batch = list(itertools.islice(self._entries, self._at_once))
        try:
            async with self._db.autocommit_engine.connect() as connection:  # autocommit: one round trip per statement
                if len(self._ids) < len(batch):
                    self._ids += await self._table.reserve_ids(connection, WRITE_BATCH_SIZE)
                await self._table.write_entries(connection, self._ids[: len(batch)], batch)
        except DBAPIError as error:
            if not _is_data_error(error):
                self._notify_waiters(away=True)
                raise
            if len(batch) == 1:
                log.exception("an entry could not be written", table=self._table.name)
                self._drop_first(1)
                self._count_lost()
            self._at_once = max(1, len(batch) // 2)
        except DATABASE_ERRORS:
            self._notify_waiters(away=True)
            raise
        else:
            self._drop_first(len(batch))
            self._at_once = min(WRITE_BATCH_SIZE, 2 * self._at_once)
            self._notify_waiters(away=False)

    def _notify_waiters(self, *, away: bool) -> None:
        self._is_unreachable = away
        self._written.set()
        self._written = asyncio.Event()

    async def aclose(self) -> None:
        """Write the remaining entries. Those that the database does not accept in three seconds are lost and logged."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        try:
            async with asyncio.timeout(TIMEOUT):
                await self.flush()
        except DATABASE_ERRORS:
            self._count_lost(len(self._drafts) + len(self._entries))
            self._drafts.clear()
            self._drop_first(len(self._entries))
            self._report_waiting()

    async def _run(self) -> None:
        pause = FLUSH_INTERVAL
        while self._drafts or self._entries:
            await asyncio.sleep(pause)
            try:
                await self.flush()
            except DATABASE_ERRORS as error:
                pause = min(2 * pause, MAX_RETRY_PAUSE)
                log.warning(
                    "entries wait for the database",
                    table=self._table.name,
                    waiting=len(self._entries),
                    error=str(error),
                )
            else:
                pause = FLUSH_INTERVAL
            self._report_waiting()
        self._task = None

    async def _build_entries(self) -> None:
        """Build the queued entries, as far as they fit. An entry that cannot be built does not affect the others."""
        for number in range(1, len(self._drafts) + 1):
            if self._bytes >= MAX_BYTES and not self._is_unreachable:
                return  # until some are written
            try:
                entry = self._drafts.popleft()()
            except Exception:
                log.exception("an entry could not be built", table=self._table.name)
                self._ended += 1
                self._count_lost()
                continue
            if self._bytes >= MAX_BYTES:
                self._ended += 1
                self._count_lost()
                continue
            self._entries.append(bytes(memoryview(entry)))  # orjson's buffer takes 4 KB, whatever its content
            self._bytes += len(entry)
            if number % BUILD_BATCH_SIZE == 0:
                await asyncio.sleep(0)

    def _drop_first(self, number: int) -> None:
        for _ in range(number):
            self._bytes -= len(self._entries.popleft())
        del self._ids[:number]
        self._ended += number
        self._table.waiting.set(len(self._drafts) + len(self._entries))

    def _count_lost(self, number: int = 1) -> None:
        self._lost += number
        self._table.lost.inc(number)

    def _report_waiting(self) -> None:
        if self._lost:
            log.error("entries were lost", table=self._table.name, lost=self._lost)
            self._lost = 0


def _is_data_error(error: DBAPIError) -> bool:
    """True if the entries are at fault, rather than the database or the connection to it."""
    cause = getattr(error.orig, "__cause__", None)
    return isinstance(cause, ValueError | asyncpg.DataError | asyncpg.IntegrityConstraintViolationError)

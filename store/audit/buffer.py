"""Entries of the audit log that must not hold up the request they tell of: collected, and written many at a time."""

import asyncio
import contextlib
import itertools
from collections import deque
from collections.abc import Callable

import asyncpg
import structlog
from prometheus_client import Counter, Gauge
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from schema.core.errors import Unavailable
from store.audit.entries import reserve, write_all
from store.database.db import Database

log = structlog.get_logger(__name__)
Draft = Callable[[], bytes]
"""Makes an entry, later: what an entry costs is no part of the request."""
EVERY = 0.5
"""Seconds between two writes."""
LONGEST_PAUSE = 5.0
"""Seconds between two tries while the database is away."""
PATIENCE = 3.0
"""Seconds for a write that somebody waits for: a request, the end of the program."""
AT_ONCE = 2_000
"""Entries that one statement writes. Where a process is busy a statement waits for the requests of half a second, so there
must be few: 500 at a time, in six steps, wrote a third of what 1,100 requests a second left."""
MADE_AT_ONCE = 1_000
"""Entries made between two looks at what else the process has to do: some thirty milliseconds."""
MOST_ENTRIES = 20_000
MOST_BYTES = 32 * 1024 * 1024
OUTAGES = (TimeoutError, OSError, SQLAlchemyError, asyncpg.PostgresError, asyncpg.InterfaceError, Unavailable)
LOST = Counter("coffret_audit_lost_total", "Entries that never reached the audit log.")
WAITING = Gauge(
    "coffret_audit_waiting", "Entries that are still to be written to the audit log.", multiprocess_mode="livesum"
)


class Journal:
    """A bounded buffer before the audit log. Nothing is written while there is nothing to write.

    Who brings more than the database takes waits for `room`, so none is lost for that. While the database is away nobody
    waits: entries are kept, as many as fit, and written once, even where a write's answer was lost. Those that do not fit
    are counted, in the log and in `coffret_audit_lost_total`.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._drafts: deque[Draft] = deque()
        self._entries: deque[bytes] = deque()
        self._bytes = 0
        self._ids: list[int] = []
        """Reserved for the first entries, so that writing them again changes nothing."""
        self._at_once = AT_ONCE
        self._ended = 0
        """How many entries are written or lost by now."""
        self._lost = 0
        self._task: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()
        self._away = False
        """Whether the last write failed."""
        self._written = asyncio.Event()
        """Set, and replaced, whenever entries were written, or could not be."""

    @property
    def full(self) -> bool:
        """Whether the next entry does not fit."""
        return len(self._drafts) + len(self._entries) >= MOST_ENTRIES or self._bytes >= MOST_BYTES

    async def room(self) -> None:
        """Wait until an entry fits, as long as the database takes them, for three seconds at most."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(PATIENCE):
                while self.full and not self._away:
                    await self._written.wait()

    def put(self, draft: Draft) -> None:
        """Write an entry soon. Never waits; what is lost where there is no room is counted."""
        if self.full:
            self._lose()
            return
        self._drafts.append(draft)
        if self._task is None:
            self._task = asyncio.create_task(self._work(), name="journal")

    async def write(self, draft: Draft) -> None:
        """Write an entry now; soon, where the database does not let us."""
        self.put(draft)
        try:
            async with asyncio.timeout(PATIENCE):
                await self.flush()
        except OUTAGES as error:
            log.warning("an audit entry is written later", error=str(error))

    async def flush(self) -> None:
        """Write what there is now. Raises what the database raises; what was not written is still there then."""
        async with self._writing:
            wanted = self._ended + len(self._drafts) + len(self._entries)
            while self._ended < wanted:
                await self._make()
                if self._entries:
                    await self._write_some()

    async def _write_some(self) -> None:
        """Write the first entries. Where one of them cannot be written, ever fewer, until that one is found and left out."""
        batch = list(itertools.islice(self._entries, self._at_once))
        try:
            async with self._db.reading.connect() as connection:  # each statement by itself: one trip
                if len(self._ids) < len(batch):
                    self._ids += await reserve(connection, AT_ONCE)
                await write_all(connection, self._ids[: len(batch)], batch)
        except DBAPIError as error:
            if not _about_data(error):
                self._tell_who_waits(away=True)
                raise
            if len(batch) == 1:
                log.exception("an audit entry could not be written")
                self._forget(1)
                self._lose()
            self._at_once = max(1, len(batch) // 2)
        except OUTAGES:
            self._tell_who_waits(away=True)
            raise
        else:
            self._forget(len(batch))
            self._at_once = min(AT_ONCE, 2 * self._at_once)
            self._tell_who_waits(away=False)

    def _tell_who_waits(self, *, away: bool) -> None:
        self._away = away
        self._written.set()
        self._written = asyncio.Event()

    async def aclose(self) -> None:
        """Write what is left; what the database does not take in three seconds is lost, and said to be."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
            self._task = None
        try:
            async with asyncio.timeout(PATIENCE):
                await self.flush()
        except OUTAGES:
            self._lose(len(self._drafts) + len(self._entries))
            self._drafts.clear()
            self._forget(len(self._entries))
            self._tell()

    async def _work(self) -> None:
        pause = EVERY
        while self._drafts or self._entries:
            await asyncio.sleep(pause)
            try:
                await self.flush()
            except OUTAGES as error:
                pause = min(2 * pause, LONGEST_PAUSE)
                log.warning("audit entries wait for the database", waiting=len(self._entries), error=str(error))
            else:
                pause = EVERY
            self._tell()
        self._task = None

    async def _make(self) -> None:
        """Make entries of the drafts there are now, as far as they fit. One that cannot be made takes no other with it."""
        for number in range(1, len(self._drafts) + 1):
            if self._bytes >= MOST_BYTES and not self._away:
                return  # until some are written
            try:
                entry = self._drafts.popleft()()
            except Exception:
                log.exception("an audit entry could not be made")
                self._ended += 1
                self._lose()
                continue
            if self._bytes >= MOST_BYTES:
                self._ended += 1
                self._lose()
                continue
            self._entries.append(bytes(memoryview(entry)))  # orjson's own takes 4 KB, whatever is in it
            self._bytes += len(entry)
            if number % MADE_AT_ONCE == 0:
                await asyncio.sleep(0)

    def _forget(self, number: int) -> None:
        for _ in range(number):
            self._bytes -= len(self._entries.popleft())
        del self._ids[:number]
        self._ended += number
        WAITING.set(len(self._drafts) + len(self._entries))

    def _lose(self, number: int = 1) -> None:
        self._lost += number
        LOST.inc(number)

    def _tell(self) -> None:
        if self._lost:
            log.error("audit entries were lost", lost=self._lost)
            self._lost = 0


def _about_data(error: DBAPIError) -> bool:
    """Whether it is the entries that are wrong, rather than the database or the way to it."""
    cause = getattr(error.orig, "__cause__", None)
    return isinstance(cause, ValueError | asyncpg.DataError | asyncpg.IntegrityConstraintViolationError)

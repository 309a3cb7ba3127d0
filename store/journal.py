"""Entries of the audit log that must not hold up the request they tell of: collected, and written many at a time."""

import asyncio
import itertools
from collections import deque
from collections.abc import Callable

import asyncpg
import structlog
from prometheus_client import Counter
from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from schema.errors import Unavailable
from store.audit import reserve, write_all
from store.db import Database

log = structlog.get_logger(__name__)
Draft = Callable[[], bytes]
"""Makes an entry, later: what an entry costs is no part of the request."""
EVERY = 0.5
"""Seconds between two writes."""
LONGEST_PAUSE = 5.0
"""Seconds between two tries while the database is away."""
PATIENCE = 3.0
"""Seconds for a write that somebody waits for: a request, the end of the program."""
AT_ONCE = 500
MOST_ENTRIES = 20_000
MOST_BYTES = 32 * 1024 * 1024
OUTAGES = (TimeoutError, OSError, SQLAlchemyError, asyncpg.PostgresError, asyncpg.InterfaceError, Unavailable)
LOST = Counter("coffret_audit_lost_total", "Entries that never reached the audit log.")


class Journal:
    """A bounded buffer before the audit log. Nothing is written while there is nothing to write.

    Entries are kept while the database is away, as many as fit, and written once, even where a write's answer was lost.
    Those that do not fit are counted, in the log and in `coffret_audit_lost_total`.
    """

    def __init__(self, db: Database) -> None:
        self._db = db
        self._drafts: deque[Draft] = deque()
        self._entries: deque[bytes] = deque()
        self._bytes = 0
        self._ids: list[int] = []
        """Reserved for the first entries, so that writing them again changes nothing."""
        self._at_once = AT_ONCE
        self._lost = 0
        self._task: asyncio.Task[None] | None = None
        self._writing = asyncio.Lock()

    def put(self, draft: Draft) -> None:
        """Write an entry soon. Never waits."""
        if len(self._drafts) + len(self._entries) >= MOST_ENTRIES:
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
        """Write all there is. Raises what the database raises; what was not written is still there then."""
        async with self._writing:
            self._make()
            while self._entries:
                try:
                    self._forget(await self._write_some())
                except DBAPIError as error:
                    if not _about_data(error):
                        raise
                    if self._at_once == 1:
                        log.exception("an audit entry could not be written")
                        self._lose()
                        self._forget(1)
                    self._at_once = 1  # one of them cannot be written: find it, and write the others
            self._at_once = AT_ONCE

    async def _write_some(self) -> int:
        """Write the first entries; tells how many."""
        if not self._ids:
            async with self._db.engine.begin() as connection:
                self._ids = await reserve(connection, min(len(self._entries), AT_ONCE))
        batch = list(itertools.islice(self._entries, min(len(self._ids), self._at_once)))
        async with self._db.engine.begin() as connection:
            await write_all(connection, self._ids[: len(batch)], batch)
        return len(batch)

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
            self._lose(len(self._entries))
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

    def _make(self) -> None:
        """Make entries of the drafts. One that cannot be made is lost, and takes no other with it."""
        while self._drafts:
            try:
                entry = self._drafts.popleft()()
            except Exception:
                log.exception("an audit entry could not be made")
                self._lose()
                continue
            if self._bytes + len(entry) > MOST_BYTES:
                self._lose()
                continue
            self._entries.append(entry)
            self._bytes += len(entry)

    def _forget(self, number: int) -> None:
        for _ in range(number):
            self._bytes -= len(self._entries.popleft())
        del self._ids[:number]

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

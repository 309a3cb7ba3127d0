"""The sandbox's state: one SQLite file, or memory, that every part reaches through a `Session`."""

import asyncio
import datetime as dt
import hashlib
import pathlib
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Concatenate, Literal, ParamSpec, TypeVar

from coffret.sandbox.settings import SandboxSettings
from coffret.sandbox.wire.errors import ResourceNotFound

P = ParamSpec("P")
T = TypeVar("T")
Value = str | int | float | None

TABLES = pathlib.Path(__file__).with_name("tables.sql").read_text()
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class Session:
    """One transaction. `now` is its one moment, in seconds since 1970."""

    def __init__(self, connection: sqlite3.Connection, settings: SandboxSettings) -> None:
        self._connection = connection
        self.settings = settings
        self._keep_time()
        self.now = settings.clock.timestamp()
        self.announces: Literal["nothing", "soon", "first"] = "nothing"
        """Whether this transaction made notifications to send: after it, or before the caller gets its answer."""

    def rows(self, sql: str, *values: Value) -> list[sqlite3.Row]:
        """Every row that a statement answers."""
        return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Value) -> sqlite3.Row | None:
        """The first row that a statement answers, or none."""
        rows = self.rows(sql, *values)
        return rows[0] if rows else None

    def found(self, sql: str, *values: Value) -> sqlite3.Row:
        """The first row that a statement answers. Raises ResourceNotFound where there is none."""
        row = self.row(sql, *values)
        if row is None:
            raise ResourceNotFound
        return row

    def integer(self, sql: str, *values: Value) -> int:
        """The one number that a statement answers; 0 for none or null."""
        row = self.row(sql, *values)
        return int(row[0] or 0) if row else 0

    def change(self, sql: str, *values: Value) -> int:
        """Run a statement that writes; answers how many rows it touched."""
        return self._connection.execute(sql, values).rowcount

    @contextmanager
    def savepoint(self) -> Iterator[None]:
        """What is written inside is undone when an exception leaves it; the rest of the transaction stays."""
        self._connection.execute("SAVEPOINT inner_work")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK TO inner_work")
            raise
        finally:
            self._connection.execute("RELEASE inner_work")

    def kept(self, name: str, default: str) -> str:
        """A single value kept under a name."""
        row = self.row("SELECT value FROM kept WHERE name = ?", name)
        return str(row["value"]) if row else default

    def keep(self, name: str, value: str) -> None:
        """Keep a single value under a name."""
        self.change(
            "INSERT INTO kept VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value
        )

    def mint(self, prefix: str) -> str:
        """A new id in the provider's manner: a prefix and 26 characters that begin with the time."""
        milliseconds = int(self.now * 1000)
        number = (milliseconds << 80) | int.from_bytes(self._random()[:10], "big")
        return prefix + "".join(CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5))

    def secret(self) -> str:
        """A new text that can't be guessed, fit for an address."""
        return self._random().hex()

    def clear(self) -> None:
        """Forget everything but how far the clock was moved."""
        ahead = self.kept("clock_ahead", "0")
        # Newest first: a table goes before the one that it refers to.
        for row in self.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid DESC"
        ):
            self._connection.execute(f'DROP TABLE "{row["name"]}"')
        create_tables(self._connection)
        self.keep("clock_ahead", ahead)

    def _keep_time(self) -> None:
        """Processes that share a file share its time, over restarts too: whichever clock was moved furthest leads."""
        mine = self.settings.clock.ahead.total_seconds()
        theirs = float(self.kept("clock_ahead", "0"))
        if mine > theirs:
            self.keep("clock_ahead", repr(mine))
        elif theirs > mine:
            self.settings.clock.advance(dt.timedelta(seconds=theirs - mine))

    def _random(self) -> bytes:
        """32 bytes out of the seed and a counter that the processes sharing a file share too."""
        seed = self.kept("seed", "")
        if not seed:
            seed = str(self.settings.seed) if self.settings.seed is not None else secrets.token_hex(32)
            self.keep("seed", seed)
        counter = self.kept("counter", "0")
        self.keep("counter", str(int(counter) + 1))
        return hashlib.blake2b(f"{seed}:{counter}".encode(), digest_size=32).digest()


class Database:
    """Runs work, one transaction at a time, on a thread of its own, so that the event loop never waits for a file lock."""

    def __init__(self, settings: SandboxSettings) -> None:
        self._settings = settings
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sandbox")
        self._connection: sqlite3.Connection | None = None

    async def run(
        self, work: Callable[Concatenate[Session, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> tuple[T, Session]:
        """What `work` answers, committed, with the session it ran in; an exception leaves nothing behind."""

        def transact() -> tuple[T, Session]:
            connection = self._connected()
            connection.execute("BEGIN IMMEDIATE")
            try:
                session = Session(connection, self._settings)
                result = work(session, *args, **kwargs)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            return result, session

        return await asyncio.get_running_loop().run_in_executor(self._thread, transact)

    async def close(self) -> None:
        """Close the file. Nothing runs afterwards."""

        def disconnect() -> None:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

        await asyncio.get_running_loop().run_in_executor(self._thread, disconnect)
        self._thread.shutdown(wait=False)

    def _connected(self) -> sqlite3.Connection:
        if self._connection is None:
            path = self._settings.path
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path or ":memory:", timeout=10, isolation_level=None)
            connection.row_factory = sqlite3.Row
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("BEGIN IMMEDIATE")
            create_tables(connection)
            connection.execute("COMMIT")
            connection.execute("PRAGMA foreign_keys = ON")
            self._connection = connection
        return self._connection


def create_tables(connection: sqlite3.Connection) -> None:
    """Create whatever is missing, inside the transaction that is open."""
    statement = ""
    for line in TABLES.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""

"""The sandbox's state: a SQLite file, or memory. All parts access it through a `SandboxSession`."""

import asyncio
import contextlib
import datetime as dt
import functools
import hashlib
import pathlib
import secrets
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Concatenate, Literal, ParamSpec, TypeVar

from coffret.sandbox.settings import SandboxSettings
from coffret.sandbox.wire.errors import ResourceNotFound

P = ParamSpec("P")
T = TypeVar("T")
Value = str | int | float | None

TABLES = pathlib.Path(__file__).with_name("tables.sql").read_text()
CROCKFORD = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"


class SandboxSession:
    """One transaction. `now` is the same throughout, in seconds since 1970."""

    def __init__(self, connection: sqlite3.Connection, settings: SandboxSettings) -> None:
        self._connection = connection
        self.settings = settings
        self._synchronize_clock()
        self.now = settings.clock.timestamp()
        self.announces: Literal["nothing", "soon", "first"] = "nothing"
        """When to send the notifications of this transaction: never, after it, or before the caller gets its answer."""

    @property
    def today(self) -> dt.date:
        """The current day in UTC."""
        return dt.datetime.fromtimestamp(self.now, dt.UTC).date()

    def rows(self, sql: str, *values: Value) -> list[sqlite3.Row]:
        return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: Value) -> sqlite3.Row | None:
        """The first row; None if there is none."""
        rows = self.rows(sql, *values)
        return rows[0] if rows else None

    def require_row(self, sql: str, *values: Value) -> sqlite3.Row:
        """The first row. Raises ResourceNotFound if there is none."""
        row = self.row(sql, *values)
        if row is None:
            raise ResourceNotFound
        return row

    def integer(self, sql: str, *values: Value) -> int:
        """The first column of the first row; 0 if there is none or it is null."""
        row = self.row(sql, *values)
        return int(row[0] or 0) if row else 0

    def change(self, sql: str, *values: Value) -> int:
        """Run a writing statement. Returns the number of changed rows."""
        return self._connection.execute(sql, values).rowcount

    @contextlib.contextmanager
    def savepoint(self) -> Iterator[None]:
        """Roll back the block's writes if an exception leaves it. The rest of the transaction is unaffected."""
        self._connection.execute("SAVEPOINT inner_work")
        try:
            yield
        except BaseException:
            self._connection.execute("ROLLBACK TO inner_work")
            raise
        finally:
            self._connection.execute("RELEASE inner_work")

    def get_value(self, name: str, default: str) -> str:
        """A stored single value."""
        row = self.row("SELECT value FROM kept WHERE name = ?", name)
        return str(row["value"]) if row else default

    def set_value(self, name: str, value: str) -> None:
        """Store a single value."""
        self.change(
            "INSERT INTO kept VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value", name, value
        )

    def mint(self, prefix: str) -> str:
        """A new id in the provider's format: a prefix and 26 characters that begin with the time."""
        milliseconds = int(self.now * 1000)
        number = (milliseconds << 80) | int.from_bytes(self._random()[:10], "big")
        return prefix + "".join(CROCKFORD[(number >> shift) & 31] for shift in range(125, -1, -5))

    def secret(self) -> str:
        """A new unguessable token for a URL."""
        return self._random().hex()

    def clear(self) -> None:
        """Delete everything but the clock's offset."""
        ahead = self.get_value("clock_ahead", "0")
        # Newest first: referencing tables are dropped before the tables they reference.
        for row in self.rows(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY rowid DESC"
        ):
            self._connection.execute(f'DROP TABLE "{row["name"]}"')
        create_tables(self._connection)
        self.set_value("clock_ahead", ahead)

    def _synchronize_clock(self) -> None:
        """Processes that share a file share its clock, also across restarts. The largest offset wins."""
        mine = self.settings.clock.ahead.total_seconds()
        theirs = float(self.get_value("clock_ahead", "0"))
        if mine > theirs:
            self.set_value("clock_ahead", repr(mine))
        elif theirs > mine:
            self.settings.clock.advance(dt.timedelta(seconds=theirs - mine))

    def _random(self) -> bytes:
        """32 bytes derived from the seed and a counter that all processes of a file share."""
        seed = self.get_value("seed", "")
        if not seed:
            seed = str(self.settings.seed) if self.settings.seed is not None else secrets.token_hex(32)
            self.set_value("seed", seed)
        counter = self.get_value("counter", "0")
        self.set_value("counter", str(int(counter) + 1))
        return hashlib.blake2b(f"{seed}:{counter}".encode(), digest_size=32).digest()


class SandboxDatabase:
    """Runs transactions one at a time on its own thread, so that the event loop never waits for a file lock."""

    def __init__(self, settings: SandboxSettings) -> None:
        self._settings = settings
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="sandbox")
        self._connection: sqlite3.Connection | None = None

    async def run(
        self, work: Callable[Concatenate[SandboxSession, P], T], *args: P.args, **kwargs: P.kwargs
    ) -> tuple[T, SandboxSession]:
        """The committed result of `work`, and its session. An exception rolls back."""

        def transact() -> tuple[T, SandboxSession]:
            connection = self._connect()
            connection.execute("BEGIN IMMEDIATE")
            try:
                session = SandboxSession(connection, self._settings)
                result = work(session, *args, **kwargs)
            except BaseException:
                connection.execute("ROLLBACK")
                raise
            connection.execute("COMMIT")
            return result, session

        return await asyncio.get_running_loop().run_in_executor(self._thread, transact)

    async def close(self) -> None:
        """Close the file. `run` must not be called afterwards."""

        def disconnect() -> None:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

        await asyncio.get_running_loop().run_in_executor(self._thread, disconnect)
        self._thread.shutdown(wait=False)

    def _connect(self) -> sqlite3.Connection:
        if self._connection is None:
            path = self._settings.path
            if path is not None:
                path.parent.mkdir(parents=True, exist_ok=True)
            connection = sqlite3.connect(path or ":memory:", timeout=10, isolation_level=None)
            connection.row_factory = sqlite3.Row
            if path is None:
                connection.deserialize(_empty_tables())
            else:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.execute("PRAGMA synchronous = NORMAL")
                connection.execute("BEGIN IMMEDIATE")
                create_tables(connection)
                connection.execute("COMMIT")
            connection.execute("PRAGMA foreign_keys = ON")
            self._connection = connection
        return self._connection


@functools.cache
def _empty_tables() -> bytes:
    """A file with the tables: to copy it takes a seventh of the time of making them, which tests do thousands of times."""
    with contextlib.closing(sqlite3.connect(":memory:")) as connection:
        create_tables(connection)
        return connection.serialize()


def create_tables(connection: sqlite3.Connection) -> None:
    """Create missing tables, inside the current transaction."""
    statement = ""
    for line in TABLES.splitlines(keepends=True):
        statement += line
        if sqlite3.complete_statement(statement):
            connection.execute(statement)
            statement = ""

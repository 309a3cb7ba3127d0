"""The database: one engine, sessions that an operation opens, autocommit connections for lists."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import asyncpg
import orjson
import sqlmodel
from prometheus_client import Gauge
from sqlalchemy import PoolProxiedConnection, event
from sqlalchemy.exc import DBAPIError, InvalidatePoolError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, async_sessionmaker, create_async_engine
from sqlalchemy.util import greenlet_spawn
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import Unavailable
from store.core import tracing
from store.core.dsn import dsn
from store.core.outages import ABSENT, DATABASE, database_outage, unavailable
from store.database.statement_cache import Statements

CONNECTS_WITHIN = 5.0
WAITS_FOR_CONNECTION = 10.0
"""Seconds. Who would wait longer is told that the database cannot be reached: clients give up as well."""
ENOUGH_MEMORY = """
    SELECT set_config('work_mem', '32MB', false)
    WHERE pg_size_bytes(current_setting('work_mem')) < pg_size_bytes('32MB')
"""
"""With less, a search that finds hundreds of thousands of rows loses track of which they are and tests whole pages again."""
IN_USE = Gauge(
    "coffret_database_connections_in_use",
    "Connections that are taken out of the pool, up to four that wait for single statements among them.",
    multiprocess_mode="livesum",
)
LANES = 4
"""How many connections single statements keep for themselves, so that they need not ask the pool each time."""


def _dumps(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


class _SyncSession(sqlmodel.Session):
    """What an asynchronous session works with."""


@event.listens_for(_SyncSession, "before_commit")
def _committing(session: sqlmodel.Session) -> None:
    session.info["committing"] = True


class Session(AsyncSession):
    """A unit of work. Where the database goes away within it, `Unavailable` leaves it."""

    sync_session_class = _SyncSession

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await super().__aexit__(kind, error, traceback)
        except DBAPIError as closing:  # of the rollback, which the server does as well: an error under way tells more
            if error is None:
                raise database_outage(closing) or closing from closing.orig
        if error is not None and (away := database_outage(error, committing="committing" in self.info)) is not None:
            raise away from error


class Database:
    """PostgreSQL, reached through one pool.

    `sessions()` opens a unit of work for an operation; `reading` is the same pool without transactions; `kept` runs the
    single statements of lists and relations. When the database is away all of them raise `Unavailable`, and when it is back
    they work. `quiet` leaves it to the caller to tell why it cannot be reached.
    """

    def __init__(self, url: str, *, pool_size: int = 20, max_overflow: int = 20, quiet: bool = False) -> None:
        address = dsn(url)

        async def connect() -> asyncpg.Connection:
            try:
                made = await asyncpg.connect(address, timeout=CONNECTS_WITHIN)
                await made.execute(ENOUGH_MEMORY)
            except (OSError, *ABSENT) as error:
                raise (Unavailable(what=DATABASE) if quiet else unavailable(DATABASE, error)) from error
            return made

        self.engine: AsyncEngine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=connect,  # the driver reads the address itself: SQLAlchemy knows none of libpq's options
            json_serializer=_dumps,
            json_deserializer=orjson.loads,
            pool_size=pool_size,
            max_overflow=max_overflow,
            pool_timeout=WAITS_FOR_CONNECTION,
            pool_pre_ping=False,
            query_cache_size=2000,
            hide_parameters=True,  # an error that is logged must not name people
        )
        event.listen(self.engine.sync_engine, "checkout", _alive)
        event.listen(self.engine.sync_engine, "checkout", _taken)
        event.listen(self.engine.sync_engine, "checkin", _given_back)
        if (telemetry := tracing.live()) is not None:
            telemetry.follow(self.engine.sync_engine)
        self.reading: AsyncEngine = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        self._lanes: list[PoolProxiedConnection] = []
        self._closed = False
        self.kept = Statements(self.engine.dialect, self.fetch)
        self.sessions = async_sessionmaker(self.engine, class_=Session, expire_on_commit=False, autoflush=True)

    async def rows(self, statement: Any, parameters: Mapping[str, Any] | None = None) -> Sequence[Any]:
        """All rows of one statement, run without a transaction."""
        try:
            async with self.reading.connect() as connection:
                return (await connection.execute(statement, parameters)).all()
        except Exception as error:
            if (away := database_outage(error)) is not None:
                raise away from error
            raise

    async def fetch(self, sql: str, *arguments: Any) -> Sequence[Any]:
        """All rows of one statement in the driver's own words (`$1`, plain values), run without a transaction.

        For statements kept by `store.database.statement_cache`: it takes an eighth of the time of `rows`.
        """
        lane = await self._lane()
        driver = lane.driver_connection
        assert driver is not None
        try:
            with tracing.statement(sql):
                found: Sequence[Any] = await driver.fetch(sql, *arguments)
        except (asyncpg.InterfaceError, asyncpg.InternalClientError, asyncpg.PostgresError) as error:
            if (away := database_outage(error)) is not None:
                raise away from error
            raise
        finally:
            if driver.is_closed():  # it died: out of the pool with it, rather than on to the next request
                await greenlet_spawn(lane.invalidate)
            elif len(self._lanes) < LANES and not self._closed:
                self._lanes.append(lane)
            else:
                await greenlet_spawn(lane.close)
        return found

    async def _lane(self) -> PoolProxiedConnection:
        """A connection for one statement."""
        while self._lanes:
            lane = self._lanes.pop()
            if lane.driver_connection is not None and not lane.driver_connection.is_closed():
                return lane
            await greenlet_spawn(lane.invalidate)
        try:
            return await greenlet_spawn(self.engine.sync_engine.pool.connect)
        except PoolTimeoutError as error:
            raise unavailable(DATABASE, error) from error

    async def aclose(self) -> None:
        """Close every connection."""
        self._closed = True
        while self._lanes:
            await greenlet_spawn(self._lanes.pop().close)
        await self.engine.dispose()


def _alive(connection: Any, _record: Any, _proxy: Any) -> None:
    """Give nobody a connection that is known to be dead: the database was restarted, all others are as well."""
    if connection.driver_connection.is_closed():
        raise InvalidatePoolError


def _taken(_connection: Any, record: Any, _proxy: Any) -> None:
    record.record_info["taken"] = True
    IN_USE.inc()


def _given_back(_connection: Any, record: Any) -> None:
    if record.record_info.pop("taken", False):  # one that died on its way out was never taken
        IN_USE.dec()

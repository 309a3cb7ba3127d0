"""The database: one engine, sessions for operations, autocommit connections for lists."""

from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import asyncpg
import orjson
import sqlmodel
from prometheus_client import Gauge
from sqlalchemy import Engine, PoolProxiedConnection, event
from sqlalchemy.exc import DBAPIError, IntegrityError, InvalidatePoolError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError
from sqlalchemy.ext.asyncio import AsyncEngine, async_sessionmaker, create_async_engine
from sqlalchemy.util import greenlet_spawn
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import Unavailable
from store.core.telemetry import tracing
from store.core.telemetry.outages import CONNECTION_ERRORS, DATABASE, database_outage, report_unavailable
from store.database.statement_cache import StatementCache

CONNECT_TIMEOUT = 5.0
POOL_TIMEOUT = 10.0
"""Seconds to wait for a connection of the pool before `Unavailable` is raised. Clients would not wait longer."""
RAISE_WORK_MEM = """
    SELECT set_config('work_mem', '32MB', false)
    WHERE pg_size_bytes(current_setting('work_mem')) < pg_size_bytes('32MB')
"""
"""With less memory, a search with hundreds of thousands of matches tests whole pages of the table again."""
SET_UP = {True: RAISE_WORK_MEM, False: f"{RAISE_WORK_MEM}; SET synchronous_commit = off"}
"""How a connection begins, by whether its commits wait for the disk."""
CONNECTIONS_IN_USE = Gauge(
    "coffret_database_connections_in_use",
    "Connections taken out of the pool, including up to eight idle ones reserved for single statements.",
    multiprocess_mode="livesum",
)
MAX_IDLE_CONNECTIONS = 8
"""Connections that are reserved for single statements, which then need no connection from the pool."""


def _dumps(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_NON_STR_KEYS).decode()


class _SyncSession(sqlmodel.Session):
    """The synchronous session inside an asynchronous one."""


@event.listens_for(_SyncSession, "before_commit")
def _mark_committing(session: sqlmodel.Session) -> None:
    session.info["committing"] = True


class Session(AsyncSession):
    """A unit of work. If the database becomes unreachable within it, the session raises `Unavailable`."""

    sync_session_class = _SyncSession

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        try:
            await super().__aexit__(kind, error, traceback)
        except DBAPIError as closing:  # by the rollback, which the server does as well; the block's own error says more
            if error is None:
                raise database_outage(closing) or closing from closing.orig
        if error is not None and (away := database_outage(error, committing="committing" in self.info)) is not None:
            raise away from error


class Database:
    """PostgreSQL, reached through one pool.

    `sessions()` opens a unit of work for an operation; `read_sessions()` one that only reads, without the round trips
    of a transaction. `autocommit_engine` is the same pool without transactions.
    `statements` runs the single statements of lists and relations. All of them raise `Unavailable` while the database
    is away, and work again when it is back. With `quiet`, failed connections are neither logged nor counted. Without
    `synchronous_commit`, a commit does not wait for the disk: after a crash of the server the last ones may be lost.
    """

    def __init__(
        self,
        url: str,
        *,
        pool_size: int = 20,
        max_overflow: int = 20,
        quiet: bool = False,
        synchronous_commit: bool = True,
    ) -> None:
        address = dsn(url)

        async def connect() -> asyncpg.Connection:
            try:
                connection = await asyncpg.connect(address, timeout=CONNECT_TIMEOUT)
                await connection.execute(SET_UP[synchronous_commit])
            except (OSError, *CONNECTION_ERRORS) as error:
                raise (Unavailable(what=DATABASE) if quiet else report_unavailable(DATABASE, error)) from error
            return connection

        self.engine: AsyncEngine = create_async_engine(
            "postgresql+asyncpg://",
            async_creator=connect,  # the driver reads the address itself: SQLAlchemy knows none of libpq's options
            json_serializer=_dumps,
            json_deserializer=orjson.loads,
            pool_size=pool_size,
            max_overflow=max_overflow,
            pool_timeout=POOL_TIMEOUT,
            pool_pre_ping=False,
            query_cache_size=2000,
            hide_parameters=True,  # an error that is logged must not name people
        )
        _observe(self.engine.sync_engine)
        self.autocommit_engine: AsyncEngine = self.engine.execution_options(isolation_level="AUTOCOMMIT")
        self._idle_connections: list[PoolProxiedConnection] = []
        self._closed = False
        self.statements = StatementCache(self.engine.dialect, self.fetch)
        self.sessions = async_sessionmaker(self.engine, class_=Session, expire_on_commit=False, autoflush=True)
        self.read_sessions = async_sessionmaker(self.autocommit_engine, class_=Session, expire_on_commit=False)

    async def rows(self, statement: Any, parameters: Mapping[str, Any] | None = None) -> Sequence[Any]:
        """All rows of one statement, run without a transaction."""
        try:
            async with self.autocommit_engine.connect() as connection:
                return (await connection.execute(statement, parameters)).all()
        except Exception as error:
            if (away := database_outage(error)) is not None:
                raise away from error
            raise

    async def fetch(self, sql: str, *arguments: Any) -> Sequence[Any]:
        """All rows of one statement, run by the driver itself (`$1`, plain values) without a transaction.

        For statements of `store.database.statement_cache`: it takes an eighth of the time of `rows`.
        """
        connection = await self._take_connection()
        driver = connection.driver_connection
        assert driver is not None
        try:
            with tracing.statement_span(sql):
                rows: Sequence[Any] = await driver.fetch(sql, *arguments)
        except (asyncpg.InterfaceError, asyncpg.InternalClientError, asyncpg.PostgresError) as error:
            if (away := database_outage(error)) is not None:
                raise away from error
            raise
        finally:
            if driver.is_closed():  # a dead connection must not reach the next request
                await greenlet_spawn(connection.invalidate)
            elif len(self._idle_connections) < MAX_IDLE_CONNECTIONS and not self._closed:
                self._idle_connections.append(connection)
            else:
                await greenlet_spawn(connection.close)
        return rows

    async def _take_connection(self) -> PoolProxiedConnection:
        """A reserved connection, or one from the pool."""
        while self._idle_connections:
            connection = self._idle_connections.pop()
            if connection.driver_connection is not None and not connection.driver_connection.is_closed():
                return connection
            await greenlet_spawn(connection.invalidate)
        try:
            return await greenlet_spawn(self.engine.sync_engine.pool.connect)
        except PoolTimeoutError as error:
            raise report_unavailable(DATABASE, error) from error

    async def aclose(self) -> None:
        self._closed = True
        while self._idle_connections:
            await greenlet_spawn(self._idle_connections.pop().close)
        await self.engine.dispose()


def _observe(engine: Engine) -> None:
    """Watch the connections of an engine, and trace its statements if they are traced."""
    event.listen(engine, "checkout", _check_alive)
    event.listen(engine, "checkout", _on_checkout)
    event.listen(engine, "checkin", _on_checkin)
    if (telemetry := tracing.current_telemetry()) is not None:
        telemetry.instrument_engine(engine)


def _check_alive(connection: Any, _record: Any, _proxy: Any) -> None:
    """Invalidate the pool if a connection is closed: the database was restarted, so all others are closed too."""
    if connection.driver_connection.is_closed():
        raise InvalidatePoolError


def _on_checkout(_connection: Any, record: Any, _proxy: Any) -> None:
    record.record_info["taken"] = True
    CONNECTIONS_IN_USE.inc()


def _on_checkin(_connection: Any, record: Any) -> None:
    if record.record_info.pop("taken", False):  # a connection that failed the check above was never counted
        CONNECTIONS_IN_USE.dec()


def dsn(url: str) -> str:
    """A PostgreSQL URL as the driver reads it, including options such as `?sslmode=require`.

    ValueError for any other scheme.
    """
    scheme, separator, rest = url.partition("://")
    if not separator or scheme.split("+")[0] not in {"postgres", "postgresql"}:
        raise ValueError(f"DATABASE_URL must start with postgresql://, not {scheme!r}.")
    return f"postgresql://{rest}"


def violated_constraint(error: IntegrityError) -> str:
    """The name of the constraint that refused a statement; empty if the server did not name it."""
    cause = getattr(error.orig, "__cause__", None)
    return getattr(cause, "constraint_name", None) or ""

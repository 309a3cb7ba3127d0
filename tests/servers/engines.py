"""What a running program does once is done once for all tests of a process, not anew for the database of each test: SQL
is compiled, PostgreSQL is asked about its types, the environment is read for the settings, and paths of routes are compiled.
"""

from collections.abc import Collection
from copy import deepcopy
from functools import cache, partial
from types import SimpleNamespace
from typing import Any, ClassVar, Self

from asyncpg.connection import Connection
from pydantic_settings import EnvSettingsSource
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.util import LRUCache
from starlette import routing

from store.database import db
from tests.servers.kept_connections import KeptConnection, keep_connections


class OneDialect(PGDialect_asyncpg):
    """The same for every engine: what is compiled is kept by dialect and statement."""

    supports_statement_cache = True
    _one: ClassVar[Any] = None
    _is_initialized = False

    def __new__(cls, **_options: Any) -> Self:
        """The first one, ever after."""
        if cls._one is None:
            cls._one = super().__new__(cls)
        one: Self = cls._one
        return one

    def __init__(self, **options: Any) -> None:
        if not hasattr(self, "dbapi"):
            super().__init__(**options)  # type: ignore[no-untyped-call]

    def connect(self, *arguments: Any, **options: Any) -> Any:
        """A connection, with the statements that a kept one has prepared."""
        connection = super().connect(*arguments, **options)
        driver = connection._connection
        if type(driver) is KeptConnection:  # to the driver every connection is an instance
            connection._prepared_statement_cache = driver.statements
        return connection

    def on_connect(self) -> Any:
        """What a new connection is told; a kept one knows it."""
        set_up = super().on_connect()  # type: ignore[no-untyped-call]

        def on_connect(connection: Any) -> None:
            driver = connection._connection
            if not (type(driver) is KeptConnection and driver.is_set_up):
                set_up(connection)
                if type(driver) is KeptConnection:
                    driver.is_set_up = True

        return on_connect

    def initialize(self, connection: Any) -> None:
        """Ask about the server, once."""
        if not self._is_initialized:
            super().initialize(connection)  # type: ignore[no-untyped-call]
            self._is_initialized = True


FIRST_OWN_TYPE = 16384
"""PostgreSQL numbers its own types below, the same in every database."""


def _remember_types() -> None:
    """Have every connection know the types of PostgreSQL that another one has asked about: each asks with a large query."""
    ask = Connection._introspect_types
    known: dict[frozenset[int], list[Any]] = {}

    async def introspect_types(self: Any, oids: Collection[int], seconds: float) -> tuple[list[Any], Any]:
        if any(oid >= FIRST_OWN_TYPE for oid in oids):
            asked: tuple[list[Any], Any] = await ask(self, oids, seconds)
            return asked
        if (key := frozenset(oids)) not in known:
            known[key], statement = await ask(self, oids, seconds)
            return known[key], statement
        return known[key], SimpleNamespace(name="known")  # with a name, as it has displaced no unnamed statement

    setattr(Connection, "_introspect_types", introspect_types)  # noqa: B010 - it is not typed


def _remember_environment() -> None:
    """Have settings remember what an environment says: to ask for each of them takes longer than to open a database."""
    ask = EnvSettingsSource.__call__
    known: dict[Any, dict[str, Any]] = {}

    def values(self: EnvSettingsSource) -> dict[str, Any]:
        key = type(self), self.settings_cls, self.env_prefix, frozenset(self.env_vars.items())
        if key not in known:
            known[key] = ask(self)
        return deepcopy(known[key])

    setattr(EnvSettingsSource, "__call__", values)  # noqa: B010 - it is not assignable


def share() -> None:
    """Have everything from now on share what was compiled and asked with the others."""
    _remember_types()
    _remember_environment()
    setattr(routing, "compile_path", cache(routing.compile_path))  # noqa: B010 - it is not assignable
    registry.register("postgresql.asyncpg", __name__, OneDialect.__name__)
    keep_connections()
    made = partial(create_async_engine, execution_options={"compiled_cache": LRUCache(2000)})
    setattr(db, "create_async_engine", made)  # noqa: B010 - it is not exported there

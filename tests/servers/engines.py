"""What a running program does once is done once for all tests of a process, not anew for the database of each test: SQL
is compiled, and PostgreSQL is asked about its types.
"""

from collections.abc import Collection
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar, Self

from asyncpg.connection import Connection
from sqlalchemy.dialects import registry
from sqlalchemy.dialects.postgresql.asyncpg import PGDialect_asyncpg
from sqlalchemy.ext.asyncio import create_async_engine
from sqlalchemy.util import LRUCache

from store.database import db


class OneDialect(PGDialect_asyncpg):
    """The same for every engine: what is compiled is kept by dialect and statement."""

    supports_statement_cache = True
    _one: ClassVar[Any] = None

    def __new__(cls, **_options: Any) -> Self:
        """The first one, ever after."""
        if cls._one is None:
            cls._one = super().__new__(cls)
        one: Self = cls._one
        return one

    def __init__(self, **options: Any) -> None:
        if not hasattr(self, "dbapi"):
            super().__init__(**options)  # type: ignore[no-untyped-call]


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


def share() -> None:
    """Have every `Database` from now on share what it has compiled and asked with the others."""
    _remember_types()
    registry.register("postgresql.asyncpg", __name__, OneDialect.__name__)
    made = partial(create_async_engine, execution_options={"compiled_cache": LRUCache(2000)})
    setattr(db, "create_async_engine", made)  # noqa: B010 - it is not exported there

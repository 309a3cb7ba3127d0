"""SQL is compiled once for all tests of a process, as in a running program: not anew for the engine of each test."""

from functools import partial
from typing import Any, ClassVar, Self

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


def share() -> None:
    """Have every `Database` from now on keep what is compiled with the others."""
    registry.register("postgresql.asyncpg", __name__, OneDialect.__name__)
    made = partial(create_async_engine, execution_options={"compiled_cache": LRUCache(2000)})
    setattr(db, "create_async_engine", made)  # noqa: B010 - it is not exported there

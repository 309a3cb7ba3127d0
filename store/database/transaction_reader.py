"""Reads within an open transaction, to write a response before the changes it reports are committed."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from sqlmodel.ext.asyncio.session import AsyncSession

from store.database.db import Database
from store.database.driver import fetch
from store.database.statement_cache import StatementCache


class DatabaseReader(Protocol):
    """What lists and relations read through: the `Database`, or one transaction of it."""

    @property
    def statements(self) -> StatementCache:
        """The prepared statements."""

    @property
    def read_sessions(self) -> Callable[[], AbstractAsyncContextManager[AsyncSession]]:
        """Open a unit of work that only reads."""

    async def rows(self, statement: Any, parameters: Mapping[str, Any] | None = None) -> Sequence[Any]:
        """All rows of one statement."""


class TransactionReader:
    """Reads through the connection of one transaction, one statement at a time.

    The session must have been flushed: the driver's own statements do not flush it.
    """

    def __init__(self, db: Database, session: AsyncSession) -> None:
        self._session = session
        self._lock = asyncio.Lock()
        self.statements = db.statements.with_fetch(self.fetch)

    @contextlib.asynccontextmanager
    async def read_sessions(self) -> AsyncIterator[AsyncSession]:
        """The session of the transaction, for one user at a time."""
        async with self._lock:
            yield self._session

    async def rows(self, statement: Any, parameters: Mapping[str, Any] | None = None) -> Sequence[Any]:
        async with self._lock:
            return (await (await self._session.connection()).execute(statement, parameters)).all()

    async def fetch(self, sql: str, *arguments: Any) -> Sequence[Any]:
        """All rows of one statement, run by the driver itself."""
        async with self._lock:
            return await fetch(self._session, sql, *arguments)

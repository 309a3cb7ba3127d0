"""The database as an open transaction sees it: for writing an answer before what it tells of is committed."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from sqlmodel.ext.asyncio.session import AsyncSession

from store.database.db import Database
from store.database.statement_cache import Statements


class Reads(Protocol):
    """What lists and relations read through: the `Database`, or one transaction of it."""

    @property
    def kept(self) -> Statements:
        """Single statements, compiled once."""

    @property
    def sessions(self) -> Callable[[], AbstractAsyncContextManager[AsyncSession]]:
        """Opens a unit of work."""

    async def rows(self, statement: Any, parameters: Mapping[str, Any] | None = None) -> Sequence[Any]:
        """All rows of one statement."""


class Within:
    """Reads through the connection of one transaction. What asks at once takes turns, as a connection does one thing at a time.

    The session must have been flushed: the driver's own statements do not do it.
    """

    def __init__(self, db: Database, session: AsyncSession) -> None:
        self._session = session
        self._turn = asyncio.Lock()
        self.kept = db.kept.through(self.fetch)

    @contextlib.asynccontextmanager
    async def sessions(self) -> AsyncIterator[AsyncSession]:
        """The session of the transaction, for one at a time."""
        async with self._turn:
            yield self._session

    async def rows(self, statement: Any, parameters: Mapping[str, Any] | None = None) -> Sequence[Any]:
        """All rows of one statement."""
        async with self._turn:
            return (await (await self._session.connection()).execute(statement, parameters)).all()

    async def fetch(self, sql: str, *arguments: Any) -> Sequence[Any]:
        """All rows of one statement in the driver's own words."""
        async with self._turn:
            raw = (await (await self._session.connection()).get_raw_connection()).driver_connection
            assert raw is not None
            found: Sequence[Any] = await raw.fetch(sql, *arguments)
            return found

"""Connections of the program to the database of a test that stay open for the next test: a new one costs 25 ms of processor
time, and begins without all that PostgreSQL has read of its catalogues and planned.
"""

import asyncio
from types import ModuleType
from typing import Any

import asyncpg
from sqlalchemy.util import LRUCache

from store.database import db

MOST = 8
"""Connections that stay open."""
STATEMENTS = 500
"""Prepared statements that a connection keeps."""


class KeptConnection(asyncpg.Connection):  # type: ignore[misc]
    """A connection that is closed for its user only. The next test gets it, with its prepared statements."""

    __slots__ = ("is_given_back", "is_set_up", "owner", "statements")

    def __init__(self, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self.is_given_back = self.is_set_up = False
        self.owner: KeptConnections | None = None
        self.statements: Any = LRUCache(STATEMENTS)

    @property
    def is_alive(self) -> bool:
        """Whether the server still has it."""
        return self._protocol is not None and not super().is_closed()

    def is_closed(self) -> bool:
        """Whether its user has closed it, or the server."""
        return self.is_given_back or not self.is_alive

    async def close(self, *, timeout: float | None = None) -> None:  # noqa: ASYNC109 - the driver's
        """Give it back, without what its user has set, locked and listens to. One within a transaction ends."""
        if self.is_closed():
            return
        if self.owner is None or not self.owner.takes_back() or self._protocol.is_in_transaction():
            await super().close(timeout=timeout)
            return
        try:
            await self.reset(timeout=timeout)
        except BaseException:
            self.terminate()
            raise
        self._call_termination_listeners()
        self._termination_listeners.clear()
        self._query_loggers.clear()
        self.is_given_back = True

    def end(self) -> None:
        """Close it for good."""
        self.is_given_back = False
        self.terminate()


class KeptConnections:
    """The connections to one database, of the loop that they were opened in. `control` is the tests' own."""

    def __init__(self, name: str, address: str, control: KeptConnection) -> None:
        self.name, self.address, self.control = name, address, control
        self.is_lending = False
        self._loop = asyncio.get_running_loop()
        self._idle: list[KeptConnection] = []
        self._used: list[KeptConnection] = []
        _by_address[db.dsn(address)] = self

    @property
    def is_of_this_loop(self) -> bool:
        """Whether they work where this is asked."""
        return asyncio.get_running_loop() is self._loop

    async def lend(self, dsn: str, **options: Any) -> KeptConnection:
        """A connection for the running test. InvalidCatalogNameError, as of a database that is gone, when it has ended."""
        if not self.is_lending:
            raise asyncpg.InvalidCatalogNameError("The test that this database was for has ended.")
        connection = next((it for it in self._idle if it.is_alive), None)
        if connection is None:
            connection = await asyncpg.connect(dsn, connection_class=KeptConnection, **options)
            connection.owner = self
        else:
            self._idle.remove(connection)
            connection.is_given_back = False
        self._used.append(connection)
        return connection

    def takes_back(self) -> bool:
        """Whether a connection that is closed now shall stay open."""
        return self.is_lending and len(self._idle) + sum(it.is_given_back for it in self._used) < MOST

    def collect(self) -> tuple[list[int], list[int]]:
        """End the lending. The process numbers, at the server, of those that stay for the next test, and of those that
        nobody has closed.
        """
        self.is_lending = False
        used, self._used = self._used, []
        self._idle = [it for it in (*used, *self._idle) if it.is_alive and it.is_given_back]
        left = [it for it in used if it.is_alive and not it.is_given_back]
        return [it.get_server_pid() for it in self._idle], [it.get_server_pid() for it in left]

    def sockets(self) -> list[int]:
        """The sockets of those that stay."""
        alive = [it for it in (self.control, *self._idle) if it.is_alive]
        return [it._transport.get_extra_info("socket").fileno() for it in alive]

    def end(self) -> None:
        """Close all of them."""
        for connection in (self.control, *self._idle):
            connection.end()
        self._idle = []
        _by_address.pop(db.dsn(self.address), None)


_by_address: dict[str, KeptConnections] = {}
"""By the address that the driver is given."""


def kept_connections(address: str) -> KeptConnections | None:
    """Those to a database, if they work in this loop."""
    found = _by_address.get(db.dsn(address))
    return found if found is not None and found.is_of_this_loop else None


def kept_sockets() -> list[int]:
    """The sockets of all of them."""
    return [number for kept in _by_address.values() for number in kept.sockets()]


def end_all() -> None:
    """Close all of them."""
    for kept in tuple(_by_address.values()):
        kept.end()


async def _connect(dsn: str, **options: Any) -> Any:
    """As `asyncpg.connect`."""
    kept = kept_connections(dsn)
    return await (asyncpg.connect(dsn, **options) if kept is None else kept.lend(dsn, **options))


def keep_connections() -> None:
    """Have the program's databases use kept connections where there are some."""
    driver = ModuleType("asyncpg")
    vars(driver).update({**vars(asyncpg), "connect": _connect})
    setattr(db, "asyncpg", driver)  # noqa: B010 - it is not exported there

"""One connection to a Redis server, kept for command after command."""

from typing import Any

from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection


class Line:
    """Sends commands over one connection of a pool, one at a time.

    redis-py's client takes a connection out of the pool for each command, looks whether it is alive, and puts it back, which
    together takes longer than the command. A line finds out that its connection is dead when it uses it, and connects anew.
    """

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool: Any = pool  # partly without types
        self._connection: AbstractConnection | None = None

    async def execute_command(self, *command: str | bytes | int) -> Any:
        """The server's answer. What the pool's `retry` names is tried again; commands must bear being sent twice."""
        if self._connection is None:
            self._connection = await self._pool.get_connection()
        connection = self._connection

        packed = _packed(command)

        async def ask() -> Any:
            await connection.send_packed_command(packed)
            return await connection.read_response()

        answer = await connection.retry.call_with_retry(ask, lambda _error: connection.disconnect())
        if connection.should_reconnect():  # the server has said that it moves
            await connection.disconnect()
        return answer

    async def aclose(self) -> None:
        """Give the connection back to the pool, which closes it."""
        if self._connection is not None:
            await self._pool.release(self._connection)
            self._connection = None


def _packed(command: tuple[str | bytes | int, ...]) -> bytes:
    """A command as it is sent. redis-py's own packing takes twice as long, for it looks for more kinds of arguments."""
    parts = [b"*%d\r\n" % len(command)]
    for argument in command:
        data = argument if isinstance(argument, bytes) else str(argument).encode()
        parts.append(b"$%d\r\n%b\r\n" % (len(data), data))
    return b"".join(parts)

"""One connection to a Redis server, reused for many commands."""

from typing import Any

from redis.asyncio import ConnectionPool
from redis.asyncio.connection import AbstractConnection


class RedisConnection:
    """Sends commands over one connection of a pool, one at a time.

    For each command, redis-py's client takes a connection out of the pool, checks it and puts it back, which together
    takes longer than the command. This class detects a dead connection when it uses it, and reconnects.
    """

    def __init__(self, pool: ConnectionPool) -> None:
        self._pool: Any = pool  # partly without types
        self._connection: AbstractConnection | None = None

    async def execute_command(self, *command: str | bytes | int) -> Any:
        """The server's response. Errors that the pool's `retry` names are retried, so commands must tolerate being sent
        twice.
        """
        if self._connection is None:
            self._connection = await self._pool.get_connection()
        connection = self._connection

        packed = _encode_command(command)

        async def ask() -> Any:
            await connection.send_packed_command(packed)
            return await connection.read_response()

        answer = await connection.retry.call_with_retry(ask, lambda _error: connection.disconnect())
        if connection.should_reconnect():  # the server has announced that it moves
            await connection.disconnect()
        return answer

    async def aclose(self) -> None:
        """Return the connection to the pool, which closes it."""
        if self._connection is not None:
            await self._pool.release(self._connection)
            self._connection = None


def _encode_command(command: tuple[str | bytes | int, ...]) -> bytes:
    """A command in wire format. redis-py's own packing costs a cart 3 µs more (docs/decisions/carts-in-memory.md)."""
    parts = [b"*%d\r\n" % len(command)]
    for argument in command:
        data = argument if isinstance(argument, bytes) else str(argument).encode()
        parts.append(b"$%d\r\n%b\r\n" % (len(data), data))
    return b"".join(parts)

"""The event loop of a serving process. It stops listening without dropping connected clients."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Any

import uvloop

from coffret.serving.connection import ClientConnection


class DrainingServer:
    """A listening socket whose `close` first accepts the clients in its backlog.

    The kernel would reset connections that are not accepted yet, although their requests may be on their way.
    """

    def __init__(
        self, server: asyncio.AbstractServer, listener: socket.socket, make: Callable[[], ClientConnection]
    ) -> None:
        self._server, self._listener, self._make = server, listener, make
        self._final_tasks: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        """Stop listening, and serve the waiting clients."""
        backlog = self._listener.dup()  # the last descriptor: whoever connects between `accept` and its end is reset
        backlog.setblocking(False)
        self._server.close()
        waiting = []
        with backlog, contextlib.suppress(BlockingIOError, OSError):
            while True:
                waiting.append(backlog.accept()[0])
        for client in waiting:
            client.setblocking(False)
            task = asyncio.ensure_future(self._serve(client, self._make()))
            self._final_tasks.add(task)
            task.add_done_callback(self._final_tasks.discard)

    async def _serve(self, client: socket.socket, connection: ClientConnection) -> None:
        try:
            await asyncio.get_running_loop().connect_accepted_socket(lambda: connection, client)
        except BaseException:
            connection.connections.discard(connection)
            client.close()
            raise

    def is_serving(self) -> bool:
        return self._server.is_serving()

    async def wait_closed(self) -> None:
        await self._server.wait_closed()


class DrainingLoop(uvloop.Loop):
    """uvloop with a DrainingServer around each socket passed to `create_server`."""

    async def create_server(self, protocol_factory: Any, *args: Any, sock: Any = None, **options: Any) -> Any:
        server = await super().create_server(protocol_factory, *args, sock=sock, **options)
        return server if sock is None else DrainingServer(server, sock, protocol_factory)

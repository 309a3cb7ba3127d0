"""The event loop of a serving process: it stops listening without cutting off who is connected already."""

import asyncio
import contextlib
import socket
from collections.abc import Callable
from typing import Any

import uvloop


class Listening:
    """A listening socket that, when it is closed, takes those in who wait at the door.

    Who has connected, and was not accepted yet, would be cut off by the kernel, although the request may be on its way.
    """

    def __init__(self, server: asyncio.AbstractServer, listener: socket.socket, make: Callable[[], Any]) -> None:
        self._server, self._listener, self._make = server, listener, make
        self._last: set[asyncio.Task[None]] = set()

    def close(self) -> None:
        """Accept nobody any more but those who wait already."""
        waiting = []
        with contextlib.suppress(BlockingIOError, OSError):
            while True:
                waiting.append(self._listener.accept()[0])
        self._server.close()
        for client in waiting:
            client.setblocking(False)
            task = asyncio.ensure_future(self._serve(client))
            self._last.add(task)
            task.add_done_callback(self._last.discard)

    async def _serve(self, client: socket.socket) -> None:
        _, connection = await asyncio.get_running_loop().connect_accepted_socket(self._make, client)
        connection.shutdown()

    async def wait_closed(self) -> None:
        """Wait until it listens no more."""
        await self._server.wait_closed()


class Loop(uvloop.Loop):
    """uvloop, with `Listening` around the sockets that it is given."""

    async def create_server(self, protocol_factory: Any, *args: Any, sock: Any = None, **options: Any) -> Any:
        """Serve connections by protocols."""
        server = await super().create_server(protocol_factory, *args, sock=sock, **options)
        return server if sock is None else Listening(server, sock, protocol_factory)

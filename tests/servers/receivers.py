"""Receivers of webhooks on this machine, which do as a test says: take, refuse, hang, drip, redirect, close."""

import asyncio
import contextlib
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import orjson
from standardwebhooks import Webhook


@dataclass(frozen=True)
class Received:
    """A request as it came."""

    method: str
    path: str
    headers: dict[str, str]
    body: bytes

    @property
    def event(self) -> Any:
        """What it tells."""
        return orjson.loads(self.body)

    @property
    def message_id(self) -> str:
        """Its `webhook-id`."""
        return self.headers["webhook-id"]

    def verified(self, secret: str) -> Any:
        """What the official library makes of it; an error when its signature is not good."""
        return Webhook(secret).verify(self.body, self.headers)


Behaviour: TypeAlias = Callable[[asyncio.StreamWriter], Awaitable[None]]


def answers(status: int, body: bytes = b"", **headers: str) -> Behaviour:
    """Answers with a status."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status} Whatever", f"content-length: {len(body)}"]
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()

    return behave


async def hangs(_writer: asyncio.StreamWriter) -> None:
    """Never answers."""
    await asyncio.sleep(3600)


async def closes(_writer: asyncio.StreamWriter) -> None:
    """Ends the connection without a word."""


async def talks_nonsense(writer: asyncio.StreamWriter) -> None:
    """Speaks no HTTP."""
    writer.write(b"220 mail.example ESMTP\r\n")
    await writer.drain()


def drips(status: int | None, size: int = 10_000) -> Behaviour:
    """Answers byte by byte: a body after a status, or (None) a header that never ends."""

    async def behave(writer: asyncio.StreamWriter) -> None:
        head = b"HTTP/1.1 200 OK\r\nx-slow: " if status is None else f"HTTP/1.1 {status} Slow\r\n\r\n".encode()
        writer.write(head)
        with contextlib.suppress(ConnectionError):
            for _ in range(size):
                writer.write(b"x")
                await writer.drain()
                await asyncio.sleep(0.02)

    return behave


TAKES = answers(204)


@dataclass
class Receiver:
    """A server and what it has received."""

    port: int = 0
    scheme: str = "http"
    received: list[Received] = field(default_factory=list)
    script: list[Behaviour] = field(default_factory=list)
    """What it does with the next requests, one after another."""
    otherwise: Behaviour = TAKES
    at_once: int = 0
    most_at_once: int = 0

    @property
    def url(self) -> str:
        """Where it is."""
        return f"{self.scheme}://127.0.0.1:{self.port}/hooks?shop=1"

    @property
    def ids(self) -> list[str]:
        """The ids of the events received, in order."""
        return [received.event["id"] for received in self.received]

    async def serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        try:
            request = await _read(reader)
        except (asyncio.IncompleteReadError, ConnectionError):
            writer.close()
            return
        self.received.append(request)
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        try:
            await (self.script.pop(0) if self.script else self.otherwise)(writer)
        finally:
            self.at_once -= 1
            writer.close()


async def _read(reader: asyncio.StreamReader) -> Received:
    head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
    method, path, _ = head[0].split(" ")
    headers = {name.lower(): value for name, _, value in (line.partition(": ") for line in head[1:] if line)}
    body = await reader.readexactly(int(headers.get("content-length", "0")))
    return Received(method, path, headers, body)


@contextlib.asynccontextmanager
async def receiving(tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    """A receiver on a free port of this machine."""
    receiver = Receiver(scheme="https" if tls else "http")
    running: set[asyncio.Task[None]] = set()

    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.ensure_future(receiver.serve(reader, writer))
        running.add(task)
        task.add_done_callback(running.discard)

    server = await asyncio.start_server(accept, "127.0.0.1", 0, ssl=tls)
    receiver.port = server.sockets[0].getsockname()[1]
    try:
        yield receiver
    finally:
        server.close()
        for task in list(running):
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)
        await server.wait_closed()

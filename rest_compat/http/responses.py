"""An answer on its way out: bytes and headers, straight to the server."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import orjson
from starlette.types import Send

Header = tuple[bytes, bytes]

JSON = (b"content-type", b"application/json")
NOT_KEPT = (b"cache-control", b"no-store")
"""Goes with every answer: it belongs to the token that asked."""


@dataclass(slots=True)
class Answer:
    """A whole answer."""

    body: bytes
    status: int = 200
    headers: list[Header] = field(default_factory=lambda: [JSON])
    sized: bool = True
    """Whether the body is all there is of it; to a HEAD it may be what nobody has made yet."""

    async def send(self, send: Send, *, head: bool = False) -> None:
        """Send it; `head` leaves the body out and says how long it would be."""
        size = [(b"content-length", str(len(self.body)).encode())] if self.sized else []
        headers = [*self.headers, NOT_KEPT, *size]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if head else self.body})


@dataclass(slots=True)
class Streamed:
    """An answer written while it is read from the database."""

    chunks: AsyncIterator[bytes]
    status: int = 200
    headers: list[Header] = field(default_factory=lambda: [JSON])

    async def send(self, send: Send, *, head: bool = False) -> None:
        """Send it chunk by chunk."""
        await send({"type": "http.response.start", "status": self.status, "headers": [*self.headers, NOT_KEPT]})
        if not head:
            async for chunk in self.chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def as_json(data: Any, status: int = 200, *headers: Header) -> Answer:
    """Data that orjson can write, as an answer."""
    return Answer(orjson.dumps(data), status, [JSON, *headers])

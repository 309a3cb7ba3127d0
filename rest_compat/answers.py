"""An answer on its way out: bytes and headers, straight to the server."""

import re
import uuid
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import orjson
from starlette.types import Scope, Send

Header = tuple[bytes, bytes]

JSON = (b"content-type", b"application/json")
_SANE_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:+/=-]{1,128}")


@dataclass(slots=True)
class Answer:
    """A whole answer."""

    body: bytes
    status: int = 200
    headers: list[Header] = field(default_factory=lambda: [JSON])

    async def send(self, send: Send, *, head: bool = False) -> None:
        """Send it; `head` leaves the body out and says how long it would be."""
        headers = [*self.headers, (b"content-length", str(len(self.body)).encode())]
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
        await send({"type": "http.response.start", "status": self.status, "headers": self.headers})
        if not head:
            async for chunk in self.chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def as_json(data: Any, status: int = 200, *headers: Header) -> Answer:
    """Data that orjson can write, as an answer."""
    return Answer(orjson.dumps(data), status, [JSON, *headers])


def request_id(scope: Scope) -> tuple[str, list[Header]]:
    """The id of this request, and the header that tells it, unless whoever gave the id tells it already.

    It is the caller's own `X-Request-Id` when that is a sane one.
    """
    state: dict[str, Any] = scope.setdefault("state", {})
    known = state.get("request_id")
    if known is not None:
        return str(known), []
    sent = next((value for name, value in scope["headers"] if name == b"x-request-id"), b"")
    own = sent if _SANE_REQUEST_ID.fullmatch(sent) else str(uuid.uuid4()).encode()
    state["request_id"] = own.decode()
    return own.decode(), [(b"x-request-id", own)]

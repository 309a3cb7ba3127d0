"""Responses as bytes and headers, sent straight to the ASGI server."""

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any

import orjson
from starlette.types import Receive, Scope, Send

Header = tuple[bytes, bytes]

JSON = (b"content-type", b"application/json")
NO_STORE = (b"cache-control", b"no-store")
"""Sent with every response: it belongs to the token of the request."""


@dataclass(slots=True)
class RestResponse:
    """A response with its complete body."""

    body: bytes
    status: int = 200
    headers: list[Header] = field(default_factory=lambda: [JSON])
    has_content_length: bool = True
    """False for a HEAD whose body is not computed, so that its length is unknown."""

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        """Send the response; for HEAD the headers alone, including the length of the body."""
        size = [(b"content-length", str(len(self.body)).encode())] if self.has_content_length else []
        headers = [*self.headers, NO_STORE, *size]
        await send({"type": "http.response.start", "status": self.status, "headers": headers})
        await send({"type": "http.response.body", "body": b"" if scope["method"] == "HEAD" else self.body})


@dataclass(slots=True)
class StreamingRestResponse:
    """A response that is sent while its rows are read from the database."""

    chunks: AsyncIterator[bytes]
    status: int = 200
    headers: list[Header] = field(default_factory=lambda: [JSON])

    async def __call__(self, scope: Scope, _receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": self.status, "headers": [*self.headers, NO_STORE]})
        if scope["method"] != "HEAD":
            async for chunk in self.chunks:
                await send({"type": "http.response.body", "body": chunk, "more_body": True})
        await send({"type": "http.response.body", "body": b""})


def json_response(data: Any, status: int = 200, *headers: Header) -> RestResponse:
    """A response with data serialized by orjson."""
    return RestResponse(orjson.dumps(data), status, [JSON, *headers])

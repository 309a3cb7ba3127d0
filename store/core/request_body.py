"""Reads the bodies of requests for every transport: bytes within a limit, JSON, and multipart forms."""

import json
import re
from collections.abc import AsyncIterator
from typing import Any, NoReturn

import orjson
from starlette.datastructures import FormData, Headers
from starlette.formparsers import MultiPartException, MultiPartParser
from starlette.requests import ClientDisconnect, Request

from schema.core.errors import TooLarge, UnsupportedMediaType

APPLICATION_JSON = "application/json"
MULTIPART = "multipart/form-data"
MEBIBYTE = 1024 * 1024
BODY_LIMIT = MEBIBYTE
UPLOAD_LIMIT = 10 * MEBIBYTE

_SURROGATE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")


class UnreadableBody(ValueError):
    """A body is not what its media type says; the message says why."""


class RequestBody:
    """The body of a request, and what its headers say about it."""

    def __init__(self, request: Request) -> None:
        self._request = request
        self._headers: dict[bytes, bytes] = dict(request.scope["headers"])
        kind, _, self._options = self._headers.get(b"content-type", b"").decode("latin-1").partition(";")
        self.media_type = kind.strip().lower()
        """Without its parameters; empty if there is none."""

    @property
    def is_utf8(self) -> bool:
        """Whether the media type's parameter, such as `charset=utf-8`, allows UTF-8; without a charset it does."""
        name, _, value = self._options.partition("=")
        return name.strip().lower() != "charset" or value.strip().strip('"').lower() in {"utf-8", "utf8"}

    async def read(self, limit: int) -> bytes:
        """The whole body. Raises TooLarge if it has more bytes than `limit`, of which no more are read."""
        length = self._headers.get(b"content-length", b"")[:20]  # Python reads no number of thousands of digits
        room = -1 if length.isdigit() and int(length) > limit else limit
        chunks: list[bytes] = []
        more = True
        while more and room >= 0:
            message = await self._request.receive()
            if message["type"] == "http.disconnect":
                raise ClientDisconnect
            chunks.append(message.get("body", b""))
            room -= len(chunks[-1])
            more = message.get("more_body", False)
        if room < 0:
            raise TooLarge(limit=f"{limit // MEBIBYTE} MiB")
        return b"".join(chunks)

    def check_encoding(self) -> None:
        """Raises UnsupportedMediaType if the body is compressed."""
        if self._headers.get(b"content-encoding", b"identity").lower() != b"identity":
            raise UnsupportedMediaType(wanted="the body without Content-Encoding")

    async def parse_form(self, raw: bytes, *, max_files: int, max_fields: int) -> FormData:
        """The fields and files of a multipart form; raises UnreadableBody. A file may be as large as the body."""
        try:
            return await _InMemory(self._request.headers, raw, max_files, max_fields).parse()
        except MultiPartException as error:
            raise UnreadableBody(error.message.rstrip(".")) from None
        except UnicodeError:  # Python knows the encoding's name and cannot decode it
            raise UnreadableBody("Its charset cannot be read") from None


class _InMemory(MultiPartParser):
    """Starlette's parser moves files above 1 MB to temporary files; this one holds them in memory."""

    def __init__(self, headers: Headers, raw: bytes, max_files: int, max_fields: int) -> None:
        async def stream() -> AsyncIterator[bytes]:
            yield raw

        super().__init__(
            headers,
            stream(),  # type: ignore[arg-type]  # asks for a generator, and only iterates
            max_files=max_files,
            max_fields=max_fields,
            max_part_size=BODY_LIMIT,
        )
        self.spool_max_size = len(raw) + 1


def parse_json(raw: bytes | str) -> Any:
    """Parse JSON. The last of duplicate keys wins. Raises UnreadableBody, also for NaN, infinities, lone surrogates and
    nesting beyond 1024 levels.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        raise UnreadableBody(str(error)) from None


def parse_json_with_surrogates(raw: bytes) -> Any:
    """Parse JSON that may hold lone surrogates, so that the caller can name their places. Raises UnreadableBody."""
    try:
        return parse_json(raw)
    except UnreadableBody:
        if not _SURROGATE.search(raw):
            raise

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is no JSON")

    try:
        return json.loads(raw, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise UnreadableBody(str(error)) from None

"""Reads request bodies: checks the size, then the media type, then the JSON or form syntax."""

import enum
import json
import re
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import parse_qsl

import orjson
from starlette.datastructures import UploadFile
from starlette.formparsers import MultiPartException
from starlette.requests import ClientDisconnect, Request
from starlette.types import Message

from rest_compat.http.storable import drop_unstorable
from schema.core.errors import MalformedBody, Problem, TooLarge, UnsupportedMediaType
from schema.validation.characters import is_utf8
from store.core.multipart import read_multipart

MEBIBYTE = 1024 * 1024
BODY_LIMIT = MEBIBYTE
UPLOAD_LIMIT = 10 * MEBIBYTE
MOST_FIELDS = 200

_SURROGATE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")


class Accepts(enum.Enum):
    """The media types that a route accepts."""

    JSON = "application/json"
    FORM = "application/json, application/x-www-form-urlencoded or multipart/form-data"
    UPLOAD = "multipart/form-data"

    @property
    def media_types(self) -> list[str]:
        return self.value.replace(" or ", ", ").split(", ")

    @property
    def limit(self) -> int:
        """Maximum size of the body in bytes."""
        return UPLOAD_LIMIT if self is Accepts.UPLOAD else BODY_LIMIT


@dataclass(slots=True)
class RequestBody:
    """A parsed request body."""

    data: Any
    """Any JSON value, or the fields and files of a form as a dict; without texts that cannot be stored."""
    problems: tuple[Problem, ...] = ()
    """One problem for each text or key that cannot be stored."""

    async def close(self) -> None:
        """Close uploaded files."""
        if isinstance(self.data, dict):
            for value in self.data.values():
                if isinstance(value, UploadFile):
                    await value.close()


async def read_body(request: Request, accepts: Accepts) -> RequestBody:
    """Read the body of a request. An empty body is `{}`; a body without `Content-Type` is read as JSON.

    Raises TooLarge, UnsupportedMediaType and MalformedBody.
    """
    headers: dict[bytes, bytes] = dict(request.scope["headers"])
    raw = await _read(request, headers.get(b"content-length", b""), accepts.limit)
    if not raw:
        return RequestBody({})
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise UnsupportedMediaType(wanted="the body without Content-Encoding")
    kind, _, options = headers.get(b"content-type", b"").decode("latin-1").partition(";")
    kind = kind.strip().lower()
    if not kind or kind == "application/json":
        if accepts is Accepts.UPLOAD or (options and not is_utf8(options)):
            raise UnsupportedMediaType(wanted=accepts.value)
        data = parse_json(raw)
        return RequestBody(*drop_unstorable(data)) if _may_hold_unstorable(raw) else RequestBody(data)
    if accepts is not Accepts.JSON and kind == "multipart/form-data":
        return RequestBody(*drop_unstorable(await _multipart(request, raw)))
    if accepts is Accepts.FORM and kind == "application/x-www-form-urlencoded":
        return RequestBody(*drop_unstorable(_parse_urlencoded(raw)))
    raise UnsupportedMediaType(wanted=accepts.value)


def parse_json(raw: bytes) -> Any:
    """Parse JSON. The last of duplicate keys wins. Raises MalformedBody, also for NaN, infinities and nesting beyond
    1024 levels.
    """
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if _SURROGATE.search(raw):
            return _with_lone_surrogates(raw)
        raise MalformedBody(reason=str(error)) from None


def _may_hold_unstorable(raw: bytes) -> bool:
    """True if a text may be unstorable. UTF-8 JSON can hold NUL and lone surrogates only as escapes."""
    return b"\\u" in raw and (b"\\u0000" in raw or _SURROGATE.search(raw) is not None)


async def _read(request: Request, length: bytes, limit: int) -> bytes:
    if length.isdigit() and int(length) > limit:
        raise TooLarge(limit=_readable(limit))
    message = await request.receive()
    body = _chunk(message)
    if message.get("more_body", False):
        chunks, size = [body], len(body)
        while message.get("more_body", False) and size <= limit:
            message = await request.receive()
            chunks.append(_chunk(message))
            size += len(chunks[-1])
        body = b"".join(chunks)
    if len(body) > limit:
        raise TooLarge(limit=_readable(limit))
    return body


def _chunk(message: Message) -> bytes:
    if message["type"] == "http.disconnect":
        raise ClientDisconnect
    chunk: bytes = message.get("body", b"")
    return chunk


def _readable(limit: int) -> str:
    return f"{limit // MEBIBYTE} MiB"


def _with_lone_surrogates(raw: bytes) -> Any:
    """Parse JSON that orjson refuses because of a lone surrogate, so that the problem can name its field."""

    def refuse(constant: str) -> NoReturn:
        raise ValueError(f"{constant} is no JSON")

    try:
        return json.loads(raw, parse_constant=refuse)
    except (ValueError, RecursionError) as error:
        raise MalformedBody(reason=str(error)) from None


async def _multipart(request: Request, raw: bytes) -> dict[str, str | UploadFile]:
    limits = {"max_files": 1, "max_fields": MOST_FIELDS, "max_part_size": MEBIBYTE}
    try:
        return dict(await read_multipart(request.headers, raw, **limits))
    except MultiPartException as error:
        raise MalformedBody(reason=error.message.rstrip(".")) from None


def _parse_urlencoded(raw: bytes) -> dict[str, str]:
    try:
        return dict(parse_qsl(raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
    except ValueError:
        raise MalformedBody(reason="it is no form in UTF-8") from None

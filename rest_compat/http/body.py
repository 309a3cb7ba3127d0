"""What a client sent: its size, its media type, its JSON or form, in the order in which each is refused."""

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

from rest_compat.http.storable import storable
from schema.core.errors import MalformedBody, Problem, TooLarge, UnsupportedMediaType
from schema.validation.charset import is_utf8
from store.core.multipart import read_multipart

MEBIBYTE = 1024 * 1024
BODY_LIMIT = MEBIBYTE
UPLOAD_LIMIT = 10 * MEBIBYTE
MOST_FIELDS = 200

_SURROGATE = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}")


class Accepts(enum.Enum):
    """What a route's body may be."""

    JSON = "application/json"
    FORM = "application/json, application/x-www-form-urlencoded or multipart/form-data"
    UPLOAD = "multipart/form-data"

    @property
    def media_types(self) -> list[str]:
        """Each of them."""
        return self.value.replace(" or ", ", ").split(", ")

    @property
    def limit(self) -> int:
        """How large a body may be, in bytes."""
        return UPLOAD_LIMIT if self is Accepts.UPLOAD else BODY_LIMIT


@dataclass(slots=True)
class Sent:
    """A body that could be read."""

    data: Any
    """Whatever JSON it is, or the fields and files of a form as a dict, with texts that can be stored only."""
    problems: tuple[Problem, ...] = ()
    """Texts that no database takes, which stand in it no more."""

    async def close(self) -> None:
        """Let go of uploaded files."""
        if isinstance(self.data, dict):
            for value in self.data.values():
                if isinstance(value, UploadFile):
                    await value.close()


async def sent_body(request: Request, accepts: Accepts) -> Sent:
    """The body of a request; an empty one is `{}`, one without `Content-Type` is JSON."""
    headers: dict[bytes, bytes] = dict(request.scope["headers"])
    raw = await _read(request, headers.get(b"content-length", b""), accepts.limit)
    if not raw:
        return Sent({})
    if headers.get(b"content-encoding", b"identity").lower() != b"identity":
        raise UnsupportedMediaType(wanted="the body without Content-Encoding")
    kind, _, options = headers.get(b"content-type", b"").decode("latin-1").partition(";")
    kind = kind.strip().lower()
    if not kind or kind == "application/json":
        if accepts is Accepts.UPLOAD or (options and not is_utf8(options)):
            raise UnsupportedMediaType(wanted=accepts.value)
        data = parsed(raw)
        return Sent(*storable(data)) if _may_hold_unstorable(raw) else Sent(data)
    if accepts is not Accepts.JSON and kind == "multipart/form-data":
        return Sent(*storable(await _multipart(request, raw)))
    if accepts is Accepts.FORM and kind == "application/x-www-form-urlencoded":
        return Sent(*storable(_urlencoded(raw)))
    raise UnsupportedMediaType(wanted=accepts.value)


def parsed(raw: bytes) -> Any:
    """JSON. Of a key sent twice the last one counts; NaN, infinities and nesting beyond 1024 levels are no JSON."""
    try:
        return orjson.loads(raw)
    except orjson.JSONDecodeError as error:
        if _SURROGATE.search(raw):
            return _with_lone_surrogates(raw)
        raise MalformedBody(reason=str(error)) from None


def _may_hold_unstorable(raw: bytes) -> bool:
    """Whether it is worth looking: both are written as escapes, as neither can stand in UTF-8 JSON as it is."""
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
    """JSON that orjson refuses for half a surrogate pair, read so that the field it stands in can be named."""

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


def _urlencoded(raw: bytes) -> dict[str, str]:
    try:
        return dict(parse_qsl(raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
    except ValueError:
        raise MalformedBody(reason="it is no form in UTF-8") from None

"""Reads request bodies: checks the size, then the media type, then the JSON or form syntax."""

import enum
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qsl

from starlette.datastructures import UploadFile
from starlette.requests import Request

from schema.core.errors import MalformedBody, Problem, UnsupportedMediaType
from schema.validation.storable import drop_unstorable, may_hold_unstorable
from store.core.request_body import (
    APPLICATION_JSON,
    BODY_LIMIT,
    MULTIPART,
    UPLOAD_LIMIT,
    RequestBody,
    UnreadableBody,
    parse_json_with_surrogates,
)

URLENCODED = "application/x-www-form-urlencoded"
MOST_FIELDS = 200


class Accepts(enum.Enum):
    """The media types that a route accepts."""

    JSON = (APPLICATION_JSON,)
    FORM = (APPLICATION_JSON, URLENCODED, MULTIPART)
    UPLOAD = (MULTIPART,)

    @property
    def media_types(self) -> tuple[str, ...]:
        found: tuple[str, ...] = self.value
        return found

    @property
    def limit(self) -> int:
        """Maximum size of the body in bytes."""
        return UPLOAD_LIMIT if self is Accepts.UPLOAD else BODY_LIMIT


@dataclass(slots=True)
class RestBody:
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


async def read_body(request: Request, accepts: Accepts) -> RestBody:
    """Read the body of a request. An empty body is `{}`; a body without `Content-Type` is read as JSON.

    Raises TooLarge, UnsupportedMediaType and MalformedBody.
    """
    body = RequestBody(request)
    raw = await body.read(accepts.limit)
    if not raw:
        return RestBody({})
    body.check_encoding()
    kind = body.media_type or APPLICATION_JSON
    if kind not in accepts.media_types or (kind == APPLICATION_JSON and not body.is_utf8):
        raise UnsupportedMediaType(wanted=accepts.media_types)
    try:
        if kind == MULTIPART:
            return RestBody(*report_unstorable(dict(await body.parse_form(raw, max_files=1, max_fields=MOST_FIELDS))))
        if kind == URLENCODED:
            return RestBody(*report_unstorable(_parse_urlencoded(raw)))
        data = parse_json_with_surrogates(raw)
    except UnreadableBody as error:
        raise MalformedBody(reason=str(error)) from None
    return RestBody(*report_unstorable(data)) if may_hold_unstorable(raw) else RestBody(data)


def report_unstorable(data: Any) -> tuple[Any, tuple[Problem, ...]]:
    """The data without texts that cannot be stored, and a problem for each of them."""
    kept, dropped = drop_unstorable(data)
    message = "This text holds a character that cannot be stored."
    return kept, tuple(Problem(path, "INVALID", message) for path in dropped)


def _parse_urlencoded(raw: bytes) -> dict[str, str]:
    try:
        return dict(parse_qsl(raw.decode(), keep_blank_values=True, errors="strict", max_num_fields=MOST_FIELDS))
    except ValueError:
        raise UnreadableBody("it is no form in UTF-8") from None

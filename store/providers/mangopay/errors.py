"""Maps the provider's error responses to the errors of the port."""

import datetime as dt
import re
from collections.abc import Mapping

import httpx
import orjson

from store.providers.actions import ActionKind, UserAction
from store.providers.errors import (
    ActionRequired,
    InvalidRequest,
    NotAllowed,
    ProviderError,
    ProviderNotFound,
    TransientError,
)
from store.providers.mangopay.objects import ErrorBody, Unreadable, parse_object

KEY_UNKNOWN = "correlationid_not_found"
_RATE_LIMITED_FOR = 60.0
"""Seconds to wait after a rate limit response without a usable reset time."""
_URL = re.compile(r"https?://[^\s\"'<>,]+")


def json_of(response: httpx.Response) -> object:
    """The parsed body. Raises `Unreadable` if it is not JSON. NUL, which PostgreSQL rejects, is replaced by U+FFFD."""
    try:
        return orjson.loads(response.content.replace(rb"\u0000", rb"\ufffd"))
    except orjson.JSONDecodeError:
        raise Unreadable("The response is not JSON.") from None


def error_body_of(body: object) -> ErrorBody:
    """The error body; empty if it is not an object."""
    return parse_object(ErrorBody, body if isinstance(body, dict) else {})


def error_body_in(response: httpx.Response) -> ErrorBody:
    """The error body of a response; empty if it cannot be parsed."""
    try:
        return error_body_of(json_of(response))
    except Unreadable:
        return error_body_of(None)


def authentication_url(headers: Mapping[str, str]) -> str | None:
    """The URL where the owner of the resource must authenticate, from a 401 that is not about our token."""
    challenge = headers.get("www-authenticate", "")
    link = _URL.search(challenge) if "pendinguseraction" in challenge.lower() else None
    return link.group() if link else None


def error_in(response: httpx.Response, now: dt.datetime) -> ProviderError:
    """The error of an unsuccessful response."""
    return error_of(response.status_code, error_body_in(response), response.headers, now)


def error_of(status: int, refusal: ErrorBody, headers: Mapping[str, str], now: dt.datetime) -> ProviderError:
    """The error for a status, an error body and headers."""
    message = refusal.message or f"The provider answered {status}."
    code, id = refusal.type, refusal.id
    match status:
        case 401 if url := authentication_url(headers):
            return ActionRequired(message, UserAction(ActionKind.AUTHENTICATION, url), code=code, request_id=id)
        case 401 | 403:
            return NotAllowed(message, code=code, request_id=id)
        case 404:
            return ProviderNotFound(message, code=code, request_id=id)
        case 429:
            return TransientError(message, retry_after=retry_after(headers, now), code=code, request_id=id)
        case 408:
            return TransientError(message, code=code, request_id=id)
        case _ if 400 <= status < 500:
            return InvalidRequest(message, refusal.errors, code=code, request_id=id)
        case _:
            return TransientError(message, code=code, request_id=id)


def retry_after(headers: Mapping[str, str], now: dt.datetime) -> float:
    """Seconds until the first exhausted rate limit window resets, as that may be the only exceeded one."""
    resets = numbers(headers.get("x-ratelimit-reset", ""))
    remaining = numbers(headers.get("x-ratelimit-remaining", ""))
    if len(remaining) != len(resets):
        remaining = [0] * len(resets)
    waits = [reset - now.timestamp() for reset, left in zip(resets, remaining, strict=True) if left <= 0]
    return min((wait for wait in waits if wait > 0), default=_RATE_LIMITED_FOR)


def numbers(text: str) -> list[int]:
    """The numbers of a list such as `1, 2, 3`; empty if any part is not a number, because positions matter."""
    parts = [part.strip() for part in text.split(",")]
    return [int(part) for part in parts] if all(re.fullmatch("[0-9]+", part) for part in parts) else []

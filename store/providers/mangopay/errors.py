"""The provider's refusals, as the port's errors."""

import datetime as dt
import re
from collections.abc import Mapping

import httpx
import orjson

from store.providers.actions import ActionKind, UserAction
from store.providers.base import (
    ActionRequired,
    InvalidRequest,
    NotAllowed,
    NotFound,
    ProviderError,
    Transient,
)
from store.providers.mangopay.objects import Refusal, Unreadable, read

KEY_NOT_KNOWN = "correlationid_not_found"
_RATE_LIMITED_FOR = 60.0
"""Seconds to stay away when a refusal for too many calls does not say."""
_URL = re.compile(r"https?://[^\s\"'<>,]+")


def json_of(response: httpx.Response) -> object:
    """The body; `Unreadable` when it is not JSON. NUL, which no database takes, is shown as what cannot be shown."""
    try:
        return orjson.loads(response.content.replace(rb"\u0000", rb"\ufffd"))
    except orjson.JSONDecodeError:
        raise Unreadable("The answer is not JSON.") from None


def refusal_of(body: object) -> Refusal:
    """What an error's body says, empty when it says nothing that can be read."""
    return read(Refusal, body if isinstance(body, dict) else {})


def refusal_in(response: httpx.Response) -> Refusal:
    """What an error's answer says."""
    try:
        return refusal_of(json_of(response))
    except Unreadable:
        return refusal_of(None)


def where_to_authenticate(headers: Mapping[str, str]) -> str | None:
    """The address that the owner of a resource must go to first, in a 401 that is not about our token."""
    challenge = headers.get("www-authenticate", "")
    link = _URL.search(challenge) if "pendinguseraction" in challenge.lower() else None
    return link.group() if link else None


def error_in(response: httpx.Response, now: dt.datetime) -> ProviderError:
    """The error that an answer which is no success stands for."""
    return error_of(response.status_code, refusal_in(response), response.headers, now)


def error_of(status: int, refusal: Refusal, headers: Mapping[str, str], now: dt.datetime) -> ProviderError:
    """The error of a status and what its body and headers say."""
    message = refusal.message or f"The provider answered {status}."
    code, id = refusal.type, refusal.id
    match status:
        case 401 if url := where_to_authenticate(headers):
            return ActionRequired(message, UserAction(ActionKind.AUTHENTICATION, url), code=code, request_id=id)
        case 401 | 403:
            return NotAllowed(message, code=code, request_id=id)
        case 404:
            return NotFound(message, code=code, request_id=id)
        case 429:
            return Transient(message, retry_after=_retry_after(headers, now), code=code, request_id=id)
        case 408:
            return Transient(message, code=code, request_id=id)
        case _ if 400 <= status < 500:
            return InvalidRequest(message, refusal.errors, code=code, request_id=id)
        case _:
            return Transient(message, code=code, request_id=id)


def _retry_after(headers: Mapping[str, str], now: dt.datetime) -> float:
    """Seconds until the first of the used-up windows starts anew; its limit may be the only one that was met."""
    resets = _numbers(headers.get("x-ratelimit-reset", ""))
    remaining = _numbers(headers.get("x-ratelimit-remaining", ""))
    if len(remaining) != len(resets):
        remaining = [0] * len(resets)
    waits = [reset - now.timestamp() for reset, left in zip(resets, remaining, strict=True) if left <= 0]
    return min((wait for wait in waits if wait > 0), default=_RATE_LIMITED_FOR)


def _numbers(text: str) -> list[int]:
    """`1, 2, 3`; nothing of a list that is not all numbers, as its places would be lost."""
    parts = [part.strip() for part in text.split(",")]
    return [int(part) for part in parts] if all(re.fullmatch("[0-9]+", part) for part in parts) else []

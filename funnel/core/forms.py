"""Reads forms, and protects them against cross-site request forgery."""

import datetime as dt
import hmac
import secrets
from collections.abc import Mapping
from urllib.parse import parse_qsl

from starlette.requests import ClientDisconnect, Request

from schema.core.errors import AppError, MalformedBody, TooLarge, UnsupportedMediaType

LARGEST = 256 * 1024
MOST_FIELDS = 4000
TOKEN_FIELD = "csrf"  # noqa: S105 - the name of a field
FORM = "application/x-www-form-urlencoded"

Form = Mapping[str, str]
"""The fields of a form; the last value of a repeated one."""


SHOWN_ERRORS = "shown_errors"
"""The field with the ids of the fields whose errors the page shows."""


def shown_errors_of(form: Form) -> frozenset[str]:
    """The ids of the fields whose errors are on the page. A preview tells only of these: others are still being typed."""
    return frozenset(form.get(SHOWN_ERRORS, "").split())


class CsrfFailed(AppError):
    """This form was not sent from a page of this checkout, or that page is too old. Open the page again."""

    status = 403


async def read_form(request: Request) -> Form:
    """The fields of a submitted form. Raises TooLarge, UnsupportedMediaType, MalformedBody."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != FORM:
        raise UnsupportedMediaType(wanted=FORM)
    body = bytearray()
    try:
        async for chunk in request.stream():
            body += chunk
            if len(body) > LARGEST:
                raise TooLarge(limit=f"{LARGEST // 1024} KiB")
    except ClientDisconnect as error:
        raise MalformedBody(reason="it ends too early") from error
    try:
        form = dict(parse_qsl(body.decode(), keep_blank_values=True, max_num_fields=MOST_FIELDS))
    except ValueError as error:
        raise MalformedBody(reason="it is not a form") from error
    if any("\x00" in text for field in form.items() for text in field):  # PostgreSQL refuses it
        raise MalformedBody(reason="it has characters that are none")
    return form


def check_origin(request: Request, origin: str) -> None:
    """Raise CsrfFailed if the browser says that the form was sent from a page of another origin."""
    site, from_ = request.headers.get("sec-fetch-site"), request.headers.get("origin")
    if (site is not None and site != "same-origin") or (from_ is not None and from_ != origin):
        raise CsrfFailed


class CsrfTokens:
    """CSRF tokens bound to a browser session.

    Each page gets a new one, so that compression reveals nothing about it.
    """

    def __init__(self, secret: str) -> None:
        self._key = hmac.digest(secret.encode(), b"checkout forms", "sha256")

    def make(self, session_id: str) -> str:
        salt = secrets.token_urlsafe(12)
        return f"{salt}.{self._sign(salt, session_id)}"

    def check(self, request: Request, form: Form, session_id: str, origin: str) -> None:
        """Raise CsrfFailed unless the form was sent from a page at `origin`, with a token of this session."""
        check_origin(request, origin)
        salt, _, signature = form.get(TOKEN_FIELD, "").partition(".")
        if not hmac.compare_digest(signature.encode(), self._sign(salt, session_id).encode()):
            raise CsrfFailed

    def _sign(self, salt: str, session_id: str) -> str:
        return hmac.digest(self._key, f"{salt}.{session_id}".encode(), "sha256").hex()


def local_time(typed: str) -> dt.time:
    """A time of the day in the time zone of the shop, whatever offset it has. Raises ValueError for what is none."""
    return dt.time.fromisoformat(typed).replace(tzinfo=None)

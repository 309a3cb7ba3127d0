"""Forms: how they are read, and how we know that they come from a page of ours."""

import hashlib
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
"""The fields of a form; of those sent twice, the last."""


class ForeignForm(AppError):
    """This form was not sent from a page of this checkout, or that page is too old. Open the page again."""

    status = 403


async def read_form(request: Request) -> Form:
    """The fields that a browser sent. Raises TooLarge, UnsupportedMediaType, MalformedBody."""
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
    if any("\x00" in text for field in form.items() for text in field):  # no browser sends it, and no column takes it
        raise MalformedBody(reason="it has characters that are none")
    return form


class FormTokens:
    """Tokens that tie a form to one browser session. Each page has another, so that compression tells nothing about it."""

    def __init__(self, secret: str) -> None:
        self._key = hmac.digest(secret.encode(), b"checkout forms", "sha256")

    def make(self, session_id: str) -> str:
        """A token for the forms of one page."""
        salt = secrets.token_urlsafe(12)
        return f"{salt}.{self._sign(salt, session_id)}"

    def check(self, request: Request, form: Form, session_id: str, origin: str) -> None:
        """Raise ForeignForm unless the form was sent from a page at `origin`, made for this session."""
        site, from_ = request.headers.get("sec-fetch-site"), request.headers.get("origin")
        if (site is not None and site != "same-origin") or (from_ is not None and from_ != origin):
            raise ForeignForm
        salt, _, signature = form.get(TOKEN_FIELD, "").partition(".")
        if not hmac.compare_digest(signature.encode(), self._sign(salt, session_id).encode()):
            raise ForeignForm

    def _sign(self, salt: str, session_id: str) -> str:
        return hmac.new(self._key, f"{salt}.{session_id}".encode(), hashlib.sha256).hexdigest()

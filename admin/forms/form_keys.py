"""The idempotency key of a form: sent twice, it takes effect once. A form that asks for many changes makes a key for each of it."""

import secrets
from collections.abc import Mapping

from resolvers.core.idempotency import KEY_PATTERN
from schema.core.errors import MalformedBody

KEY = "_key"
"""The field of the form."""
LONGEST = 64


def new_form_key() -> str:
    """A key for a form that is shown."""
    return secrets.token_urlsafe(16)


def form_key_of(form: Mapping[str, str]) -> str | None:
    """The key of a submitted form, which programs may leave out. Raises MalformedBody for one that is none."""
    key = form.get(KEY) or None
    if key is not None and not KEY_PATTERN.fullmatch(key):
        raise MalformedBody(reason="it was changed on its way")
    return key


def required_form_key_of(form: Mapping[str, str]) -> str:
    """The key of a submitted form, of which others are made. Raises MalformedBody if it has none, or one that is too long."""
    key = form_key_of(form)
    if key is None or len(key) > LONGEST:
        raise MalformedBody(reason="it was changed on its way")
    return key

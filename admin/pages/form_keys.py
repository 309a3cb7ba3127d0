"""The idempotency key of a form that asks for many changes: each change has a key made of it."""

import re
from collections.abc import Mapping

from schema.core.errors import MalformedBody

FORM_KEY = "_key"
"""The field of the form."""
PATTERN = re.compile(r"[\w-]{16,64}", re.ASCII)


def form_key_of(form: Mapping[str, str]) -> str:
    """The key of a submitted form. Raises MalformedBody if it has none."""
    key = form.get(FORM_KEY, "")
    if not PATTERN.fullmatch(key):
        raise MalformedBody(reason="it was changed on its way")
    return key

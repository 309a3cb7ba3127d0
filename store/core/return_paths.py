"""Return addresses for pages of the payment provider, short enough for every provider."""

import secrets
import string

from store.core.settings import Settings

PREFIX = "/k/"
PATH_LENGTH = 8
_PATH_CHARACTERS = string.ascii_letters + string.digits
MAX_LENGTH = 50
"""The maximum length of an identity check's return address, by the provider's documentation."""


def provider_return_url(settings: Settings, path: str) -> str:
    return f"{settings.public_url}{PREFIX}{path}"


def excess_length(settings: Settings) -> int:
    """By how many characters this service's return addresses exceed `MAX_LENGTH`; 0 if they fit."""
    return max(0, len(provider_return_url(settings, "x" * PATH_LENGTH)) - MAX_LENGTH)


def new_path() -> str:
    """A random end of a return address: eight characters, 47 bits."""
    return "".join(secrets.choice(_PATH_CHARACTERS) for _ in range(PATH_LENGTH))


def is_path(path: str) -> bool:
    """True if a text has the form of such an end.

    Other texts are never looked up, since the database cannot take every text.
    """
    return len(path) == PATH_LENGTH and set(path) <= set(_PATH_CHARACTERS)

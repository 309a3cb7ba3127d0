"""Signed tokens in links: nobody can make or change one without the installation's secret."""

import hashlib
from collections.abc import Sequence
from typing import Any

from itsdangerous import BadData, URLSafeSerializer

from store.core.settings import Settings


class BadLink(Exception):
    """A token is forged, damaged, or for another purpose."""


def sign_link(settings: Settings, purpose: str, content: Sequence[Any]) -> str:
    """The token of a link. It is valid for its purpose only, and for as long as the installation keeps its secret."""
    token: str = _serializer(settings, purpose).dumps(content)
    return token


def read_link(settings: Settings, purpose: str, token: str) -> Any:
    """The content of a token, as JSON keeps it. Raises BadLink."""
    try:
        return _serializer(settings, purpose).loads(token)
    except BadData as error:
        raise BadLink from error


def _serializer(settings: Settings, purpose: str) -> URLSafeSerializer:
    return URLSafeSerializer(settings.secret.get_secret_value(), salt=purpose, signer_kwargs=_SIGNED)


_SIGNED = {"key_derivation": "hmac", "digest_method": hashlib.sha256}

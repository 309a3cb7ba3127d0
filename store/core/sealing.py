"""Secrets at rest: sealed with a key derived from the installation's secret, so that a copy of the database alone
reveals none.
"""

import hashlib
import hmac
import secrets

from store.core.settings import Settings

NONCE_LENGTH = 12


class NotUnsealed(Exception):
    """What was sealed was changed, was sealed for another purpose, or with another secret of the installation."""


def seal(settings: Settings, purpose: str, plain: bytes) -> bytes:
    """The sealed form of a secret (AES-256-GCM). It opens for the same purpose only."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(NONCE_LENGTH)
    return nonce + AESGCM(_key(settings)).encrypt(nonce, plain, purpose.encode())


def unseal(settings: Settings, purpose: str, sealed: bytes) -> bytes:
    """The secret that was sealed. Raises NotUnsealed."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    try:
        return AESGCM(_key(settings)).decrypt(sealed[:NONCE_LENGTH], sealed[NONCE_LENGTH:], purpose.encode())
    except (InvalidTag, ValueError) as error:  # ValueError: too short to be sealed
        raise NotUnsealed from error


def _key(settings: Settings) -> bytes:
    return hmac.new(settings.secret.get_secret_value().encode(), b"secrets at rest", hashlib.sha256).digest()

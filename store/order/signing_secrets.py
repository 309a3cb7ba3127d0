"""Signing secrets that shops verify with. After a rotation the previous secret stays valid for a while.

A secret is never stored: it is derived from a stored salt and the installation's secret, and needs both.
"""

import base64
import datetime as dt
import hashlib
import hmac
import secrets
from dataclasses import dataclass
from typing import Protocol

from pydantic import SecretStr

SALT_BYTES = 32


class SecretHolder(Protocol):
    """A row with the salt of the current secret and, while it is valid, of the previous one."""

    secret_salt: bytes
    previous_secret_salt: bytes | None
    previous_secret_until: dt.datetime | None


@dataclass(frozen=True)
class SecretKind:
    """A purpose of secrets. Secrets of different kinds are independent even for the same salt."""

    prefix: str
    purpose: bytes

    def secret_of(self, installation: SecretStr, salt: bytes) -> str:
        """The secret of a salt in this installation: the prefix and 32 bytes in base64."""
        digest = hmac.digest(installation.get_secret_value().encode(), self.purpose + salt, hashlib.sha256)
        return self.prefix + base64.b64encode(digest).decode()

    def secrets_of(self, installation: SecretStr, holder: SecretHolder, now: dt.datetime) -> list[str]:
        """The valid secrets: the current one and, during a rotation, the previous one."""
        salts, until = [holder.secret_salt], holder.previous_secret_until
        if holder.previous_secret_salt is not None and until is not None and now < until:
            salts.append(holder.previous_secret_salt)
        return [self.secret_of(installation, salt) for salt in salts]

    def key_of(self, secret: str) -> bytes:
        """The 32-byte HMAC key of a secret."""
        return base64.b64decode(secret.removeprefix(self.prefix))


def new_salt() -> bytes:
    return secrets.token_bytes(SALT_BYTES)


def rotate(holder: SecretHolder, now: dt.datetime, overlap: dt.timedelta, *, revoke: bool) -> None:
    """Replace the row's secret. The old one stays valid for `overlap`, unless `revoke` is set."""
    holder.previous_secret_salt = holder.previous_secret_until = None
    if overlap and not revoke:
        holder.previous_secret_salt, holder.previous_secret_until = holder.secret_salt, now + overlap
    holder.secret_salt = new_salt()

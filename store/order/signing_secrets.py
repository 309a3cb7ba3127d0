"""Secrets that we sign with and shops verify with: made when they are needed, and replaced with both valid for a while.

No secret is kept: it is made of a salt and of the installation's own secret. Neither half alone tells it.
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
    """A row with the salt of a secret, and with that of the secret before while it is valid."""

    secret_salt: bytes
    previous_secret_salt: bytes | None
    previous_secret_until: dt.datetime | None


@dataclass(frozen=True)
class SecretKind:
    """What secrets are for. Those of one kind tell nothing of those of another."""

    prefix: str
    purpose: bytes

    def secret_of(self, installation: SecretStr, salt: bytes) -> str:
        """The secret that a salt makes in this installation: the prefix and 32 bytes in base64."""
        made = hmac.digest(installation.get_secret_value().encode(), self.purpose + salt, hashlib.sha256)
        return self.prefix + base64.b64encode(made).decode()

    def secrets_of(self, installation: SecretStr, holder: SecretHolder, now: dt.datetime) -> list[str]:
        """What is signed with: the present secret, and the one before while it is valid."""
        salts, until = [holder.secret_salt], holder.previous_secret_until
        if holder.previous_secret_salt is not None and until is not None and now < until:
            salts.append(holder.previous_secret_salt)
        return [self.secret_of(installation, salt) for salt in salts]

    def key_of(self, secret: str) -> bytes:
        """The 32 bytes that a secret stands for."""
        return base64.b64decode(secret.removeprefix(self.prefix))


def new_salt() -> bytes:
    """What makes a new secret."""
    return secrets.token_bytes(SALT_BYTES)


def rotate(holder: SecretHolder, now: dt.datetime, overlap: dt.timedelta, *, revoke: bool) -> None:
    """Give a row a new secret. The one that it has stays valid for the overlap, unless it is revoked."""
    holder.previous_secret_salt = holder.previous_secret_until = None
    if overlap and not revoke:
        holder.previous_secret_salt, holder.previous_secret_until = holder.secret_salt, now + overlap
    holder.secret_salt = new_salt()

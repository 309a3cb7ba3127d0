"""Passwords and token secrets: neither is kept, only what can check them."""

import asyncio
import hashlib
import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

PREFIX = "coffret_"
_hasher = PasswordHasher()


def new_secret() -> str:
    """A token's secret: 256 random bits behind a prefix that scanners recognise."""
    return PREFIX + secrets.token_urlsafe(32)


def digest_of(secret: str) -> bytes:
    """What is kept of a token's secret. It is random already, so a plain hash is enough."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).digest()


async def hashed(password: str) -> str:
    """What is kept of a password (Argon2id)."""
    return await asyncio.to_thread(_hasher.hash, password)


async def matches(password_hash: str | None, password: str) -> bool:
    """Whether a password is the one kept; takes as long for a user that does not exist."""
    return await asyncio.to_thread(_verify, password_hash or _nobody(), password) and bool(password_hash)


@cache
def _nobody() -> str:
    return _hasher.hash(secrets.token_urlsafe())


def _verify(password_hash: str, password: str) -> bool:
    try:
        return _hasher.verify(password_hash, password)
    except (VerificationError, InvalidHashError):
        return False

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


def normal_username(given: str) -> str:
    """A user name as it is stored and matched: without blanks around it, in small letters."""
    return given.strip().lower()


async def hashed(password: str) -> str:
    """What is kept of a password (Argon2id)."""
    return await asyncio.to_thread(_hasher.hash, password)


async def matches(password_hash: str | None, password: str) -> bool:
    """Whether a password is the one kept; takes as long for a user that does not exist."""
    return await asyncio.to_thread(_verify, password_hash, password)


@cache
def _nobody() -> str:
    return _hasher.hash(secrets.token_urlsafe())


def _verify(password_hash: str | None, password: str) -> bool:
    nobody = _nobody()  # made once, and for whoever comes first, known or not
    try:
        return _hasher.verify(password_hash or nobody, password) and bool(password_hash)
    except (VerificationError, InvalidHashError):
        return False

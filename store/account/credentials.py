"""Password and token hashing. Only hashes and digests are stored."""

import asyncio
import hashlib
import secrets
from functools import cache

from argon2 import PasswordHasher
from argon2.exceptions import InvalidHashError, VerificationError

PREFIX = "coffret_"
hasher = PasswordHasher()
"""Hashes passwords with the parameters that its library recommends."""


def new_secret() -> str:
    """A token's secret: 256 random bits after a prefix that secret scanners recognise."""
    return PREFIX + secrets.token_urlsafe(32)


def secret_digest_of(secret: str) -> bytes:
    """The stored digest of a token's secret. The secret is random, so a plain SHA-256 is enough."""
    return hashlib.sha256(secret.encode(errors="surrogatepass")).digest()


def normal_username(username: str) -> str:
    """A user name as it is stored and matched: trimmed and in lower case."""
    return username.strip().lower()


async def hash_password(password: str) -> str:
    """The Argon2id hash of a password, computed in a thread."""
    return await asyncio.to_thread(hasher.hash, password)


async def verify_password(password_hash: str | None, password: str) -> bool:
    """True if the password matches the hash.

    Takes as long when there is no hash, so that timing does not reveal users.
    """
    return await asyncio.to_thread(_verify, password_hash, password)


@cache
def _dummy_hash() -> str:
    return hasher.hash(secrets.token_urlsafe())


def _verify(password_hash: str | None, password: str) -> bool:
    nobody = _dummy_hash()  # computed before the user is known to exist, so that the first call takes equally long
    try:
        return hasher.verify(password_hash or nobody, password) and bool(password_hash)
    except (VerificationError, InvalidHashError):
        return False

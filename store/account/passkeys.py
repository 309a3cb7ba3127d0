"""Passkeys (WebAuthn): challenges, and what is stored of each key.

A challenge is signed instead of stored, so that nobody fills the store by asking for many; that it was used is stored
until it expires.
"""

import datetime as dt
import hashlib
import hmac
import secrets
from collections.abc import Sequence
from dataclasses import dataclass
from urllib.parse import urlsplit

from sqlalchemy import BigInteger, Column, delete
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.account.passkey import Passkey
from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken
from store.account.users import UserRow
from store.core.row import CreatedOn
from store.core.settings import Settings

CHALLENGE_LIFETIME = dt.timedelta(minutes=5)
LOG_IN = "log in"
_RANDOM, _TIME, _SIGNATURE = 16, 8, 32


class PasskeyRow(CreatedOn, Passkey, table=True):
    """A passkey: its public key, and how often it says it was used."""

    __tablename__ = "passkey"
    user_id: int = Field(foreign_key="app_user.id", index=True)
    credential_id: bytes = Field(unique=True)
    public_key: bytes
    sign_count: int = Field(default=0, sa_column=Column(BigInteger, nullable=False))


class BadPasskey(Exception):
    """The browser's answer is not what was asked for."""


@dataclass(frozen=True, slots=True)
class RelyingParty:
    """The service as browsers know it: passkeys are bound to its host."""

    host: str
    origin: str

    @classmethod
    def of(cls, settings: Settings) -> "RelyingParty":
        url = urlsplit(settings.public_url)
        return cls(url.hostname or "", f"{url.scheme}://{url.netloc}")


def registration(user: UserRow) -> str:
    """The purpose of a challenge for a new passkey of a user; another one after a change of the password, or of whether
    there is a second factor.
    """
    proven = hashlib.sha256(f"{user.has_second_factor}:{user.password_hash}".encode()).hexdigest()
    return f"registration of {user.id} with {proven}"


def new_challenge(settings: Settings, purpose: str, now: dt.datetime) -> bytes:
    """A challenge for a purpose, which works once until it expires."""
    until = int((now + CHALLENGE_LIFETIME).timestamp())
    body = secrets.token_bytes(_RANDOM) + until.to_bytes(_TIME, "big")
    return body + _sign(settings, purpose, body)


def challenge_key(settings: Settings, purpose: str, challenge: bytes, now: dt.datetime) -> str:
    """The key that is written when a challenge is used. Raises BadPasskey if it is for another purpose, or expired."""
    body, signature = challenge[: _RANDOM + _TIME], challenge[_RANDOM + _TIME :]
    is_ours = hmac.compare_digest(_sign(settings, purpose, body), signature)
    if not is_ours or int.from_bytes(body[_RANDOM:], "big") <= now.timestamp():
        raise BadPasskey
    return f"coffret:passkey:used:{hashlib.sha256(challenge).hexdigest()}"


async def passkeys_of(db: AsyncSession, user_id: int) -> Sequence[PasskeyRow]:
    """The passkeys of a user, the newest first."""
    query = select(PasskeyRow).where(col(PasskeyRow.user_id) == user_id).order_by(col(PasskeyRow.id).desc())
    return (await db.exec(query)).all()


async def find_own_passkey(db: AsyncSession, user_id: int, id: int) -> PasskeyRow | None:
    """A passkey of a user, locked; None if the user has none with this id."""
    query = select(PasskeyRow).where(col(PasskeyRow.id) == id, col(PasskeyRow.user_id) == user_id)
    return (await db.exec(query.with_for_update())).one_or_none()


async def delete_passkeys(db: AsyncSession, user_id: int) -> None:
    """Delete all passkeys of a user."""
    await db.exec(delete(PasskeyRow).where(col(PasskeyRow.user_id) == user_id))


async def lock_passkey(db: AsyncSession, credential_id: bytes, user_handle: bytes) -> tuple[PasskeyRow, UserRow]:
    """A passkey, locked, with its user, who is named by the uuid. Raises BadPasskey if there is no such passkey of this
    user, or the user may not log in.
    """
    query = select(PasskeyRow, UserRow).join(UserRow, col(UserRow.id) == col(PasskeyRow.user_id))
    wanted = query.where(col(PasskeyRow.credential_id) == credential_id, col(UserRow.is_active))
    found = (await db.exec(wanted.with_for_update(of=PasskeyRow))).one_or_none()
    if found is None or found[1].uuid.bytes != user_handle:
        raise BadPasskey
    return found


def _sign(settings: Settings, purpose: str, body: bytes) -> bytes:
    key = settings.secret.get_secret_value().encode()
    return hmac.new(key, f"passkey challenge\x00{purpose}\x00".encode() + body, hashlib.sha256).digest()


CONSTRAINT_ERRORS["passkey_credential_id_key"] = lambda: AlreadyTaken("credential", what="passkey")

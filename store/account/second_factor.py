"""Second factors of users: one-time codes of an authenticator app (TOTP, RFC 6238), and recovery codes for when it is
lost.

Every function that changes something locks the user's row first, so that a code is used once however many requests
bring it at the same time.
"""

import datetime as dt
import hashlib
import hmac
from collections.abc import Mapping, Sequence

import pyotp
import structlog
from sqlalchemy import BigInteger, Column, delete, func
from sqlmodel import Field, SQLModel, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import datetime_column, id_column
from store.account.users import UserRow
from store.core.codes import generate_code, normalize
from store.core.sealing import NotUnsealed, seal, unseal
from store.core.settings import Settings

log = structlog.get_logger(__name__)

DIGITS = 6
STEP_SECONDS = 30
DRIFT = 1
"""By how many steps the clock of a telephone may be off."""
RECOVERY_CODES = 10


class TotpRow(SQLModel, table=True):
    """The secret that a user's authenticator app shares with the service, sealed."""

    __tablename__ = "totp"
    user_id: int = Field(primary_key=True, foreign_key="app_user.id", sa_column_kwargs={"autoincrement": False})
    sealed_secret: bytes
    last_step: int = Field(default=0, sa_column=Column(BigInteger, nullable=False))
    """The time step of the last code that was used; neither it nor an earlier one works again."""
    confirmed_on: dt.datetime | None = datetime_column(
        "When the user has shown that the app works; null until then.", default=None, nullable=True
    )


class RecoveryCodeRow(SQLModel, table=True):
    """A recovery code of a user, of which only the digest is stored."""

    __tablename__ = "recovery_code"
    id: int = id_column("The code's id.")
    user_id: int = Field(foreign_key="app_user.id", index=True)
    digest: bytes = Field(unique=True)
    used_on: dt.datetime | None = datetime_column("When it was used; null if not yet.", default=None, nullable=True)


async def lock_user(db: AsyncSession, user_id: int) -> UserRow:
    """The user's row as it is now, locked."""
    return await db.get_one(UserRow, user_id, with_for_update=True, populate_existing=True)


async def start_totp(db: AsyncSession, settings: Settings, user: UserRow) -> str:
    """A new secret (base 32) for a locked user, in place of one that was not confirmed. It works once it is confirmed."""
    secret = pyotp.random_base32()
    sealed = seal(settings, _purpose(user.id), secret.encode())
    await db.merge(TotpRow(user_id=user.id, sealed_secret=sealed))
    await db.flush()
    return secret


def provisioning_url(secret: str, username: str, issuer: str) -> str:
    """The `otpauth://` URL with which an authenticator app is set up."""
    return pyotp.TOTP(secret, digits=DIGITS, interval=STEP_SECONDS).provisioning_uri(name=username, issuer_name=issuer)


async def confirm_totp(db: AsyncSession, settings: Settings, user: UserRow, otp: str, now: dt.datetime) -> bool:
    """Turn the second factor of a locked user on, if the code is one of the secret that was started; false if not."""
    row = await db.get(TotpRow, user.id)
    if row is None or row.confirmed_on is not None or not _use_totp(row, settings, normalize(otp), now):
        return False
    row.confirmed_on = now
    user.has_second_factor = True
    return True


async def delete_unconfirmed_totp(db: AsyncSession, user_id: int) -> None:
    """Forget a secret that a user has not confirmed."""
    unconfirmed = col(TotpRow.user_id) == user_id, col(TotpRow.confirmed_on).is_(None)
    await db.exec(delete(TotpRow).where(*unconfirmed))


async def use_otp(db: AsyncSession, settings: Settings, user: UserRow, otp: str, now: dt.datetime) -> bool:
    """Whether a code of the app or a recovery code is right for a locked user. It is used up by this."""
    code = normalize(otp)
    if len(code) == DIGITS and code.isascii() and code.isdigit():
        row = await db.get(TotpRow, user.id, populate_existing=True)
        return row is not None and row.confirmed_on is not None and _use_totp(row, settings, code, now)
    unused = col(RecoveryCodeRow.user_id) == user.id, col(RecoveryCodeRow.used_on).is_(None)
    query = select(RecoveryCodeRow).where(*unused, col(RecoveryCodeRow.digest) == _digest(user.id, code))
    recovery = (await db.exec(query)).one_or_none()
    if recovery is None or not user.has_second_factor:
        return False
    recovery.used_on = now
    return True


async def replace_recovery_codes(db: AsyncSession, user: UserRow) -> Sequence[str]:
    """New recovery codes for a locked user. Earlier ones no longer work."""
    await db.exec(delete(RecoveryCodeRow).where(col(RecoveryCodeRow.user_id) == user.id))
    codes = [generate_code() for _ in range(RECOVERY_CODES)]
    db.add_all(RecoveryCodeRow(user_id=user.id, digest=_digest(user.id, normalize(code))) for code in codes)
    await db.flush()
    return codes


async def remove_second_factor(db: AsyncSession, user: UserRow) -> None:
    """Turn the second factor of a locked user off, and forget its secret and its recovery codes."""
    for table in (TotpRow, RecoveryCodeRow):
        await db.exec(delete(table).where(col(table.user_id) == user.id))
    user.has_second_factor = False
    await db.flush()


async def count_recovery_codes(db: AsyncSession, user_ids: Sequence[int]) -> Mapping[int, int]:
    """How many unused recovery codes each of these users has; users without any are left out."""
    row = RecoveryCodeRow
    query = select(row.user_id, func.count()).where(col(row.user_id).in_(user_ids), col(row.used_on).is_(None))
    return dict((await db.exec(query.group_by(col(row.user_id)))).all())


def _use_totp(row: TotpRow, settings: Settings, code: str, now: dt.datetime) -> bool:
    """Whether a code is that of the current step or one beside it, and later than the last one used."""
    try:
        secret = unseal(settings, _purpose(row.user_id), row.sealed_secret).decode()
    except NotUnsealed:
        log.exception("the secret of a second factor cannot be read: was COFFRET_SECRET changed?", user_id=row.user_id)
        return False
    totp = pyotp.TOTP(secret, digits=DIGITS, interval=STEP_SECONDS)
    current = int(now.timestamp()) // STEP_SECONDS
    for step in range(current - DRIFT, current + DRIFT + 1):
        if step > row.last_step and hmac.compare_digest(totp.generate_otp(step).encode(), code.encode()):
            row.last_step = step
            return True
    return False


def _purpose(user_id: int) -> str:
    return f"totp of user {user_id}"


def _digest(user_id: int, code: str) -> bytes:
    """The digest of a recovery code. Codes are random, so a plain SHA-256 is enough."""
    return hashlib.sha256(f"{user_id}:{code}".encode(errors="surrogatepass")).digest()

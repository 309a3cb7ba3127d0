"""Log-in, tokens, and the caller's own data."""

import datetime as dt
import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy import true, update
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.account.notices import queue_notice
from resolvers.account.verification import use_second_factor
from resolvers.core.auditing import AuditRecord
from resolvers.core.caller import Transport
from resolvers.core.context import Context
from resolvers.core.operation import Call, operation
from schema.account.change import AccountChange, ChangeActor
from schema.account.token import IssuedToken, ObtainToken, RevokeToken, Viewer
from schema.account.user import Token, TokenKind
from schema.core.errors import AppError, NotFound, SecondFactorRequired, Unauthenticated, WrongCredentials
from schema.core.permission import AccessRule
from store.account.credentials import PREFIX, new_secret, normal_username, secret_digest_of, verify_password
from store.account.links import end_links
from store.account.passkeys import delete_passkeys
from store.account.second_factor import delete_unconfirmed_totp
from store.account.users import LAST_USED, TokenRow, UserRow, is_valid_at
from store.core.clock import Clock
from store.partner.partners import MarketplaceRow, PartnerRow

LIVE_TOKENS = 100
PAGES_OF_STAFF = frozenset({Transport.VENUE, Transport.BACK_OFFICE})
"""Where people log in; all others are programs."""


@operation(AccessRule.PUBLIC, transaction=False)
async def obtain_token(call: Call, input: ObtainToken) -> IssuedToken:
    """Log in with user name and password, and create a token. A user who has a second factor sends a one-time code or a
    recovery code too; without it the right password is answered with `SECOND_FACTOR_REQUIRED`. A user has at most 100
    valid tokens; beyond that the one unused for longest is revoked.

    From the fifth failure on, each failure is followed by a pause of one second, growing up to one hour.
    """
    query, username = select(UserRow), normal_username(input.username)
    async with call.services.limits.log_ins.attempt(username, call.context.address) as attempt:
        async with call.services.db.sessions() as db:
            user = (await db.exec(query.where(col(UserRow.username) == username))).one_or_none()
        # Outside any session: verifying is slow on purpose, and must not occupy a database connection.
        good = await verify_password(user.password_hash if user else None, input.password)
        if user is None or not good or not user.is_active:
            raise WrongCredentials
        await _check_second_factor(call, user, input.otp)
        attempt.succeeded = True
    return await issue(call, user, input.label, input.hours)


async def complete_obtaining(
    context: Context, user_id: int, proof: str, otp: str, label: str, hours: int
) -> IssuedToken:
    """Create a token for a user whose password was right before: for pages that ask for the code of a second factor in a
    second step, with the `proof` of SecondFactorRequired. Raises Unauthenticated if the password has changed since, and
    WrongCredentials for a wrong code, also for one that no input would take.

    The audit log records it as `obtain_token`, of which it is the second half.
    """
    call = Call(context, None)
    async with context.services.db.sessions() as db:
        user = await db.get_one(UserRow, user_id)
    if not user.is_active or _proof(user) != proof:
        raise Unauthenticated
    try:
        given = ObtainToken(username=user.username, password="", otp=otp, label=label, hours=hours)
    except ValidationError:  # too long, or not one line
        raise WrongCredentials from None
    record = AuditRecord(obtain_token.name, context, None, given)
    try:
        async with context.services.limits.log_ins.attempt(user.username, context.address) as attempt:
            await _check_second_factor(call, user, otp)
            attempt.succeeded = True
        issued = await issue(call, user, label, hours)
    except AppError as error:
        record.record_refusal(error)
        raise
    await record.record_success(issued, None, later=False)
    return issued


async def _check_second_factor(call: Call, user: UserRow, otp: str) -> None:
    """Use up a code of a user who has a second factor. Raises SecondFactorRequired without a code."""
    if user.has_second_factor and not otp.strip():
        raise SecondFactorRequired(user.id, _proof(user))
    if user.has_second_factor:
        await use_second_factor(call, user, otp)


def _proof(user: UserRow) -> str:
    """Stands for the password that was found right; another one after the next change of password."""
    return hashlib.sha256(user.password_hash.encode()).hexdigest()


async def issue(call: Call, user: UserRow, label: str, hours: int | None) -> IssuedToken:
    """A token for a user whose credentials are right."""
    life = None if hours is None else dt.timedelta(hours=hours)
    async with call.services.db.sessions() as db, db.begin():
        await _check_unchanged(db, user)
        secret = await issue_token(db, user, label, call.services.clock, life, TokenOrigin.of(call.context))
        return IssuedToken(token=secret, uuid=await _owner_uuid(db, user), user=user)


async def _check_unchanged(db: AsyncSession, user: UserRow) -> None:
    """Raise WrongCredentials if the password, the second factor or the active flag changed since the check."""
    columns = select(UserRow.password_hash, UserRow.has_second_factor, UserRow.is_active)
    current = (await db.exec(columns.where(col(UserRow.id) == user.id).with_for_update())).one()
    if tuple(current) != (user.password_hash, user.has_second_factor, True):
        raise WrongCredentials


@dataclass(frozen=True, slots=True)
class TokenOrigin:
    """Where a token was obtained."""

    kind: TokenKind = TokenKind.API
    user_agent: str = ""
    address: str = ""
    created_by_id: int | None = None
    """The user who creates it for a program."""

    @classmethod
    def of(cls, context: Context) -> "TokenOrigin":
        """The origin of a token that this request obtains: a log-in, if it comes from a page where people log in."""
        return cls.of_kind(TokenKind.LOG_IN if context.transport in PAGES_OF_STAFF else TokenKind.API, context)

    @classmethod
    def of_kind(cls, kind: TokenKind, context: Context) -> "TokenOrigin":
        """The origin of a token of a certain kind that this request obtains."""
        printable = "".join(character for character in context.user_agent if character.isprintable())
        return cls(kind, printable[:200], context.address[:45])


async def set_password(
    db: AsyncSession,
    user: UserRow,
    password_hash: str,
    clock: Clock,
    by: Call | ChangeActor,
    *,
    except_token_id: int | None = None,
    keep_passkeys: bool = False,
    change: AccountChange = AccountChange.PASSWORD,
    to: str | None = None,
) -> None:
    """Set a new password, and mail that to the user, unless it is the first one: see `queue_notice`, also for `by`,
    `change` and `to`. Revoke all tokens of the user except `except_token_id`, and end the links to choose one. Passkeys
    are deleted unless `keep_passkeys`: whoever knew the old password could have registered one. So is a second factor that
    was begun and not confirmed.

    The row is written first, and thereby locked. A concurrent log-in with the old password either came before, and its
    token is revoked here, or comes later and is refused.
    """
    is_first = not user.password_hash
    user.password_hash = password_hash
    await db.flush()
    await revoke_tokens(db, user.id, clock, except_token_id=except_token_id)
    await end_links(db, user.id, clock.now())
    await delete_unconfirmed_totp(db, user.id)
    if not keep_passkeys:
        await delete_passkeys(db, user.id)
    if not is_first:
        await queue_notice(db, user, change, by, deletes_passkeys=not keep_passkeys, to=to)


async def revoke_tokens(
    db: AsyncSession,
    user_id: int,
    clock: Clock,
    *,
    except_token_id: int | None = None,
    kinds: Collection[TokenKind] = tuple(TokenKind),
) -> int:
    """Revoke the tokens of a user, except one; returns how many of them had not expired."""
    live = col(TokenRow.user_id) == user_id, col(TokenRow.revoked_on).is_(None), col(TokenRow.kind).in_(kinds)
    others = true() if except_token_id is None else col(TokenRow.id) != except_token_id
    now = clock.now()
    revoking = update(TokenRow).where(*live, others).values(revoked_on=now).returning(col(TokenRow.expires_on))
    return sum(until is None or until > now for until in (await db.exec(revoking)).scalars())


async def issue_token(
    db: AsyncSession,
    user: UserRow,
    label: str,
    clock: Clock,
    life: dt.timedelta | None = None,
    origin: TokenOrigin | None = None,
) -> str:
    """Create a token and return its secret, which is not stored. Without `life` the token never expires."""
    # Concurrent log-ins must not exceed the limit.
    await db.exec(select(UserRow.id).where(col(UserRow.id) == user.id).with_for_update())
    now = clock.now()
    row, secret = await add_token(db, user, label, now, None if life is None else now + life, origin or TokenOrigin())
    live = select(TokenRow.id).where(col(TokenRow.user_id) == user.id, is_valid_at(now))
    surplus = live.order_by((col(TokenRow.id) == row.id).desc(), *LAST_USED).offset(LIVE_TOKENS)
    await db.exec(update(TokenRow).where(col(TokenRow.id).in_(surplus)).values(revoked_on=now))
    return secret


async def add_token(
    db: AsyncSession, user: UserRow, label: str, now: dt.datetime, expires_on: dt.datetime | None, origin: TokenOrigin
) -> tuple[TokenRow, str]:
    """A new token, whatever others the user has, and its secret, which is not stored."""
    secret = new_secret()
    row = TokenRow(
        user_id=user.id,
        label=label[:80],
        hint=secret[: len(PREFIX) + 4],
        digest=secret_digest_of(secret),
        kind=origin.kind,
        user_agent=origin.user_agent,
        address=origin.address,
        created_by_id=origin.created_by_id,
        created_on=now,
        expires_on=expires_on,
    )
    db.add(row)
    await db.flush()
    return row, secret


async def _owner_uuid(db: AsyncSession, user: UserRow) -> UUID:
    if user.partner_id is not None:
        return (await db.get_one(PartnerRow, user.partner_id)).uuid
    if user.marketplace_id is not None:
        return (await db.get_one(MarketplaceRow, user.marketplace_id)).uuid
    return user.uuid


@operation(AccessRule.AUTHENTICATED, transaction=False)
async def me(call: Call) -> Viewer:
    """The caller and the caller's permissions."""
    caller = await call.services.authenticator.reread(call.caller)
    return Viewer(
        user_id=caller.user_id,
        partner_id=caller.partner_id,
        marketplace_id=caller.marketplace_id,
        token_id=caller.token_id,
        permissions=sorted(caller.permissions),
    )


@operation(AccessRule.AUTHENTICATED)
async def revoke_token(call: Call, input: RevokeToken) -> Token:
    """Revoke one of your own tokens. It stops working everywhere within five seconds. Revoking it again changes
    nothing.
    """
    query = select(TokenRow).where(
        col(TokenRow.id) == (input.id if input.id is not None else call.caller.token_id),
        col(TokenRow.user_id) == call.caller.user_id,
    )
    token = (await call.db.exec(query.with_for_update())).one_or_none()
    if token is None:
        raise NotFound("id", thing="token")
    token.revoked_on = token.revoked_on or call.services.clock.now()
    call.services.authenticator.invalidate(token_id=token.id)
    return token

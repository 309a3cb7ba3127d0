"""Logging in, and what a caller is."""

import datetime as dt
from uuid import UUID

from sqlalchemy import func, or_, true, update
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.operation import Call, operation
from schema.account.token import IssuedToken, ObtainToken, RevokeToken, Viewer
from schema.core.errors import NotFound, WrongCredentials
from schema.core.permission import Rule
from schema.partner.partner import Token
from store.account.credentials import PREFIX, digest_of, matches, new_secret, normal_username
from store.core.clock import Clock
from store.partner.partners import MarketplaceRow, PartnerRow, TokenRow, UserRow

LIVE_TOKENS = 100


@operation(Rule.PUBLIC, transaction=False)
async def obtain_token(call: Call, input: ObtainToken) -> IssuedToken:
    """Log in: make a new token for a user name and a password. A user has at most 100; the longest unused goes first.

    From the fifth miss on each is followed by a pause, a second first and an hour at most.
    """
    sessions, query = call.services.db.sessions, select(UserRow)
    username = normal_username(input.username)
    async with call.services.limits.log_ins.attempt(username, call.context.address) as attempt:
        async with sessions() as db:
            user = (await db.exec(query.where(col(UserRow.username) == username))).one_or_none()
        # Between two sessions: checking takes long on purpose, and no connection waits for it.
        good = await matches(user.password_hash if user else None, input.password)
        if user is None or not good or not user.is_active:
            raise WrongCredentials
        attempt.succeeded = True
    async with sessions() as db, db.begin():
        await _still(db, user)
        life = None if input.hours is None else dt.timedelta(hours=input.hours)
        secret = await issue_token(db, user, input.label, call.services.clock, life)
        return IssuedToken(token=secret, uuid=await _owner_uuid(db, user), user=user)


async def _still(db: AsyncSession, user: UserRow) -> None:
    """See that a log-in is as good as when it was checked: its password may have been changed meanwhile."""
    query = select(UserRow.password_hash, UserRow.is_active).where(col(UserRow.id) == user.id).with_for_update()
    if tuple((await db.exec(query)).one()) != (user.password_hash, True):
        raise WrongCredentials


async def set_password(
    db: AsyncSession, user: UserRow, password_hash: str, clock: Clock, *, but: int | None = None
) -> None:
    """Give a user another password, and revoke all of their tokens `but` one: whoever knew the old one is out.

    The row is written first, and locked by that: a log-in by the old password comes before, and its token is seen here, or
    afterwards, and is refused.
    """
    user.password_hash = password_hash
    await db.flush()
    live = col(TokenRow.user_id) == user.id, col(TokenRow.revoked_on).is_(None)
    others = true() if but is None else col(TokenRow.id) != but
    await db.exec(update(TokenRow).where(*live, others).values(revoked_on=clock.now()))


async def issue_token(
    db: AsyncSession, user: UserRow, label: str, clock: Clock, life: dt.timedelta | None = None
) -> str:
    """A new token of a user; its secret is in the answer only. Without a `life` it never expires."""
    await db.exec(select(UserRow.id).where(col(UserRow.id) == user.id).with_for_update())  # two log-ins make no 101
    secret, now = new_secret(), clock.now()
    row = TokenRow(
        user_id=user.id, label=label[:80], hint=secret[: len(PREFIX) + 4], digest=digest_of(secret), created_on=now
    )
    row.expires_on = None if life is None else now + life
    db.add(row)
    await db.flush()
    used = func.coalesce(col(TokenRow.last_used_on), col(TokenRow.created_on))
    unexpired = or_(col(TokenRow.expires_on).is_(None), col(TokenRow.expires_on) > now)
    live = select(TokenRow.id).where(col(TokenRow.user_id) == user.id, col(TokenRow.revoked_on).is_(None), unexpired)
    surplus = live.order_by((col(TokenRow.id) == row.id).desc(), used.desc(), col(TokenRow.id).desc()).offset(
        LIVE_TOKENS
    )
    await db.exec(update(TokenRow).where(col(TokenRow.id).in_(surplus)).values(revoked_on=now))
    return secret


async def _owner_uuid(db: AsyncSession, user: UserRow) -> UUID:
    if user.partner_id is not None:
        return (await db.get_one(PartnerRow, user.partner_id)).uuid
    if user.marketplace_id is not None:
        return (await db.get_one(MarketplaceRow, user.marketplace_id)).uuid
    return user.uuid


@operation(Rule.AUTHENTICATED)
async def me(call: Call) -> Viewer:
    """The caller, and what it may do."""
    caller = call.caller
    query = (
        select(UserRow, PartnerRow, MarketplaceRow)
        .select_from(UserRow)
        .outerjoin(PartnerRow, col(PartnerRow.id) == caller.partner_id)
        .outerjoin(MarketplaceRow, col(MarketplaceRow.id) == caller.marketplace_id)
        .where(col(UserRow.id) == caller.user_id)
    )
    user, partner, marketplace = (await call.db.exec(query)).one()
    return Viewer(user=user, partner=partner, marketplace=marketplace, permissions=sorted(caller.permissions))


@operation(Rule.AUTHENTICATED)
async def revoke_token(call: Call, input: RevokeToken) -> Token:
    """Revoke one of the caller's own tokens. It stops working everywhere within five seconds; revoking again changes nothing."""
    query = select(TokenRow).where(
        col(TokenRow.id) == (input.id if input.id is not None else call.caller.token_id),
        col(TokenRow.user_id) == call.caller.user_id,
    )
    token = (await call.db.exec(query.with_for_update())).one_or_none()
    if token is None:
        raise NotFound("id", thing="token")
    token.revoked_on = token.revoked_on or call.services.clock.now()
    call.services.callers.forget(token_id=token.id)
    return token

"""Log-in, tokens, and the caller's own data."""

import datetime as dt
from uuid import UUID

from sqlalchemy import func, or_, true, update
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.operation import Call, operation
from schema.account.token import IssuedToken, ObtainToken, RevokeToken, Viewer
from schema.account.user import Token
from schema.core.errors import NotFound, WrongCredentials
from schema.core.permission import AccessRule
from store.account.credentials import PREFIX, new_secret, normal_username, secret_digest_of, verify_password
from store.account.users import TokenRow, UserRow
from store.core.clock import Clock
from store.partner.partners import MarketplaceRow, PartnerRow

LIVE_TOKENS = 100


@operation(AccessRule.PUBLIC, transaction=False)
async def obtain_token(call: Call, input: ObtainToken) -> IssuedToken:
    """Log in with user name and password, and create a token. A user has at most 100 valid tokens; beyond that the one
    unused for longest is revoked.

    From the fifth failure on, each failure is followed by a pause of one second, growing up to one hour.
    """
    sessions, query = call.services.db.sessions, select(UserRow)
    username = normal_username(input.username)
    async with call.services.limits.log_ins.attempt(username, call.context.address) as attempt:
        async with sessions() as db:
            user = (await db.exec(query.where(col(UserRow.username) == username))).one_or_none()
        # Outside any session: verifying is slow on purpose, and must not occupy a database connection.
        good = await verify_password(user.password_hash if user else None, input.password)
        if user is None or not good or not user.is_active:
            raise WrongCredentials
        attempt.succeeded = True
    async with sessions() as db, db.begin():
        await _check_unchanged(db, user)
        life = None if input.hours is None else dt.timedelta(hours=input.hours)
        secret = await issue_token(db, user, input.label, call.services.clock, life)
        return IssuedToken(token=secret, uuid=await _owner_uuid(db, user), user=user)


async def _check_unchanged(db: AsyncSession, user: UserRow) -> None:
    """Raise WrongCredentials if the password or the active flag changed since the check."""
    query = select(UserRow.password_hash, UserRow.is_active).where(col(UserRow.id) == user.id).with_for_update()
    if tuple((await db.exec(query)).one()) != (user.password_hash, True):
        raise WrongCredentials


async def set_password(
    db: AsyncSession, user: UserRow, password_hash: str, clock: Clock, *, except_token_id: int | None = None
) -> None:
    """Set a new password, and revoke all tokens of the user except `except_token_id`.

    The row is written first, and thereby locked. A concurrent log-in with the old password either came before, and its
    token is revoked here, or comes later and is refused.
    """
    user.password_hash = password_hash
    await db.flush()
    live = col(TokenRow.user_id) == user.id, col(TokenRow.revoked_on).is_(None)
    others = true() if except_token_id is None else col(TokenRow.id) != except_token_id
    await db.exec(update(TokenRow).where(*live, others).values(revoked_on=clock.now()))


async def issue_token(
    db: AsyncSession, user: UserRow, label: str, clock: Clock, life: dt.timedelta | None = None
) -> str:
    """Create a token and return its secret, which is not stored. Without `life` the token never expires."""
    # Concurrent log-ins must not exceed the limit.
    await db.exec(select(UserRow.id).where(col(UserRow.id) == user.id).with_for_update())
    secret, now = new_secret(), clock.now()
    row = TokenRow(
        user_id=user.id,
        label=label[:80],
        hint=secret[: len(PREFIX) + 4],
        digest=secret_digest_of(secret),
        created_on=now,
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


@operation(AccessRule.AUTHENTICATED, transaction=False)
async def me(call: Call) -> Viewer:
    """The caller and the caller's permissions."""
    caller = await call.services.authenticator.reread(call.caller)
    return Viewer(
        user_id=caller.user_id,
        partner_id=caller.partner_id,
        marketplace_id=caller.marketplace_id,
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

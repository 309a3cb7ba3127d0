"""Log-in of staff on the redeem page of a venue: a token in a cookie, which expires by itself and can be revoked like
any token.
"""

import dataclasses
import datetime as dt

from sqlalchemy import update
from sqlmodel import col, select

from resolvers.account.tokens import obtain_token, revoke_token
from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.core.services import Services
from schema.account.token import ObtainToken, RevokeToken
from schema.core.errors import Unauthenticated, WrongCredentials
from store.account.users import TokenRow, UserRow

LOGIN_LIFETIME = dt.timedelta(hours=12)
"""Lifetime of a log-in after its last use."""
RENEW_AFTER = dt.timedelta(minutes=10)
"""Age at which a log-in is renewed, so that not every page view writes to the database."""
LABEL = "Redeem page"


async def log_in(context: Context, username: str, password: str, partner_id: int, marketplace_id: int) -> str:
    """Log in a user who may see this partner; returns the token. Raises `WrongCredentials` for a user of another
    partner.

    Uses the operation `obtain_token`, with its pauses after failures. The secret is in the return value only.
    """
    hours = int(LOGIN_LIFETIME.total_seconds()) // 3600
    issued = await obtain_token(context, ObtainToken(username=username, password=password, label=LABEL, hours=hours))
    caller = await context.services.authenticator.authenticate(issued.token)
    if not caller.sees(partner_id, marketplace_id):
        await log_out(dataclasses.replace(context, caller=caller))
        raise WrongCredentials
    return issued.token


async def log_out(context: Context) -> None:
    """Revoke the caller's token."""
    await revoke_token(context, RevokeToken())


async def authenticate_staff(services: Services, secret: str, partner_id: int, marketplace_id: int) -> Caller:
    """The logged-in user, limited to the rows of this partner, with the user's own permissions.

    Raises Unauthenticated if the log-in has ended, or if the user is inactive or may not see this partner.
    """
    caller = await services.authenticator.authenticate(secret)
    if not caller.sees(partner_id, marketplace_id):
        raise Unauthenticated
    await _renew(services, caller)
    return dataclasses.replace(caller, role=Role.PARTNER, partner_id=partner_id, marketplace_id=marketplace_id)


async def display_name_of(services: Services, caller: Caller) -> str:
    """The user's first name, else the user name."""
    async with services.db.sessions() as db:
        user = (await db.exec(select(UserRow).where(col(UserRow.id) == caller.user_id))).one()
    return user.first_name or user.username


async def _renew(services: Services, caller: Caller) -> None:
    """Extend a log-in to its full lifetime. Other tokens keep their expiry."""
    until = services.clock.now() + LOGIN_LIFETIME
    ours = col(TokenRow.id) == caller.token_id, col(TokenRow.label) == LABEL
    due = col(TokenRow.expires_on) < until - RENEW_AFTER
    async with services.db.sessions() as db, db.begin():
        await db.exec(update(TokenRow).where(*ours, due).values(expires_on=until))

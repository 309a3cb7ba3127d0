"""Staff who are logged in at a venue: a token in a cookie, that ends by itself and by all that ends any token."""

import dataclasses
import datetime as dt

from sqlalchemy import update
from sqlmodel import col, select

from resolvers.account.tokens import obtain_token, revoke_token
from resolvers.core.context import Caller, Context, Role, Services
from schema.account.token import ObtainToken, RevokeToken
from schema.core.errors import Unauthenticated, WrongCredentials
from store.partner.partners import TokenRow, UserRow

LIFE = dt.timedelta(hours=12)
"""How long a log-in lasts after its last use."""
RENEWED_AFTER = dt.timedelta(minutes=10)
"""How much of its life is gone before it is given it back: not every page is written down."""
LABEL = "Redeem page"


async def log_in(context: Context, username: str, password: str, partner_id: int, marketplace_id: int) -> str:
    """A token for somebody of a partner, of its marketplace, or of all; `WrongCredentials` for a user of another partner.

    The same operation as for any token, with its pauses after misses. The secret is in the answer only.
    """
    hours = int(LIFE.total_seconds()) // 3600
    issued = await obtain_token(context, ObtainToken(username=username, password=password, label=LABEL, hours=hours))
    caller = await context.services.callers.by_secret(issued.token)
    if not caller.sees(partner_id, marketplace_id):
        await log_out(dataclasses.replace(context, caller=caller))
        raise WrongCredentials
    return issued.token


async def log_out(context: Context) -> None:
    """End the log-in of whoever asks."""
    await revoke_token(context, RevokeToken())


async def staff_at(services: Services, secret: str, partner_id: int, marketplace_id: int) -> Caller:
    """Whoever is logged in at a partner, with the permissions of their own and this partner's rows only.

    Unauthenticated when the log-in has ended, when its user may not log in any more, or does not see this partner.
    """
    caller = await services.callers.by_secret(secret)
    if not caller.sees(partner_id, marketplace_id):
        raise Unauthenticated
    await _renew(services, caller)
    return dataclasses.replace(caller, role=Role.PARTNER, partner_id=partner_id, marketplace_id=marketplace_id)


async def name_of(services: Services, caller: Caller) -> str:
    """What a logged-in user is called on the page."""
    async with services.db.sessions() as db:
        user = (await db.exec(select(UserRow).where(col(UserRow.id) == caller.user_id))).one()
    return user.first_name or user.username


async def _renew(services: Services, caller: Caller) -> None:
    """Give a log-in that is used the whole of its life again. Any other token keeps the end that it was given."""
    until = services.clock.now() + LIFE
    ours = col(TokenRow.id) == caller.token_id, col(TokenRow.label) == LABEL
    due = col(TokenRow.expires_on) < until - RENEWED_AFTER
    async with services.db.sessions() as db, db.begin():
        await db.exec(update(TokenRow).where(*ours, due).values(expires_on=until))

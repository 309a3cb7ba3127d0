"""The log-ins of a user: which there are, and how all others are ended."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlalchemy import or_, update
from sqlmodel import col, select

from resolvers.account.tokens import revoke_tokens
from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.operation import Call, operation
from resolvers.core.services import Services
from schema.account.token import RevokeOtherSessions
from schema.account.user import Token, TokenKind, User
from schema.core.permission import AccessRule
from store.account.users import LAST_USED, TokenRow, UserRow, is_valid_at

ORIGIN_RETENTION = dt.timedelta(days=30)
"""How long the address and the browser of a token are kept after it has ended."""


@operation(AccessRule.AUTHENTICATED)
async def sessions(call: Call) -> list[Token]:
    """Your valid tokens and log-ins, the last used first."""
    own = col(TokenRow.user_id) == call.caller.user_id
    query = select(TokenRow).where(own, is_valid_at(call.services.clock.now())).order_by(*LAST_USED)
    return list((await call.db.exec(query)).all())


@computes(User, "sessions")
async def sessions_of_users(context: Context, ids: Sequence[int]) -> Mapping[int, list[Token]]:
    """The valid tokens and log-ins of users, the last used first."""
    theirs = col(TokenRow.user_id).in_(ids)
    query = select(TokenRow).where(theirs, is_valid_at(context.services.clock.now())).order_by(*LAST_USED)
    by_user: dict[int, list[Token]] = defaultdict(list)
    async with context.db.read_sessions() as db:
        for row in (await db.exec(query)).all():
            by_user[row.user_id].append(row)
    return {id: by_user[id] for id in ids}


@operation(AccessRule.AUTHENTICATED)
async def revoke_other_sessions(call: Call, input: RevokeOtherSessions) -> int:
    """End your log-ins everywhere else; your API tokens too, if you say so. The token of this request stays valid. Returns
    how many were ended. They stop working everywhere within five seconds.
    """
    caller, kinds = call.caller, tuple(TokenKind) if input.include_api_tokens else (TokenKind.LOG_IN,)
    assert caller.user_id is not None  # whoever has a token is a user
    call.add_audit_subject(await call.db.get_one(UserRow, caller.user_id))
    ended = await revoke_tokens(
        call.db, caller.user_id, call.services.clock, except_token_id=caller.token_id, kinds=kinds
    )
    call.services.authenticator.invalidate(user_id=caller.user_id)
    return ended


async def forget_origins(services: Services) -> int:
    """Forget where tokens came from that ended 30 days ago; returns their number."""
    before = services.clock.now() - ORIGIN_RETENTION
    ended = or_(col(TokenRow.revoked_on) < before, col(TokenRow.expires_on) < before)
    told = or_(col(TokenRow.address) != "", col(TokenRow.user_agent) != "")
    async with services.db.sessions() as db, db.begin():
        return (await db.exec(update(TokenRow).where(ended, told).values(address="", user_agent=""))).rowcount

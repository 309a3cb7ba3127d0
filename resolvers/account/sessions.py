"""The log-ins of a user: which there are, and how all others are ended."""

import datetime as dt

from sqlalchemy import func, or_, update
from sqlmodel import col, select

from resolvers.account.tokens import revoke_tokens
from resolvers.core.operation import Call, operation
from resolvers.core.services import Services
from schema.account.token import RevokeOtherSessions
from schema.account.user import Token, TokenKind
from schema.core.permission import AccessRule
from store.account.users import TokenRow, UserRow

ORIGIN_RETENTION = dt.timedelta(days=30)
"""How long the address and the browser of a token are kept after it has ended."""


@operation(AccessRule.AUTHENTICATED)
async def sessions(call: Call) -> list[Token]:
    """Your valid tokens and log-ins, the last used first."""
    now = call.services.clock.now()
    live = col(TokenRow.user_id) == call.caller.user_id, col(TokenRow.revoked_on).is_(None)
    unexpired = or_(col(TokenRow.expires_on).is_(None), col(TokenRow.expires_on) > now)
    used = func.coalesce(col(TokenRow.last_used_on), col(TokenRow.created_on))
    query = select(TokenRow).where(*live, unexpired).order_by(used.desc(), col(TokenRow.id).desc())
    return list((await call.db.exec(query)).all())


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

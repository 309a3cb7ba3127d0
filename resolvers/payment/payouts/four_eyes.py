"""Whether two users are two people: not if one of them has created the token that the other one uses."""

from collections.abc import Iterable

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.caller import Caller
from store.account.users import TokenRow


async def token_creator_of(db: AsyncSession, caller: Caller) -> int | None:
    """The user who has created the caller's token; None for log-ins, and for tokens older than this record."""
    query = select(TokenRow.created_by_id).where(col(TokenRow.id) == caller.token_id)
    return (await db.exec(query)).one_or_none()


def is_one_person(first: Iterable[int | None], second: Iterable[int | None]) -> bool:
    """Whether somebody is behind both halves, each with its user and the creator of that user's token."""
    return bool({*first} & {*second} - {None})

"""The table of looks at the back office as a partner."""

import datetime as dt

from sqlalchemy import CheckConstraint, Index, func, text, update
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.account.impersonation import Impersonation
from store.account.users import TokenRow
from store.core.row import CreatedOn, PartnerIndexed


class ImpersonationRow(PartnerIndexed, CreatedOn, Impersonation, table=True):
    """A look at the back office as a partner. It belongs to a log-in, and works as long as that does."""

    __tablename__ = "impersonation"
    __table_args__ = (
        Index("impersonation_open_key", "token_id", unique=True, postgresql_where=text("ended_on IS NULL")),
        CheckConstraint("expires_on <= created_on + interval '30 minutes'", name="is_short"),
    )
    user_id: int = Field(foreign_key="app_user.id")
    token_id: int = Field(foreign_key="token.id")
    """The log-in."""


async def end_impersonations(db: AsyncSession, token_id: int, now: dt.datetime) -> None:
    """End the looks of a log-in, which is locked until the end of the transaction: it has one at a time."""
    await db.exec(select(TokenRow.id).where(col(TokenRow.id) == token_id).with_for_update())
    row = ImpersonationRow
    going_on = col(row.token_id) == token_id, col(row.ended_on).is_(None)
    await db.exec(update(row).where(*going_on).values(ended_on=func.least(col(row.expires_on), now)))


async def lock_impersonation(
    db: AsyncSession, user_id: int, token_id: int | None, id: int | None, now: dt.datetime
) -> ImpersonationRow | None:
    """The look of a user, locked: that of a log-in, or one by its id; None if it does not go on."""
    row = ImpersonationRow
    named = col(row.token_id) == token_id if id is None else col(row.id) == id
    going_on = col(row.ended_on).is_(None), col(row.expires_on) > now
    query = select(row).where(col(row.user_id) == user_id, named, *going_on)
    return (await db.exec(query.with_for_update())).one_or_none()

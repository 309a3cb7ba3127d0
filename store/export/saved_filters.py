"""The table of saved filters."""

from collections.abc import Sequence

from sqlalchemy import UniqueConstraint, func
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken
from schema.saved_filter import SavedFilter
from store.core.row import CreatedOn


class SavedFilterRow(CreatedOn, SavedFilter, table=True):
    """A filter of a list that a user has given a name."""

    __tablename__ = "saved_filter"
    __table_args__ = (UniqueConstraint("user_id", "list", "name"),)
    user_id: int = Field(foreign_key="app_user.id")


CONSTRAINT_ERRORS["saved_filter_user_id_list_name_key"] = lambda: AlreadyTaken("name", what="name")


async def saved_filters_of(db: AsyncSession, user_id: int, list: str | None) -> Sequence[SavedFilterRow]:
    """A user's filters by list and name, of one list or of all."""
    query = select(SavedFilterRow).where(col(SavedFilterRow.user_id) == user_id)
    if list is not None:
        query = query.where(col(SavedFilterRow.list) == list)
    order = col(SavedFilterRow.list), func.lower(col(SavedFilterRow.name)), col(SavedFilterRow.id)
    return (await db.exec(query.order_by(*order))).all()

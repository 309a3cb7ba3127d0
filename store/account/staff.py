"""Who of a marketplace, and of the installation, gets mail: active users with an address."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.account.user import UserRole
from store.account.users import UserRow

STAFF_LANGUAGE = "en"
"""Users and marketplaces have no language."""


async def staff_of_marketplace(db: AsyncSession, marketplace_id: int) -> Sequence[UserRow]:
    """The active users of a marketplace who have an e-mail address."""
    return await _staff(db, col(UserRow.role) == UserRole.MARKETPLACE, col(UserRow.marketplace_id) == marketplace_id)


async def staff_of_installation(db: AsyncSession) -> Sequence[UserRow]:
    """The active users of no single marketplace who have an e-mail address."""
    return await _staff(db, col(UserRow.role) == UserRole.MASTER)


async def _staff(db: AsyncSession, *conditions: ColumnElement[bool]) -> Sequence[UserRow]:
    query = select(UserRow).where(*conditions, col(UserRow.is_active), col(UserRow.email) != "")
    return (await db.exec(query.order_by(col(UserRow.id)))).all()

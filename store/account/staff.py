"""Who of a marketplace gets mail: its active users with an address."""

from collections.abc import Sequence

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.account.user import UserRole
from store.account.users import UserRow

STAFF_LANGUAGE = "en"
"""Users and marketplaces have no language."""


async def staff_of_marketplace(db: AsyncSession, marketplace_id: int) -> Sequence[UserRow]:
    """The active users of a marketplace who have an e-mail address."""
    query = select(UserRow).where(
        col(UserRow.marketplace_id) == marketplace_id,
        col(UserRow.role) == UserRole.MARKETPLACE,
        col(UserRow.is_active),
        col(UserRow.email) != "",
    )
    return (await db.exec(query.order_by(col(UserRow.id)))).all()

"""Who of the users of a marketplace or of the installation is told of what they may act on."""

from collections.abc import Sequence

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.authentication import permissions_of
from schema.core.permission import Permission
from store.account.staff import staff_of_installation, staff_of_marketplace
from store.account.users import UserRow


async def staff_who_may(db: AsyncSession, marketplace_id: int, permission: Permission) -> Sequence[UserRow]:
    """The active users of a marketplace with an e-mail address and the permission."""
    staff = await staff_of_marketplace(db, marketplace_id)
    return [user for user in staff if permission in permissions_of(user)]


async def masters(db: AsyncSession) -> Sequence[UserRow]:
    """The active users with an e-mail address who may see and change everything."""
    return [user for user in await staff_of_installation(db) if Permission.MANAGE_MASTERADMIN in permissions_of(user)]

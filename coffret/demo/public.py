"""Finds users with the public password of the demo data."""

from collections.abc import Sequence

from sqlmodel import col, select

from coffret.demo.users import LARGE_PARTNER_USER, PASSWORD, USERNAMES
from store.account.credentials import verify_password
from store.account.users import UserRow
from store.database.db import Database


async def public_users(db: Database) -> Sequence[str]:
    """The user names of active users with the demo data's password."""
    query = select(UserRow).where(col(UserRow.username).in_((*USERNAMES, LARGE_PARTNER_USER)), col(UserRow.is_active))
    async with db.sessions() as session:
        found = (await session.exec(query.order_by(col(UserRow.id)))).all()
    return [user.username for user in found if await verify_password(user.password_hash, PASSWORD)]

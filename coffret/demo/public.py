"""Users of the demo data whom anybody could log in as: the password is in the documentation."""

from collections.abc import Sequence

from sqlmodel import col, select

from coffret.demo.large_shelf import USERNAME
from coffret.demo.seed import PASSWORD, USERNAMES
from store.account.credentials import matches
from store.database.db import Database
from store.partner.partners import UserRow


async def public_users(db: Database) -> Sequence[str]:
    """The user names of those who may log in, and whose password is the demo data's."""
    query = select(UserRow).where(col(UserRow.username).in_((*USERNAMES, USERNAME)), col(UserRow.is_active))
    async with db.sessions() as session:
        found = (await session.exec(query.order_by(col(UserRow.id)))).all()
    return [user.username for user in found if await matches(user.password_hash, PASSWORD)]

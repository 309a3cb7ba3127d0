"""Links in mail with which users choose a password: each works once and for a while.

A link's token is signed and not stored: neither the database nor a queued message contains what opens it.
"""

import datetime as dt
from collections.abc import Mapping
from urllib.parse import urlencode
from uuid import UUID, uuid4

from sqlalchemy import delete, update
from sqlmodel import Field, SQLModel, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.account.link import AccountLinkKind
from schema.core.columns import datetime_column, enum_column, id_column
from store.account.users import UserRow
from store.core.row import CreatedOn
from store.core.settings import Settings
from store.core.signed_links import BadLink, read_link, sign_link

LIFETIMES: Mapping[AccountLinkKind, dt.timedelta] = {
    AccountLinkKind.PASSWORD_RESET: dt.timedelta(hours=1),
    AccountLinkKind.INVITATION: dt.timedelta(days=7),
}
RETENTION = dt.timedelta(days=30)
"""How long a link is stored after it has expired."""
PURPOSE = "account link"
PAGE = "/admin/reset-password/"
"""The page of the back office where a password is chosen."""


class AccountLinkRow(CreatedOn, SQLModel, table=True):
    """A link to choose a password."""

    __tablename__ = "account_link"
    id: int = id_column("The link's id.")
    uuid: UUID = Field(default_factory=uuid4, unique=True)
    user_id: int = Field(foreign_key="app_user.id", index=True)
    kind: AccountLinkKind = enum_column(AccountLinkKind, "What it is for.")
    expires_on: dt.datetime = datetime_column("When it expires.")
    ended_on: dt.datetime | None = datetime_column(
        "When it was used, or ended because the user got another password or address; null if neither.",
        default=None,
        nullable=True,
    )


async def add_link(db: AsyncSession, user: UserRow, kind: AccountLinkKind, now: dt.datetime) -> AccountLinkRow:
    """A new link for a user. Earlier ones still work."""
    row = AccountLinkRow(user_id=user.id, kind=kind, created_on=now, expires_on=now + LIFETIMES[kind])
    db.add(row)
    await db.flush()
    return row


def link_url(settings: Settings, uuid: UUID) -> str:
    """The URL of a link, for a message to its user only."""
    return f"{settings.public_url}{PAGE}?{urlencode({'token': sign_link(settings, PURPOSE, [str(uuid)])})}"


async def find_link(
    db: AsyncSession, settings: Settings, token: str, now: dt.datetime
) -> tuple[AccountLinkRow, UserRow] | None:
    """The link of a token, with its user; None if it is forged, used or expired, or its user may not log in."""
    try:
        (uuid,) = read_link(settings, PURPOSE, token)
    except BadLink:
        return None
    live = col(AccountLinkRow.ended_on).is_(None), col(AccountLinkRow.expires_on) > now, col(UserRow.is_active)
    query = select(AccountLinkRow, UserRow).join(UserRow, col(UserRow.id) == col(AccountLinkRow.user_id))
    return (await db.exec(query.where(col(AccountLinkRow.uuid) == UUID(uuid), *live))).one_or_none()


async def end_links(db: AsyncSession, user_id: int, now: dt.datetime) -> None:
    """End all links of a user."""
    open_links = col(AccountLinkRow.user_id) == user_id, col(AccountLinkRow.ended_on).is_(None)
    await db.exec(update(AccountLinkRow).where(*open_links).values(ended_on=now))


async def delete_expired_links(db: AsyncSession, now: dt.datetime) -> int:
    """Delete links that expired long ago; returns their number."""
    return (await db.exec(delete(AccountLinkRow).where(col(AccountLinkRow.expires_on) < now - RETENTION))).rowcount

"""Links in mail with which users choose a password: each works once and for a while.

A link's token is signed and not stored: neither the database nor a queued message contains what opens it.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from urllib.parse import urlencode
from uuid import UUID, uuid4

from sqlalchemy import delete, func, update
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
FORGOTTEN_PAGE = "/admin/forgot-password/"
"""The page of the back office that sends a link to choose a password."""
ACCOUNT_PAGE = "/admin/account/"
"""The page of the back office where users change their own password, second factor, passkeys and API tokens."""


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
    found = await _link_of(db, settings, token)
    if found is None or found[0].ended_on is not None or found[0].expires_on <= now or not found[1].is_active:
        return None
    return found


async def invited_user(db: AsyncSession, settings: Settings, token: str) -> UserRow | None:
    """The active user whom a token once invited, even if it has ended; None for other tokens, and for links that are
    deleted.
    """
    found = await _link_of(db, settings, token)
    if found is None or found[0].kind is not AccountLinkKind.INVITATION or not found[1].is_active:
        return None
    return found[1]


async def lock_users_called(db: AsyncSession, name: str, most: int) -> Sequence[UserRow]:
    """The active users with a password and an address who have this user name or this e-mail address, as they are now,
    locked, by id: at most so many, the one with the user name among them.
    """
    is_named = col(UserRow.username) == name
    can_reset = (
        is_named | (func.lower(col(UserRow.email)) == name),
        col(UserRow.is_active),
        col(UserRow.email) != "",
        col(UserRow.password_hash) != "",
    )
    chosen = select(UserRow.id).where(*can_reset).order_by(is_named.desc(), col(UserRow.id)).limit(most)
    query = select(UserRow).where(col(UserRow.id).in_(chosen), *can_reset).order_by(col(UserRow.id))
    return (await db.exec(query.with_for_update())).all()


async def end_links(db: AsyncSession, user_id: int, now: dt.datetime) -> None:
    """End all links of a user."""
    open_links = col(AccountLinkRow.user_id) == user_id, col(AccountLinkRow.ended_on).is_(None)
    await db.exec(update(AccountLinkRow).where(*open_links).values(ended_on=now))


async def delete_expired_links(db: AsyncSession, now: dt.datetime) -> int:
    """Delete links that expired long ago; returns their number."""
    return (await db.exec(delete(AccountLinkRow).where(col(AccountLinkRow.expires_on) < now - RETENTION))).rowcount


async def _link_of(db: AsyncSession, settings: Settings, token: str) -> tuple[AccountLinkRow, UserRow] | None:
    """The link of a token, as it is now, with its user; None if it is forged or deleted."""
    try:
        (uuid,) = read_link(settings, PURPOSE, token)
    except BadLink:
        return None
    query = select(AccountLinkRow, UserRow).join(UserRow, col(UserRow.id) == col(AccountLinkRow.user_id))
    wanted = query.where(col(AccountLinkRow.uuid) == UUID(uuid)).execution_options(populate_existing=True)
    return (await db.exec(wanted)).one_or_none()

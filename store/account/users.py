"""The tables of users and tokens."""

import datetime as dt
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Column, ColumnElement, Index, LargeBinary, and_, event, func, inspect, or_
from sqlalchemy.dialects.postgresql import ARRAY, VARCHAR
from sqlmodel import Field, col
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.account.user import Token, User
from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken
from store.account.confusables import skeleton_digest
from store.core.row import CreatedOn


def _default_skeleton(context: Any) -> bytes:
    return skeleton_digest(context.get_current_parameters()["username"])


class UserRow(CreatedOn, User, table=True):
    __tablename__ = "app_user"
    __table_args__ = (
        Index("app_user_username_list_idx", "partner_id", "username", "id"),
        Index("app_user_created_on_list_idx", "partner_id", "created_on", "id"),
    )
    uuid: UUID = Field(default_factory=uuid4, unique=True)
    partner_id: int | None = Field(default=None, foreign_key="partner.id", index=True)
    marketplace_id: int | None = Field(default=None, foreign_key="marketplace.id", index=True)
    password_hash: str = Field(default="", max_length=255)
    permissions: list[str] | None = Field(default=None, sa_column=Column(ARRAY(VARCHAR(60)), nullable=True))
    username_skeleton: bytes | None = Field(
        default=None, sa_column=Column(LargeBinary, unique=True, nullable=True, default=_default_skeleton)
    )
    """Unique digest of the name's skeleton; null if another user already had it when this column was added."""


class TokenRow(Token, table=True):
    """A token. Only the digest of its secret is stored."""

    __tablename__ = "token"
    user_id: int = Field(foreign_key="app_user.id", index=True)
    digest: bytes = Field(unique=True)
    created_by_id: int | None = Field(default=None, foreign_key="app_user.id")
    """The user who has created it for a program; null for a log-in, and if it is older than this column."""


def is_valid_at(now: dt.datetime) -> ColumnElement[bool]:
    """The condition of tokens that are neither revoked nor expired."""
    expires_on = col(TokenRow.expires_on)
    return and_(col(TokenRow.revoked_on).is_(None), or_(expires_on.is_(None), expires_on > now))


async def lock_token(db: AsyncSession, token_id: int) -> TokenRow:
    """A token as it is now, locked."""
    return await db.get_one(TokenRow, token_id, with_for_update=True, populate_existing=True)


LAST_USED = func.coalesce(col(TokenRow.last_used_on), col(TokenRow.created_on)).desc(), col(TokenRow.id).desc()
"""The order of tokens, the last used first."""


@event.listens_for(UserRow, "before_update")
def _update_skeleton(_mapper: Any, _connection: Any, user: UserRow) -> None:
    if inspect(user).attrs.username.history.has_changes():
        user.username_skeleton = skeleton_digest(user.username)


CONSTRAINT_ERRORS["app_user_username_key"] = lambda: AlreadyTaken("username", what="user name")
CONSTRAINT_ERRORS["app_user_username_skeleton_key"] = lambda: AlreadyTaken(
    "username", what="user name, or one that reads like it,"
)

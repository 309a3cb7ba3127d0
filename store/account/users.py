"""The tables of users and tokens."""

from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import Column, Index, LargeBinary, event, inspect
from sqlalchemy.dialects.postgresql import ARRAY, VARCHAR
from sqlmodel import Field

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


@event.listens_for(UserRow, "before_update")
def _update_skeleton(_mapper: Any, _connection: Any, user: UserRow) -> None:
    if inspect(user).attrs.username.history.has_changes():
        user.username_skeleton = skeleton_digest(user.username)


CONSTRAINT_ERRORS["app_user_username_key"] = lambda: AlreadyTaken("username", what="user name")
CONSTRAINT_ERRORS["app_user_username_skeleton_key"] = lambda: AlreadyTaken(
    "username", what="user name, or one that reads like it,"
)

"""Users and their tokens."""

import datetime as dt

import strawberry
from sqlmodel import Field

from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.permission import Permission
from schema.core.resource import SchemaModel, computed, relation, relations
from schema.partner.marketplace import Marketplace
from schema.partner.partner import Partner


@graphql_enum
class UserRole(DescribedEnum):
    """The role of a user: whose data the user sees."""

    PARTNER = "partner", "Data of one partner."
    MARKETPLACE = "marketplace", "Data of all partners of one marketplace."
    MASTER = "master", "All data."


@graphql_enum
class TokenKind(DescribedEnum):
    """What a token is."""

    API = "api", "A token for a program, or for the API."
    LOG_IN = "log_in", "A log-in of a person on a page: the venue page or the back office."


@strawberry.pydantic.type(description="A token of a user. Its secret is shown once, when it is created.")
class Token(SchemaModel):
    id: int = id_column("The token's id; unrelated to its secret.")
    label: str = Field(default="", max_length=80, description="What the token is for.")
    hint: str = Field(
        default="", max_length=12, description="The first characters of the secret, to tell tokens apart."
    )
    kind: TokenKind = enum_column(TokenKind, "Whether it is a log-in of a person on a page.", default=TokenKind.API)
    user_agent: str = Field(
        default="",
        max_length=200,
        description="The browser or program that obtained it, as its `User-Agent` says; empty if unknown, and 30 days "
        "after the token has ended.",
    )
    address: str = Field(
        default="",
        max_length=45,
        description="The IP address that obtained it; empty if unknown, and 30 days after the token has ended.",
    )
    created_on: dt.datetime = datetime_column("When it was created.")
    expires_on: dt.datetime | None = datetime_column("When it expires; null if never.", default=None, nullable=True)
    last_used_on: dt.datetime | None = datetime_column(
        "When it was last used, to the minute; null if never.", default=None, nullable=True
    )
    revoked_on: dt.datetime | None = datetime_column(
        "When it was revoked; null if it is not revoked.", default=None, nullable=True
    )


@strawberry.pydantic.type(description="A person or program that logs in.")
class User(SchemaModel):
    id: int = id_column("The user's id.")
    first_name: str = Field(default="", max_length=80, description="The user's name.")
    username: str = Field(max_length=254, unique=True, description="The name to log in with; often the e-mail address.")
    email: str = Field(default="", max_length=254, description="The user's e-mail address; empty if none.")
    role: UserRole = enum_column(UserRole, "Whose data the user sees.")
    is_active: bool = Field(default=True, description="Whether the user may log in, and the user's tokens work.")
    has_second_factor: bool = Field(
        default=False,
        description="Whether logging in needs a one-time code besides the password.",
    )
    created_on: dt.datetime = datetime_column("When the user was created.")
    partner = relation(
        Partner, by="partner_id", description="The partner the user works for; null if none.", nullable=True
    )
    marketplace = relation(
        Marketplace,
        by="marketplace_id",
        description="The marketplace the user works for, directly or through the partner; null if none.",
        nullable=True,
    )
    effective_permissions = computed(
        list[Permission], "The user's permissions: those granted, or else the defaults of the role."
    )
    has_password = computed(bool, "Whether the user has a password; false until an invited user has chosen one.")
    recovery_codes_left = computed(
        int, "How many recovery codes of the second factor are left; 0 without a second factor."
    )
    sessions = computed(list[Token], "The user's valid tokens and log-ins, the last used first.")
    tokens = relations(Token, by="user_id", description="The user's tokens, including revoked and expired ones.")

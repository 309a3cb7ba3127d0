"""The caller, and the tokens that authenticate it."""

import datetime as dt
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.account.second_factor import OTP_DESCRIPTION, Otp
from schema.account.user import Token, User
from schema.core.inputs import graphql_input
from schema.core.permission import Permission
from schema.core.resource import SchemaModel, relation
from schema.partner.marketplace import Marketplace
from schema.partner.partner import Partner
from schema.validation.characters import ONE_LINE, line_up_to


@strawberry.type(description="A new token. Its secret is shown only here.")
class IssuedToken:
    token: str = strawberry.field(description="The secret: send it as `Authorization: Token <token>`.")
    uuid: UUID = strawberry.field(
        description="The uuid of the user's partner; else of the user's marketplace; else of the user."
    )
    user: User = strawberry.field(description="The user it belongs to.")


@strawberry.type(description="A new API token with its secret, which is shown only here.")
class NewToken:
    secret: str | None = strawberry.field(
        description="The secret: send it as `Authorization: Token <secret>`. Null in the answer to a request that is "
        "repeated with its `Idempotency-Key`, because it is not stored."
    )
    token: Token = strawberry.field(description="The token.")


@strawberry.type(description="The caller.")
class Viewer:
    user_id: strawberry.Private[int | None]
    partner_id: strawberry.Private[int | None]
    marketplace_id: strawberry.Private[int | None]
    token_id: strawberry.Private[int | None]
    user: User = relation(User, "user_id", "The user whose token was sent.", field=strawberry.field)
    token: Token = relation(Token, "token_id", "The token that was sent.", field=strawberry.field)
    partner: Partner | None = relation(
        Partner, "partner_id", "The partner the user works for; null if none.", nullable=True, field=strawberry.field
    )
    marketplace: Marketplace | None = relation(
        Marketplace,
        "marketplace_id",
        "The marketplace the user works for; null if none.",
        nullable=True,
        field=strawberry.field,
    )
    permissions: list[Permission] = strawberry.field(description="The caller's permissions.")


@graphql_input
class ObtainToken(SchemaModel):
    """Log in with user name and password."""

    username: str = Field(description="The user name, case-insensitive.")
    password: str = Field(description="The password.")
    otp: Otp = Field(default="", description=f"{OTP_DESCRIPTION} Only for users who have a second factor.")
    label: Annotated[str, ONE_LINE] = Field(
        default="", description="What the token is for, in up to 80 characters; shown in lists of tokens."
    )
    hours: int | None = Field(
        default=None, ge=1, le=8760, description="The token's lifetime in hours; null if it is valid until revoked."
    )


@graphql_input
class RevokeToken(SchemaModel):
    """Revoke one of your own tokens."""

    id: int | None = Field(default=None, description="The id of the token; null for the token of this request.")


class TokenFields(SchemaModel):
    """What is told of a new API token, and by whom."""

    label: Annotated[str, line_up_to(80, min_length=1)] = Field(
        description="The program that uses it, in up to 80 characters; shown in lists of tokens."
    )
    expires_on: dt.datetime | None = Field(
        default=None, description="When it expires; null if it is valid until revoked."
    )
    current_password: str = Field(max_length=1024, description="Your own password.")
    otp: Otp = Field(default="", description=f"{OTP_DESCRIPTION} Only if you have a second factor.")


@graphql_input
class CreateToken(TokenFields):
    """Create an API token of your own, for a program."""


@graphql_input
class CreateUserToken(TokenFields):
    """Create an API token of a user whom you manage, for a program."""

    id: int = Field(description="The id of the user, who has no permission that you do not have.")


@graphql_input
class RevokeUserToken(SchemaModel):
    """Revoke a token of a user whom you manage, or end a log-in."""

    id: int = Field(description="The id of the token.")


@graphql_input
class RevokeOtherSessions(SchemaModel):
    """End your log-ins everywhere else."""

    include_api_tokens: bool = Field(
        default=False, description="Whether your API tokens are revoked too. Programs that use them then stop working."
    )

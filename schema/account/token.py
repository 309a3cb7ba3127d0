"""Who is asking, and the credential they ask with."""

from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.core.permission import Permission
from schema.core.resource import Fields, writable
from schema.partner.partner import Marketplace, Partner, User
from schema.validation.characters import ONE_LINE


@strawberry.type(description="A new credential. Its secret is shown here and never again.")
class IssuedToken:
    """A new credential."""

    token: str = strawberry.field(description="The secret: send it as `Authorization: Token <token>`.")
    uuid: UUID = strawberry.field(
        description="Whose it is: the uuid of the user's partner, else marketplace, else user."
    )
    user: User = strawberry.field(description="The user it belongs to.")


@strawberry.type(description="The caller.")
class Viewer:
    """The caller."""

    user: User = strawberry.field(description="The user whose token was sent.")
    partner: Partner | None = strawberry.field(description="The partner the user works for; null: for none.")
    marketplace: Marketplace | None = strawberry.field(description="The marketplace that is the user's; null: none.")
    permissions: list[Permission] = strawberry.field(description="What the caller may do.")


@writable
class ObtainToken(Fields):
    """A log-in."""

    username: str = Field(description="The user name, in capitals or not.")
    password: str = Field(description="The password.")
    label: Annotated[str, ONE_LINE] = Field(
        default="", description="What the token is for, in up to 80 characters; shown in lists of tokens."
    )
    hours: int | None = Field(
        default=None, ge=1, le=8760, description="For how many hours it works; null: until it is revoked."
    )


@writable
class RevokeToken(Fields):
    """Which of the caller's own tokens to revoke."""

    id: int | None = Field(default=None, description="The id of the token; null: the token of this request.")

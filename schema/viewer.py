"""Who is asking, and the credential they ask with."""

from uuid import UUID

import strawberry

from schema.permission import Permission
from schema.tenancy import Marketplace, Partner, User
from schema.values import Fields, writable


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
    partner: Partner | None = strawberry.field(description="The partner the user works for, if one.")
    marketplace: Marketplace | None = strawberry.field(description="The marketplace the user belongs to, if one.")
    permissions: list[Permission] = strawberry.field(description="What the caller may do.")


@writable
class ObtainToken(Fields):
    """A log-in."""

    username: str
    password: str
    label: str = ""


@writable
class RevokeToken(Fields):
    """Which token to revoke: one of the caller's own by its id; by default the one this request was made with."""

    id: int | None = None

"""Inputs that create and update users."""

from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.account.user import User, UserRole
from schema.core.inputs import graphql_input, graphql_input_for
from schema.core.permission import Permission
from schema.core.resource import SchemaModel
from schema.validation.characters import line_up_to
from schema.validation.contact import Email
from schema.validation.languages import Language

SHORTEST_PASSWORD = 12


Password = Annotated[str, Field(min_length=SHORTEST_PASSWORD, max_length=1024)]
Username = Annotated[str, line_up_to(254, min_length=1, to_lower=True)]
OptionalUsername = Annotated[str, line_up_to(254, to_lower=True)]
FirstName = Annotated[str, line_up_to(80)]
Permissions = Annotated[list[Permission], Field(max_length=len(Permission))]
PERMISSIONS_DESCRIPTION = (
    "The user's permissions; null for the defaults of the role. You can only grant permissions that you have."
)


class UserFields(SchemaModel):
    """What is told of a new user."""

    username: Username
    role: UserRole
    partner_uuid: UUID | None = Field(
        default=None, description="The uuid of the partner, for the role PARTNER; a partner's own users may omit it."
    )
    marketplace_uuid: UUID | None = Field(
        default=None,
        description="The uuid of the marketplace, for the role MARKETPLACE; a marketplace's own users may omit it.",
    )
    first_name: FirstName = ""
    email: Email = ""
    permissions: Permissions | None = Field(default=None, description=PERMISSIONS_DESCRIPTION)

    @property
    def login_name(self) -> str:
        """The user name; the e-mail address, if no other is given."""
        return self.username or self.email.lower()

    @property
    def mail_address(self) -> str:
        """The e-mail address; the user name, if that is one and no other is given; else empty."""
        return self.email or (self.username if "@" in self.username else "")


@graphql_input_for(User)
class CreateUser(UserFields):
    """Create a user: a person or program that logs in."""

    password: Password = Field(description="At least 12 characters.")


@graphql_input_for(User)
class InviteUser(UserFields):
    """Create a user without a password, who chooses one with a link that is sent by mail."""

    username: OptionalUsername = Field(default="", description="The name to log in with; empty for the e-mail address.")
    email: Email = Field(default="", description="Where the link is sent; empty if the user name is the address.")
    language: Language = Field(default="en", description="The language of the message, such as `fr`.")


@graphql_input_for(User)
class UpdateUser(SchemaModel):
    """Update a user. Omitted fields stay unchanged. You cannot change a user who has permissions that you do not
    have.
    """

    id: int
    first_name: strawberry.Maybe[FirstName]
    email: strawberry.Maybe[Email]
    password: strawberry.Maybe[Password] = Field(
        description="The new password, at least 12 characters. It ends all of the user's log-ins and API "
        "tokens, except the one of this request, and deletes the user's passkeys."
    )
    permissions: strawberry.Maybe[Permissions | None] = Field(description=PERMISSIONS_DESCRIPTION)
    is_active: strawberry.Maybe[bool]


@graphql_input
class ChangePassword(SchemaModel):
    """Change your own password. Your other tokens and your log-ins on the venue page stop working."""

    current_password: str = Field(description="Your current password.")
    new_password: Password = Field(description="At least 12 characters.")

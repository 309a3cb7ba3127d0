"""Links in mail with which users choose a password, and the inputs that send and use them."""

import datetime as dt
from typing import Annotated, ClassVar

import strawberry
from pydantic import Field

from schema.account.user_input import Password
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input
from schema.core.resource import SchemaModel
from schema.validation.characters import line_up_to
from schema.validation.languages import Language

IN_THE_LINK = "The token in the link of the message."


@graphql_enum
class AccountLinkKind(DescribedEnum):
    """What a link to choose a password is for."""

    PASSWORD_RESET = "password_reset", "The user has forgotten the password. It works for an hour."
    INVITATION = "invitation", "The user is new and has no password yet. It works for seven days."


@strawberry.type(description="A link to choose a password, which works once.")
class AccountLink:
    kind: AccountLinkKind = strawberry.field(description="What it is for.")
    username: str = strawberry.field(description="The user name to log in with.")
    first_name: str = strawberry.field(description="The user's name; empty if unknown.")
    expires_on: dt.datetime = strawberry.field(description="When it expires.")


@strawberry.type(description="A request for a link to choose a new password.")
class PasswordResetRequest:
    minutes: int = strawberry.field(
        description="For how many minutes the link works. Whether one was sent is not told, so that nobody learns who "
        "has a log-in."
    )


@graphql_input
class RequestPasswordReset(SchemaModel):
    """Ask for a link to choose a new password."""

    HIDDEN_FROM_AUDIT: ClassVar[frozenset[str]] = frozenset({"username"})
    """People type passwords there, and other people's addresses; the entry is about the user who was found."""

    username: Annotated[str, line_up_to(254, min_length=1)] = Field(description="The user name or the e-mail address.")
    language: Language = Field(default="en", description="The language of the message, such as `fr`.")


@graphql_input
class ResetPassword(SchemaModel):
    """Choose a password with a link from a message."""

    token: Annotated[str, line_up_to(1000)] = Field(description=IN_THE_LINK)
    new_password: Password = Field(description="At least 12 characters.")


@graphql_input
class ResendInvitation(SchemaModel):
    """Send another invitation to a user who has no password yet."""

    id: int = Field(description="The user's id.")
    language: Language = Field(default="en", description="The language of the message, such as `fr`.")

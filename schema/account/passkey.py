"""Passkeys: keys on a user's device with which it logs in without a password (WebAuthn)."""

import datetime as dt
from typing import Annotated

import strawberry
from pydantic import Field as InputField
from sqlmodel import Field

from schema.account.second_factor import OTP_DESCRIPTION, Otp
from schema.core.columns import datetime_column, id_column
from schema.core.inputs import graphql_input
from schema.core.resource import SchemaModel
from schema.validation.characters import ONE_LINE, line_up_to

PasskeyName = Annotated[str, line_up_to(80, min_length=1)]
Credential = Annotated[str, line_up_to(20_000)]
CREDENTIAL_DESCRIPTION = "What the browser answered, as JSON: `JSON.stringify(credential.toJSON())`."


@strawberry.pydantic.type(description="A passkey of a user. Its secret never leaves the user's device.")
class Passkey(SchemaModel):
    id: int = id_column("The passkey's id.")
    name: str = Field(max_length=80, description="What the user calls it.")
    created_on: dt.datetime = datetime_column("When it was registered.")
    last_used_on: dt.datetime | None = datetime_column(
        "When it was last used; null if never.", default=None, nullable=True
    )


@strawberry.type(description="What the browser needs to make or use a passkey. It works once, for five minutes.")
class PasskeyOptions:
    options: str = strawberry.field(
        description="The options as JSON, for `PublicKeyCredential.parseCreationOptionsFromJSON` or "
        "`parseRequestOptionsFromJSON`."
    )


@graphql_input
class BeginPasskey(SchemaModel):
    """Begin to register a passkey."""

    password: str = InputField(max_length=1024, description="Your password.")
    otp: Otp = InputField(default="", description=f"{OTP_DESCRIPTION} Only if you have a second factor.")


@graphql_input
class RegisterPasskey(SchemaModel):
    """Register a passkey."""

    name: PasskeyName = InputField(description="What you call it, in up to 80 characters.")
    credential: Credential = InputField(description=CREDENTIAL_DESCRIPTION)


@graphql_input
class RenamePasskey(SchemaModel):
    """Rename a passkey."""

    id: int = InputField(description="The passkey's id.")
    name: PasskeyName = InputField(description="What you call it, in up to 80 characters.")


@graphql_input
class DeletePasskey(SchemaModel):
    """Delete a passkey."""

    id: int = InputField(description="The passkey's id.")


@graphql_input
class ObtainTokenWithPasskey(SchemaModel):
    """Log in with a passkey."""

    credential: Credential = InputField(description=CREDENTIAL_DESCRIPTION)
    label: Annotated[str, ONE_LINE] = InputField(
        default="", description="What the token is for, in up to 80 characters; shown in lists of tokens."
    )
    hours: int | None = InputField(
        default=None, ge=1, le=8760, description="The token's lifetime in hours; null if it is valid until revoked."
    )

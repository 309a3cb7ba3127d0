"""Second factors of users: one-time codes of an authenticator app, and recovery codes."""

from typing import Annotated

import strawberry
from pydantic import Field

from schema.core.inputs import graphql_input
from schema.core.resource import SchemaModel
from schema.validation.characters import line_up_to

Otp = Annotated[str, line_up_to(40)]
OTP_DESCRIPTION = "A one-time code of the authenticator app, or a recovery code."


@strawberry.type(description="What an authenticator app needs. It is shown only here.")
class SecondFactorSetup:
    secret: str = strawberry.field(description="The secret to type into the app: 32 characters of base 32.")
    otpauth_url: str = strawberry.field(description="The URL that the app reads from a QR code, `otpauth://totp/…`.")


@strawberry.type(description="Recovery codes, shown only here. Each replaces a code of the app once.")
class RecoveryCodes:
    codes: list[str] = strawberry.field(description="The ten codes.")


@graphql_input
class SetUpSecondFactor(SchemaModel):
    """Begin to set up your second factor."""

    password: str = Field(max_length=1024, description="Your password.")


@graphql_input
class ConfirmSecondFactor(SchemaModel):
    """Turn your second factor on."""

    otp: Otp = Field(description="A one-time code of the app that you have just set up.")


@graphql_input
class RenewRecoveryCodes(SchemaModel):
    """Replace your recovery codes."""

    otp: Otp = Field(description=OTP_DESCRIPTION)


@graphql_input
class DisableSecondFactor(SchemaModel):
    """Turn your second factor off."""

    password: str = Field(max_length=1024, description="Your password.")
    otp: Otp = Field(description=OTP_DESCRIPTION)


@graphql_input
class ResetSecondFactor(SchemaModel):
    """Turn off the second factor of a user who has lost it, and delete the user's passkeys."""

    id: int = Field(description="The user's id.")

"""Identity verification of a legal representative."""

import datetime as dt
from uuid import UUID

import strawberry
from pydantic import BaseModel
from sqlmodel import Field

from schema.core.inputs import graphql_input
from schema.core.resource import SchemaModel
from schema.kyc.kyc import KycCheckStatus


@strawberry.pydantic.type(description="A page of the payment provider where the representative proves their identity.")
class IdentityVerification(BaseModel):
    id: int = Field(description="The verification's id.")
    status: KycCheckStatus = Field(description="The verification's status.")
    redirect_url: str = Field(description="The URL to send the representative to.")
    expires_on: dt.datetime = Field(description="When the URL expires: after seven days.")


@graphql_input
class OpenIdentityVerification(SchemaModel):
    """Open an identity verification for a partner's legal representative."""

    partner_uuid: UUID = Field(description="The uuid of the partner.")

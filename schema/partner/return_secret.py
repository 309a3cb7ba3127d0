"""The secret that signs redirects of customers back to the shop."""

import datetime as dt
from uuid import UUID

import strawberry
from pydantic import Field

from schema.core.inputs import graphql_input
from schema.core.resource import SchemaModel


@graphql_input
class RotateReturnSecret(SchemaModel):
    """Create a new secret for signing a partner's redirects."""

    partner_uuid: UUID | None = Field(
        default=None, description="The uuid of the partner; a partner's own users may omit it."
    )
    revoke_previous: bool = Field(
        default=False, description="Revoke the current secret immediately, for example because it has leaked."
    )


@strawberry.type(description="The secret of a partner's redirects. It is returned only once.")
class IssuedReturnSecret:
    secret: str = strawberry.field(description="The secret key of the signatures: `retsec_…`.")
    previous_secret_until: dt.datetime | None = strawberry.field(
        description="Until this moment redirects are also signed with the previous secret; null without a previous secret."
    )

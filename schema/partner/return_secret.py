"""The secret that a shop checks returning customers with."""

import datetime as dt
from uuid import UUID

import strawberry
from pydantic import Field

from schema.core.resource import Fields, writable


@writable
class RotateReturnSecret(Fields):
    """Which partner gets a new secret for its returns."""

    partner_uuid: UUID | None = Field(
        default=None, description="The uuid of the partner; a partner's own users may leave it out."
    )
    revoke_previous: bool = Field(
        default=False, description="True ends the present secret at once: somebody else knows it."
    )


@strawberry.type(description="The secret of a partner's returns, which is shown here and never again.")
class IssuedReturnSecret:
    """The secret of a partner's returns."""

    secret: str = strawberry.field(description="The key of the signatures: `retsec_…`.")
    previous_secret_until: dt.datetime | None = strawberry.field(
        description="Until when returns are signed with the secret before as well; null: there is none."
    )

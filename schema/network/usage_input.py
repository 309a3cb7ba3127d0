"""What the inputs of usages have in common."""

from typing import Annotated
from uuid import UUID

from pydantic import Field, WithJsonSchema

from schema.core.resource import SchemaModel
from schema.partner.input import SourceIdLookup
from schema.validation.characters import line_up_to, multiline_up_to
from schema.validation.contact import Email, NoneToEmpty
from schema.validation.dates import Moment
from schema.validation.numbers import RowId

Note = Annotated[str, multiline_up_to(500), NoneToEmpty]
PartnerSourceId = Annotated[SourceIdLookup, WithJsonSchema({"type": ["integer", "string"]})]


class NewUsageFields(SchemaModel):
    """What is told of a usage of a network's gift card or voucher, and the partner where it happens."""

    partner_id: RowId | None = Field(default=None, description="The id of the partner. Send one of the three.")
    partner_uuid: UUID | None = Field(default=None, description="The uuid of the partner. Send one of the three.")
    partner_source_id: PartnerSourceId | None = Field(
        default=None, description="The partner's id in the network's own systems. Send one of the three."
    )
    comment: Note = Field(default="", description="A note.")
    reservation_id: Annotated[str, line_up_to(80), NoneToEmpty] = Field(
        default="", description="The id of the booking; empty if none."
    )
    freeze_payout_date: Moment | None = Field(
        default=None,
        description="Decides about the payout instead of `usedOn`, if the partner may choose the date.",
    )
    send_usage_notification_email: bool = Field(
        default=False, description="Whether the network and the beneficiary are told by e-mail."
    )
    giftee_email: Email | None = Field(
        default=None,
        description="Where the beneficiary is told. Null: at the giftee's address, else at the gifter's.",
    )

"""Inputs about fee rules."""

from decimal import Decimal
from typing import Annotated
from uuid import UUID

from pydantic import Field

from schema.core.inputs import graphql_input_for, update_input_of
from schema.core.ownership import MARKETPLACE_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.payment.fees import FeeRule
from schema.validation.characters import line_up_to
from schema.validation.numbers import AmountRule, MoneyAmount

FeePercentage = Annotated[Decimal, AmountRule(ge=Decimal(0), le=Decimal(100))]
FeeRuleName = Annotated[str, line_up_to(80)]


@graphql_input_for(FeeRule)
class CreateFeeRule(SchemaModel):
    """Create a fee rule. It counts for payments that are created from now on."""

    marketplace_uuid: UUID | None = Field(default=None, description=MARKETPLACE_DESCRIPTION)
    partner_uuid: UUID | None = Field(
        default=None, description="The uuid of the partner whose payments it is for; omit it for all."
    )
    product: FeeRuleName | None = Field(default=None, description="Only for payments of this product; omit it for all.")
    origin: FeeRuleName | None = Field(default=None, description="Only for payments from this origin; omit it for all.")
    percentage: FeePercentage = Decimal("0.00")
    fixed: MoneyAmount = Field(
        default=Decimal("0.00"), description="A fixed amount for each payment, in the marketplace's currency."
    )
    vat_rate: FeePercentage = Decimal("0.00")
    is_active: bool = True


@update_input_of(CreateFeeRule, without={"marketplace_uuid", "partner_uuid"})
class UpdateFeeRule(SchemaModel):
    """Update a fee rule. Omitted fields stay unchanged; null clears. Payments that exist keep their commission."""

    id: int

"""Inputs that create and update delivery modes and their rates."""

from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.core.inputs import graphql_input_for, update_input_of
from schema.core.ownership import PARTNER_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.core.text import TextInput
from schema.delivery.delivery import DeliveryKind, DeliveryMode, DeliveryRate
from schema.product.input import STANDARD_VAT, Count, Name, VatRate
from schema.validation.contact import CountryCode
from schema.validation.numbers import MoneyAmount

FREE_ABOVE_DESCRIPTION = "The total of products from which it is free, in the partner's currency; null if never."


@graphql_input_for(DeliveryRate)
class DeliveryRateInput(SchemaModel):
    """The price of delivery to a country (empty for every country without rates of its own), up to a weight (null
    for any).
    """

    country: CountryCode = ""
    max_weight_grams: Annotated[int, Field(ge=1, le=1_000_000_000)] | None = None
    price: MoneyAmount = Field(description="The price, VAT included, in the partner's currency.")


@graphql_input_for(DeliveryMode)
class CreateDeliveryMode(SchemaModel):
    """Create a delivery mode with its rates."""

    partner_uuid: UUID | None = Field(default=None, description=PARTNER_DESCRIPTION)
    kind: DeliveryKind
    name: Name
    description: TextInput | None = None
    rates: list[DeliveryRateInput] = Field(default_factory=list, max_length=1000)
    free_above: MoneyAmount | None = Field(default=None, description=FREE_ABOVE_DESCRIPTION)
    vat_rate: VatRate = STANDARD_VAT
    is_active: bool = True
    ranking: Count = 1


@update_input_of(CreateDeliveryMode, without={"partner_uuid", "kind"})
class UpdateDeliveryMode(SchemaModel):
    """Update a delivery mode. Omitted fields stay unchanged; null clears. Rates, if sent, replace the current ones."""

    id: int
    rates: strawberry.Maybe[Annotated[list[DeliveryRateInput], Field(max_length=1000)]]

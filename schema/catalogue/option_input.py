"""Inputs that create and update options, their categories and their links to prototypes."""

from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.catalogue.option import OptionService, VoucherOption, VoucherOptionCategory, VoucherOptionLink
from schema.core.inputs import graphql_input_for, update_input_of
from schema.core.ownership import FIXED_PARTNER_DESCRIPTION, PARTNER_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.core.text import TextInput
from schema.core.text_input import line_per_language, text_per_language
from schema.product.input import PRICE_DESCRIPTION, VatRate
from schema.validation.characters import line_up_to
from schema.validation.contact import EmptyToNone, NoneToEmpty
from schema.validation.numbers import MoneyAmount, Ranking, RowId, WholeNumberRule

LONGEST_NAME, LONGEST_DESCRIPTION, MOST_SERVICES, MOST_PROTOTYPES = 200, 2000, 50, 1000
PROTOTYPES_DESCRIPTION = (
    "The ids of the prototypes it is linked to. New links have quantity 1 and are not included "
    "in the price; existing links keep their settings."
)

Name = Annotated[TextInput, line_per_language(LONGEST_NAME)]
Description = Annotated[TextInput, text_per_language(LONGEST_DESCRIPTION)]
Limit = Annotated[int, WholeNumberRule(ge=0, le=1_000_000)]
Count = Annotated[int, WholeNumberRule(ge=1, le=1_000_000)]
OptionalLimit = Annotated[Limit | None, EmptyToNone]
OptionalId = Annotated[RowId | None, EmptyToNone]
SourceId = Annotated[str, line_up_to(80), NoneToEmpty]
PrototypeIds = Annotated[list[RowId], Field(max_length=MOST_PROTOTYPES)]


@graphql_input_for(OptionService)
class OptionServiceInput(SchemaModel):
    """A service that is part of an option. Amounts are in the partner's currency."""

    cost: MoneyAmount
    buying_vat: VatRate
    selling_vat: VatRate
    price: MoneyAmount


Services = Annotated[list[OptionServiceInput], Field(max_length=MOST_SERVICES)]


@graphql_input_for(VoucherOption)
class CreateVoucherOption(SchemaModel):
    """Create an option."""

    partner_uuid: UUID | None = Field(default=None, description=PARTNER_DESCRIPTION)
    name: Name
    description: Description | None = None
    selling_price: MoneyAmount = Field(description=PRICE_DESCRIPTION)
    is_active: bool = True
    countable: bool = False
    is_global: bool = False
    ranking: Ranking = 1
    source_id: SourceId = ""
    services: Services = Field(default_factory=list)
    category_id: OptionalId = None
    voucher_prototype_ids: PrototypeIds = Field(default_factory=list, description=PROTOTYPES_DESCRIPTION)


@graphql_input_for(VoucherOption)
class VoucherOptionChangesInput(SchemaModel):
    """Changes of an option. Omitted fields stay unchanged; services and prototypes, if sent, replace the current
    ones.
    """

    partner_uuid: strawberry.Maybe[UUID] = Field(description=FIXED_PARTNER_DESCRIPTION)
    name: strawberry.Maybe[Name]
    description: strawberry.Maybe[Description]
    selling_price: strawberry.Maybe[MoneyAmount] = Field(description=PRICE_DESCRIPTION)
    is_active: strawberry.Maybe[bool]
    countable: strawberry.Maybe[bool]
    is_global: strawberry.Maybe[bool]
    ranking: strawberry.Maybe[Ranking]
    source_id: strawberry.Maybe[SourceId]
    services: strawberry.Maybe[Services]
    category_id: strawberry.Maybe[OptionalId]
    voucher_prototype_ids: strawberry.Maybe[PrototypeIds] = Field(description=PROTOTYPES_DESCRIPTION)


@graphql_input_for(VoucherOption)
class UpdateVoucherOption(VoucherOptionChangesInput):
    """Update an option. Omitted fields stay unchanged; services and prototypes, if sent, replace the current ones."""

    id: int


@graphql_input_for(VoucherOptionLink)
class CreateVoucherOptionLink(SchemaModel):
    """Link an option to a prototype of the same partner."""

    voucher_prototype_id: int
    option_id: int
    count: Count = 1
    included: bool = True


@graphql_input_for(VoucherOptionLink)
class UpdateVoucherOptionLink(SchemaModel):
    """Update the link between an option and a prototype. Omitted fields stay unchanged. Changes of the option itself
    apply to all prototypes.
    """

    id: int
    count: strawberry.Maybe[Count]
    included: strawberry.Maybe[bool]
    option: strawberry.Maybe[VoucherOptionChangesInput]


@graphql_input_for(VoucherOptionLink)
class DeleteVoucherOptionLink(SchemaModel):
    """Remove the link between an option and a prototype."""

    id: int


@graphql_input_for(VoucherOptionCategory)
class CreateVoucherOptionCategory(SchemaModel):
    """Create a category of options."""

    partner_uuid: UUID | None = Field(default=None, description=PARTNER_DESCRIPTION)
    name: Name
    description: Description | None = None
    is_active: bool = True
    ranking: Ranking = 1
    min_number_options: OptionalLimit = None
    max_number_options: OptionalLimit = None


@update_input_of(CreateVoucherOptionCategory)
class UpdateVoucherOptionCategory(SchemaModel):
    """Update a category of options. Omitted fields stay unchanged; null clears."""

    id: int
    partner_uuid: strawberry.Maybe[UUID] = Field(description=FIXED_PARTNER_DESCRIPTION)
    min_number_options: strawberry.Maybe[OptionalLimit]
    max_number_options: strawberry.Maybe[OptionalLimit]

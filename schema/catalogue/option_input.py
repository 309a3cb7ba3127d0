"""What is sent to make and to change options, their categories, and how they go with prototypes."""

from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.catalogue.option import OptionService, VoucherOption, VoucherOptionCategory, VoucherOptionLink
from schema.core.ownership import FOR_WHOM, STAYS
from schema.core.resource import Fields, TextInput, writable_as
from schema.core.text_input import line_up_to_each, up_to_each
from schema.product.input import PRICE, VatRate
from schema.validation.characters import up_to
from schema.validation.contact import EmptyIsNothing, NothingIsEmpty
from schema.validation.numbers import MoneyAmount, Ranking, RowId, Whole

LONGEST_NAME, LONGEST_DESCRIPTION, MOST_SERVICES, MOST_PROTOTYPES = 200, 2000, 50, 1000
PROTOTYPES = (
    "The prototypes that it goes with. New ones get one of it each, not included in their price; those that it goes with "
    "already keep what was set for them."
)

Name = Annotated[TextInput, line_up_to_each(LONGEST_NAME)]
Description = Annotated[TextInput, up_to_each(LONGEST_DESCRIPTION)]
Limit = Annotated[int, Whole(ge=0, le=1_000_000)]
Count = Annotated[int, Whole(ge=1, le=1_000_000)]
MaybeLimit = Annotated[Limit | None, EmptyIsNothing]
MaybeId = Annotated[RowId | None, EmptyIsNothing]
SourceId = Annotated[str, up_to(80), NothingIsEmpty]
Prototypes = Annotated[list[RowId], Field(max_length=MOST_PROTOTYPES)]


@writable_as(OptionService)
class OptionServiceInput(Fields):
    """A service that an option consists of. Amounts are in the partner's currency."""

    cost: MoneyAmount
    buying_vat: VatRate
    selling_vat: VatRate
    price: MoneyAmount


Services = Annotated[list[OptionServiceInput], Field(max_length=MOST_SERVICES)]


@writable_as(VoucherOption)
class CreateVoucherOption(Fields):
    """Something that a buyer can add to a voucher."""

    partner_uuid: UUID | None = Field(default=None, description=FOR_WHOM)
    name: Name
    description: Description | None = None
    selling_price: MoneyAmount = Field(description=PRICE)
    is_active: bool = True
    countable: bool = False
    is_global: bool = False
    ranking: Ranking = 1
    source_id: SourceId = ""
    services: Services = Field(default_factory=list)
    category_id: MaybeId = None
    voucher_prototype_ids: Prototypes = Field(default_factory=list, description=PROTOTYPES)


@writable_as(VoucherOption)
class VoucherOptionChangesInput(Fields):
    """What is left out stays as it is; services and prototypes, where given, replace those there are."""

    partner_uuid: strawberry.Maybe[UUID] = Field(description=STAYS)
    name: strawberry.Maybe[Name]
    description: strawberry.Maybe[Description]
    selling_price: strawberry.Maybe[MoneyAmount] = Field(description=PRICE)
    is_active: strawberry.Maybe[bool]
    countable: strawberry.Maybe[bool]
    is_global: strawberry.Maybe[bool]
    ranking: strawberry.Maybe[Ranking]
    source_id: strawberry.Maybe[SourceId]
    services: strawberry.Maybe[Services]
    category_id: strawberry.Maybe[MaybeId]
    voucher_prototype_ids: strawberry.Maybe[Prototypes] = Field(description=PROTOTYPES)


@writable_as(VoucherOption)
class UpdateVoucherOption(VoucherOptionChangesInput):
    """What is left out stays as it is; services and prototypes, where given, replace those there are."""

    id: int


@writable_as(VoucherOptionLink)
class CreateVoucherOptionLink(Fields):
    """An option for a prototype of the same partner."""

    voucher_prototype_id: int
    option_id: int
    count: Count = 1
    included: bool = True


@writable_as(VoucherOptionLink)
class UpdateVoucherOptionLink(Fields):
    """What is left out stays as it is. What is changed of the option itself holds for all prototypes."""

    id: int
    count: strawberry.Maybe[Count]
    included: strawberry.Maybe[bool]
    option: strawberry.Maybe[VoucherOptionChangesInput]


@writable_as(VoucherOptionLink)
class DeleteVoucherOptionLink(Fields):
    """An option that a prototype goes without."""

    id: int


@writable_as(VoucherOptionCategory)
class CreateVoucherOptionCategory(Fields):
    """A group of options."""

    partner_uuid: UUID | None = Field(default=None, description=FOR_WHOM)
    name: Name
    description: Description | None = None
    is_active: bool = True
    ranking: Ranking = 1
    min_number_options: MaybeLimit = None
    max_number_options: MaybeLimit = None


@writable_as(VoucherOptionCategory)
class UpdateVoucherOptionCategory(Fields):
    """What is left out stays as it is; null clears."""

    id: int
    partner_uuid: strawberry.Maybe[UUID] = Field(description=STAYS)
    name: strawberry.Maybe[Name]
    description: strawberry.Maybe[Description]
    is_active: strawberry.Maybe[bool]
    ranking: strawberry.Maybe[Ranking]
    min_number_options: strawberry.Maybe[MaybeLimit]
    max_number_options: strawberry.Maybe[MaybeLimit]

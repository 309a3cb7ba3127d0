"""Categories of options, with the minimum and maximum number of options to choose."""

from typing import Annotated

from pydantic import Field

from resolvers.core.input_mapping import (
    ById,
    apply,
    check_same_owner,
    collect_owner,
    depends_on,
    require_name,
    text_of,
    values_of,
)
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from schema.catalogue.option import VoucherOptionCategory
from schema.catalogue.option_input import CreateVoucherOptionCategory, UpdateVoucherOptionCategory
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.message_names import TemplatedMessage
from schema.core.permission import Permission
from schema.core.text import Text
from store.catalogue.catalogue import VoucherOptionCategoryRow


@graphql_enum
class VoucherOptionCategorySort(DescribedEnum):
    """Sort order of categories of options."""

    RANKING = "ranking", "By ranking, lowest first."
    RANKING_DESCENDING = "-ranking", "By ranking, highest first."


@graphql_input_for(VoucherOptionCategory)
class VoucherOptionCategoryFilter(OfPartner):
    """Filter for categories of options."""

    is_active: Annotated[bool | None, Where("is_active")] = None
    ids: Annotated[list[int] | None, Where("id", "in")] = Field(
        default=None, description="Only categories with one of these ids."
    )
    partner_id: Annotated[int | None, Where("partner_id")] = Field(
        default=None, description="Only categories of the partner with this id."
    )


voucher_option_categories = Listing(
    VoucherOptionCategory,
    VoucherOptionCategoryFilter,
    VoucherOptionCategorySort,
    Permission.VIEW_CATALOGUE,
    "The categories of options visible to you, by ranking, lowest first.",
)
voucher_option_category = Lookup(
    VoucherOptionCategory,
    "id",
    "voucher option category",
    Permission.VIEW_CATALOGUE,
    "A category of options by its id.",
)


_category = ById(VoucherOptionCategoryRow, voucher_option_category.thing)


@operation(Permission.MANAGE_CATALOGUE)
async def create_voucher_option_category(call: Call, input: CreateVoucherOptionCategory) -> VoucherOptionCategory:
    """Create a category of options."""
    findings = ProblemCollector()
    partner = await collect_owner(findings, call, input)
    with findings.collect():
        require_name(text_of(input.name))
    with findings.collect():
        _check_range(input.min_number_options, input.max_number_options, "max_number_options")
    findings.raise_problems()
    row = VoucherOptionCategoryRow(partner_id=partner.id, **{"description": Text(), **values_of(input)})
    call.db.add(row)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_category)
async def update_voucher_option_category(call: Call, input: UpdateVoucherOptionCategory) -> VoucherOptionCategory:
    """Update a category of options. The minimum must not exceed the maximum, even if only one of them is sent."""
    row = await _category.find(call, input.id, lock=True)
    findings = ProblemCollector()
    with findings.collect():
        await check_same_owner(call, row, input.partner_uuid)
    apply(row, input)
    with findings.collect():
        require_name(row.name)
    with findings.collect():
        depends_on(input.min_number_options)
        meant = "min_number_options" if input.max_number_options is None else "max_number_options"
        _check_range(row.min_number_options, row.max_number_options, meant)
    findings.raise_problems()
    await call.db.flush()
    return row


def _check_range(least: int | None, most: int | None, meant: str) -> None:
    """Raise InvalidInput at `meant`, the bound that was sent, if the minimum exceeds the maximum."""
    if least is not None and most is not None and least > most:
        raise InvalidInput.at(
            meant,
            TemplatedMessage("The minimum, {least}, is greater than the maximum, {most}.", least=least, most=most),
            "OUT_OF_RANGE",
        )

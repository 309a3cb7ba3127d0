"""Categories of options: how many of what a buyer must and may choose."""

from typing import Annotated

from pydantic import Field

from resolvers.core.input_mapping import ById, apply, named, needs, owner_among, stays_with_owner, text_of, values_of
from resolvers.core.listing import Listing, Lookup, OfPartner, Where
from resolvers.core.operation import Call, operation
from schema.catalogue.option import VoucherOptionCategory
from schema.catalogue.option_input import CreateVoucherOptionCategory, UpdateVoucherOptionCategory
from schema.core.errors import InvalidInput
from schema.core.input_errors import Findings
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, Text, closed_set, writable_as
from store.catalogue.catalogue import VoucherOptionCategoryRow


@closed_set
class VoucherOptionCategorySort(ClosedSet):
    """How to order categories of options."""

    RANKING = "ranking", "By ranking, lowest first."
    RANKING_DESCENDING = "-ranking", "By ranking, highest first."


@writable_as(VoucherOptionCategory)
class VoucherOptionCategoryFilter(OfPartner):
    """Which categories of options."""

    is_active: Annotated[bool | None, Where("is_active")] = None
    ids: Annotated[list[int] | None, Where("id", "in")] = Field(default=None, description="Those with these ids.")
    partner_id: Annotated[int | None, Where("partner_id")] = Field(
        default=None, description="Those of the partner with this id."
    )


voucher_option_categories = Listing(
    VoucherOptionCategory,
    VoucherOptionCategoryFilter,
    VoucherOptionCategorySort,
    Permission.VIEW_CATALOGUE,
    "The categories of options you see, best ranked first.",
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
    """Add a category of options."""
    findings = Findings()
    partner = await owner_among(findings, call, input)
    with findings.of_one():
        named(text_of(input.name))
    with findings.of_one():
        _sensible(input.min_number_options, input.max_number_options, "max_number_options")
    findings.tell()
    row = VoucherOptionCategoryRow(partner_id=partner.id, **{"description": Text(), **values_of(input)})
    call.db.add(row)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_category)
async def update_voucher_option_category(call: Call, input: UpdateVoucherOptionCategory) -> VoucherOptionCategory:
    """Change a category of options. How few and how many must fit together, whichever of them is sent."""
    row = await _category.find(call, input.id, lock=True)
    findings = Findings()
    with findings.of_one():
        await stays_with_owner(call, row, input.partner_uuid)
    apply(row, input)
    with findings.of_one():
        named(row.name)
    with findings.of_one():
        needs(input.min_number_options)
        meant = "min_number_options" if input.max_number_options is None else "max_number_options"
        _sensible(row.min_number_options, row.max_number_options, meant)
    findings.tell()
    await call.db.flush()
    return row


def _sensible(least: int | None, most: int | None, meant: str) -> None:
    """Refuse a range that nothing lies in, told at the end that was sent."""
    if least is not None and most is not None and least > most:
        raise InvalidInput.at(meant, f"The fewest to choose, {least}, are more than the most, {most}.", "OUT_OF_RANGE")

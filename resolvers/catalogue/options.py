"""Options that buyers can add to vouchers."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field
from sqlmodel import col, select

from resolvers.core.input_mapping import (
    ById,
    apply,
    check_same_owner,
    collect_owner,
    currency_of,
    require_name,
    text_of,
    values_of,
)
from resolvers.core.lists.filters import LONGEST_TERM, OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from schema.catalogue.option import OptionService, VoucherOption
from schema.catalogue.option_input import (
    CreateVoucherOption,
    OptionServiceInput,
    UpdateVoucherOption,
    VoucherOptionChangesInput,
)
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput, Problem
from schema.core.input_errors import ProblemCollector
from schema.core.inputs import graphql_input_for
from schema.core.money import Money
from schema.core.permission import Permission
from schema.core.text import Text
from store.catalogue.catalogue import (
    VoucherOptionCategoryRow,
    VoucherOptionLinkRow,
    VoucherOptionRow,
    VoucherPrototypeRow,
)
from store.database.loaders import is_any_of

NON_COLUMN_FIELDS = frozenset({"services", "voucher_prototype_ids"})
"""Input fields that do not map directly to a column."""


@graphql_enum
class VoucherOptionSort(DescribedEnum):
    """Sort order of options."""

    RANKING = "ranking", "By ranking, lowest first."
    RANKING_DESCENDING = "-ranking", "By ranking, highest first."


@graphql_input_for(VoucherOption)
class VoucherOptionFilter(OfPartner):
    """Filter for options."""

    is_active: Annotated[bool | None, Where("is_active")] = None
    is_global: Annotated[bool | None, Where("is_global")] = None
    category_id: Annotated[int | None, Where("category_id")] = None
    ids: Annotated[list[int] | None, Where("id", "in")] = Field(
        default=None, description="Only options with one of these ids."
    )
    partner_id: Annotated[int | None, Where("partner_id")] = Field(
        default=None, description="Only options of the partner with this id."
    )
    name_contains: Annotated[str | None, Where("name", "says")] = Field(
        default=None,
        max_length=LONGEST_TERM,
        description="Only options whose name contains this, in any language, ignoring case and accents.",
    )


voucher_options = Listing(
    VoucherOption,
    VoucherOptionFilter,
    VoucherOptionSort,
    Permission.VIEW_CATALOGUE,
    "The options visible to you, by ranking, lowest first.",
)
voucher_option = Lookup(VoucherOption, "id", "voucher option", Permission.VIEW_CATALOGUE, "An option by its id.")


_option = ById(VoucherOptionRow, voucher_option.thing)


@operation(Permission.MANAGE_CATALOGUE)
async def create_voucher_option(call: Call, input: CreateVoucherOption) -> VoucherOption:
    """Create an option."""
    findings = ProblemCollector()
    partner = await collect_owner(findings, call, input)
    with findings.collect():
        require_name(text_of(input.name))
    with findings.collect():
        await _check_category(call, partner.id, input.category_id)
    with findings.collect():
        await _check_prototypes(call, partner.id, input.voucher_prototype_ids)
    findings.raise_problems()
    currency = await currency_of(call, partner)
    row = VoucherOptionRow(
        partner_id=partner.id,
        currency=currency,
        services=_services(input.services, currency),
        **{"description": Text(), **values_of(input, skip=NON_COLUMN_FIELDS)},
    )
    call.db.add(row)
    await call.db.flush()
    await _put_links(call, row, input.voucher_prototype_ids)
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_option)
async def update_voucher_option(call: Call, input: UpdateVoucherOption) -> VoucherOption:
    """Update an option. Vouchers already sold keep the name and price at the time of sale."""
    row = await _option.find(call, input.id, lock=True)
    await change_option(call, row, input)
    return row


async def change_option(call: Call, row: VoucherOptionRow, changes: VoucherOptionChangesInput) -> None:
    """Apply the input to an option, which must be locked."""
    findings = ProblemCollector()
    with call.db.no_autoflush:
        with findings.collect():
            await check_same_owner(call, row, changes.partner_uuid)
        apply(row, changes, skip=NON_COLUMN_FIELDS)
        with findings.collect():
            require_name(row.name)
        with findings.collect():
            if changes.category_id is not None:
                await _check_category(call, row.partner_id, row.category_id)
        with findings.collect():
            if changes.voucher_prototype_ids is not None:
                await _check_prototypes(call, row.partner_id, changes.voucher_prototype_ids.value)
    findings.raise_problems()
    if changes.services is not None:
        row.services = _services(changes.services.value, row.currency)
    if changes.voucher_prototype_ids is not None:
        await _put_links(call, row, changes.voucher_prototype_ids.value)
    await call.db.flush()


def _services(services: Sequence[OptionServiceInput], currency: str) -> list[OptionService]:
    return [
        OptionService(
            cost=Money(amount=each.cost, currency=currency),
            buying_vat=each.buying_vat,
            selling_vat=each.selling_vat,
            price=Money(amount=each.price, currency=currency),
        )
        for each in services
    ]


async def _check_category(call: Call, partner_id: int, id: int | None) -> None:
    """Raise InvalidInput at `category_id` if the partner has no such category."""
    if id is None:
        return
    query = select(VoucherOptionCategoryRow.id).where(
        col(VoucherOptionCategoryRow.partner_id) == partner_id, col(VoucherOptionCategoryRow.id) == id
    )
    if (await call.db.exec(query)).one_or_none() is None:
        raise InvalidInput.at("category_id", "The partner has no category of options with this id.")


async def _put_links(call: Call, row: VoucherOptionRow, prototype_ids: Sequence[int]) -> None:
    """Link a locked option to exactly these prototypes, which must be checked. Existing links stay unchanged.

    Links change only under the lock of their option, so they are not locked themselves.
    """
    query = select(VoucherOptionLinkRow).where(col(VoucherOptionLinkRow.option_id) == row.id)
    there = {link.voucher_prototype_id: link for link in (await call.db.exec(query)).all()}
    if set(prototype_ids) != there.keys():
        row.updated_on = call.services.clock.now()
    for id in sorted(set(prototype_ids) - there.keys()):
        link = VoucherOptionLinkRow(
            partner_id=row.partner_id, option_id=row.id, voucher_prototype_id=id, count=1, included=False
        )
        call.db.add(link)
    for id in there.keys() - set(prototype_ids):
        await call.db.delete(there[id])
    await call.db.flush()


async def _check_prototypes(call: Call, partner_id: int, prototype_ids: Sequence[int]) -> None:
    """Raise InvalidInput at the position of each prototype that does not belong to the partner."""
    query = select(VoucherPrototypeRow.id).where(
        col(VoucherPrototypeRow.partner_id) == partner_id,
        is_any_of(col(VoucherPrototypeRow.id), sorted(set(prototype_ids))),
    )
    known = set((await call.db.exec(query)).all()) if prototype_ids else set()
    message = "The partner has no voucher prototype with this id."
    problems = [
        Problem(("voucher_prototype_ids", at), "INVALID", message)
        for at, id in enumerate(prototype_ids)
        if id not in known
    ]
    if problems:
        raise InvalidInput(*problems)

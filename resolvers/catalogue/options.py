"""Options: what buyers can add to vouchers."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import Field
from sqlmodel import col, select

from resolvers.core.input_mapping import (
    ById,
    apply,
    currency_of,
    named,
    owner_among,
    stays_with_owner,
    text_of,
    values_of,
)
from resolvers.core.listing import Listing, Lookup, OfPartner, Where
from resolvers.core.operation import Call, operation
from schema.catalogue.option import OptionService, VoucherOption
from schema.catalogue.option_input import (
    CreateVoucherOption,
    OptionServiceInput,
    UpdateVoucherOption,
    VoucherOptionChangesInput,
)
from schema.core.errors import InvalidInput, Problem
from schema.core.input_errors import Findings
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, Money, Text, closed_set, writable_as
from store.catalogue.catalogue import (
    VoucherOptionCategoryRow,
    VoucherOptionLinkRow,
    VoucherOptionRow,
    VoucherPrototypeRow,
)
from store.database.loaders import among

APART = frozenset({"services", "voucher_prototype_ids"})
"""Fields of inputs that are no columns as they are sent."""


@closed_set
class VoucherOptionSort(ClosedSet):
    """How to order options."""

    RANKING = "ranking", "By ranking, lowest first."
    RANKING_DESCENDING = "-ranking", "By ranking, highest first."


@writable_as(VoucherOption)
class VoucherOptionFilter(OfPartner):
    """Which options."""

    is_active: Annotated[bool | None, Where("is_active")] = None
    is_global: Annotated[bool | None, Where("is_global")] = None
    category_id: Annotated[int | None, Where("category_id")] = None
    ids: Annotated[list[int] | None, Where("id", "in")] = Field(default=None, description="Those with these ids.")
    partner_id: Annotated[int | None, Where("partner_id")] = Field(
        default=None, description="Those of the partner with this id."
    )
    name_contains: Annotated[str | None, Where("name", "says")] = Field(
        default=None,
        max_length=200,
        description="Whose name holds this in any language, whatever the case and the accents.",
    )


voucher_options = Listing(
    VoucherOption,
    VoucherOptionFilter,
    VoucherOptionSort,
    Permission.VIEW_CATALOGUE,
    "The options you see, best ranked first.",
)
voucher_option = Lookup(VoucherOption, "id", "voucher option", Permission.VIEW_CATALOGUE, "An option by its id.")


_option = ById(VoucherOptionRow, voucher_option.thing)


@operation(Permission.MANAGE_CATALOGUE)
async def create_voucher_option(call: Call, input: CreateVoucherOption) -> VoucherOption:
    """Add an option."""
    findings = Findings()
    partner = await owner_among(findings, call, input)
    with findings.of_one():
        named(text_of(input.name))
    with findings.of_one():
        await _check_category(call, partner.id, input.category_id)
    with findings.of_one():
        await _check_prototypes(call, partner.id, input.voucher_prototype_ids)
    findings.tell()
    currency = await currency_of(call, partner)
    row = VoucherOptionRow(
        partner_id=partner.id,
        currency=currency,
        services=_services(input.services, currency),
        **{"description": Text(), **values_of(input, skip=APART)},
    )
    call.db.add(row)
    await call.db.flush()
    await _put_links(call, row, input.voucher_prototype_ids)
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_option)
async def update_voucher_option(call: Call, input: UpdateVoucherOption) -> VoucherOption:
    """Change an option. Vouchers that were sold with it keep its name and price of their day."""
    row = await _option.find(call, input.id, lock=True)
    await change_option(call, row, input)
    return row


async def change_option(call: Call, row: VoucherOptionRow, sent: VoucherOptionChangesInput) -> None:
    """Write what was sent of an option, which must be locked."""
    findings = Findings()
    with call.db.no_autoflush:
        with findings.of_one():
            await stays_with_owner(call, row, sent.partner_uuid)
        apply(row, sent, skip=APART)
        with findings.of_one():
            named(row.name)
        with findings.of_one():
            if sent.category_id is not None:
                await _check_category(call, row.partner_id, row.category_id)
        with findings.of_one():
            if sent.voucher_prototype_ids is not None:
                await _check_prototypes(call, row.partner_id, sent.voucher_prototype_ids.value)
    findings.tell()
    if sent.services is not None:
        row.services = _services(sent.services.value, row.currency)
    if sent.voucher_prototype_ids is not None:
        await _put_links(call, row, sent.voucher_prototype_ids.value)
    await call.db.flush()


def _services(sent: Sequence[OptionServiceInput], currency: str) -> list[OptionService]:
    return [
        OptionService(
            cost=Money(amount=each.cost, currency=currency),
            buying_vat=each.buying_vat,
            selling_vat=each.selling_vat,
            price=Money(amount=each.price, currency=currency),
        )
        for each in sent
    ]


async def _check_category(call: Call, partner_id: int, id: int | None) -> None:
    """Refuse a category of somebody else."""
    if id is None:
        return
    query = select(VoucherOptionCategoryRow.id).where(
        col(VoucherOptionCategoryRow.partner_id) == partner_id, col(VoucherOptionCategoryRow.id) == id
    )
    if (await call.db.exec(query)).one_or_none() is None:
        raise InvalidInput.at("category_id", "The partner has no category of options with this id.")


async def _put_links(call: Call, row: VoucherOptionRow, wanted: Sequence[int]) -> None:
    """Let an option, which must be locked, go with these prototypes, which were checked: links that there are stay as they are.

    Links are changed under the lock of their option only, and so need none of their own.
    """
    query = select(VoucherOptionLinkRow).where(col(VoucherOptionLinkRow.option_id) == row.id)
    there = {link.voucher_prototype_id: link for link in (await call.db.exec(query)).all()}
    if set(wanted) != there.keys():
        row.updated_on = call.services.clock.now()
    for id in sorted(set(wanted) - there.keys()):
        link = VoucherOptionLinkRow(
            partner_id=row.partner_id, option_id=row.id, voucher_prototype_id=id, count=1, included=False
        )
        call.db.add(link)
    for id in there.keys() - set(wanted):
        await call.db.delete(there[id])
    await call.db.flush()


async def _check_prototypes(call: Call, partner_id: int, wanted: Sequence[int]) -> None:
    """Refuse prototypes of somebody else, each at its place."""
    query = select(VoucherPrototypeRow.id).where(
        col(VoucherPrototypeRow.partner_id) == partner_id, among(col(VoucherPrototypeRow.id), sorted(set(wanted)))
    )
    known = set((await call.db.exec(query)).all()) if wanted else set()
    message = "The partner has no voucher prototype with this id."
    problems = [
        Problem(("voucher_prototype_ids", at), "INVALID", message) for at, id in enumerate(wanted) if id not in known
    ]
    if problems:
        raise InvalidInput(*problems)

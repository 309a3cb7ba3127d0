"""Links between options and prototypes, with the count and whether the option is included in the price."""

from resolvers.catalogue.options import change_option, voucher_option
from resolvers.core.input_mapping import ById, apply
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from schema.catalogue.option import VoucherOptionLink
from schema.catalogue.option_input import (
    CreateVoucherOptionLink,
    DeleteVoucherOptionLink,
    UpdateVoucherOptionLink,
    VoucherOptionChangesInput,
)
from schema.core.errors import InvalidInput, Problem
from schema.core.input_errors import ProblemCollector
from schema.core.message_names import TemplatedMessage
from schema.core.permission import Permission
from store.catalogue.catalogue import VoucherOptionLinkRow, VoucherOptionRow, VoucherPrototypeRow

LINK, PROTOTYPE = "voucher option link", "voucher prototype"


_link = ById(VoucherOptionLinkRow, LINK)


async def _lock_link(call: Call, id: int) -> tuple[VoucherOptionLinkRow, VoucherOptionRow]:
    """A link and its option, locked. The option is locked first, in the same order as when its links are set through
    it.
    """
    seen = await _link.find(call, id)
    option = await find_visible(
        call.db, call.caller, VoucherOptionRow, voucher_option.thing, lock=True, id=seen.option_id
    )
    return await _link.find(call, id, lock=True), option


@operation(Permission.MANAGE_CATALOGUE)
async def create_voucher_option_link(call: Call, input: CreateVoucherOptionLink) -> VoucherOptionLink:
    """Link an option to a prototype."""
    prototype = await find_visible(call.db, call.caller, VoucherPrototypeRow, PROTOTYPE, id=input.voucher_prototype_id)
    option = await find_visible(
        call.db, call.caller, VoucherOptionRow, voucher_option.thing, lock=True, id=input.option_id
    )
    if option.partner_id != prototype.partner_id:
        raise InvalidInput.at("option_id", "The prototype's partner has no option with this id.")
    row = VoucherOptionLinkRow(
        partner_id=option.partner_id,
        voucher_prototype_id=prototype.id,
        option_id=option.id,
        count=input.count,
        included=input.included,
    )
    call.db.add(row)
    await call.db.flush()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_link)
async def update_voucher_option_link(call: Call, input: UpdateVoucherOptionLink) -> VoucherOptionLink:
    """Update the link between an option and a prototype. `option` updates the option itself, for all prototypes."""
    row, option = await _lock_link(call, input.id)
    apply(row, input, skip={"option"})
    await call.db.flush()
    if input.option is not None:
        findings = ProblemCollector()
        with findings.collect():
            _check_keeps_prototype(row, input.option.value)
        with findings.collect():
            await _change_option(call, option, input.option.value)
        findings.raise_problems()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_link)
async def delete_voucher_option_link(call: Call, input: DeleteVoucherOptionLink) -> VoucherOptionLink:
    """Delete the link between an option and a prototype. Vouchers already sold keep the option."""
    row, _ = await _lock_link(call, input.id)
    await call.db.delete(row)
    await call.db.flush()
    return row


def _check_keeps_prototype(row: VoucherOptionLinkRow, option: VoucherOptionChangesInput) -> None:
    """Raise InvalidInput if the new prototypes of the option leave out the prototype of this link."""
    requested, own = option.voucher_prototype_ids, row.voucher_prototype_id
    if requested is not None and own not in requested.value:
        raise InvalidInput.at(
            ("option", "voucher_prototype_ids"),
            TemplatedMessage("Include {own}: it is the prototype of this link.", own=own),
        )


async def _change_option(call: Call, option: VoucherOptionRow, changes: VoucherOptionChangesInput) -> None:
    """Update an option. Problems are located under `option`, as in the input of the link."""
    try:
        await change_option(call, option, changes)
    except InvalidInput as error:
        within = [Problem(("option", *problem.path), problem.code, problem.message) for problem in error.problems]
        raise InvalidInput(*within) from error

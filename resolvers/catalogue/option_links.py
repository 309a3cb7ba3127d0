"""Which options go with which prototypes, how many of them, and whether they are in the price."""

from resolvers.catalogue.options import change_option, voucher_option
from resolvers.core.input_mapping import ById, apply
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find
from schema.catalogue.option import VoucherOptionLink
from schema.catalogue.option_input import (
    CreateVoucherOptionLink,
    DeleteVoucherOptionLink,
    UpdateVoucherOptionLink,
    VoucherOptionChangesInput,
)
from schema.core.errors import InvalidInput, Problem
from schema.core.input_errors import Findings
from schema.core.permission import Permission
from store.catalogue.catalogue import VoucherOptionLinkRow, VoucherOptionRow, VoucherPrototypeRow

LINK, PROTOTYPE = "voucher option link", "voucher prototype"


_link = ById(VoucherOptionLinkRow, LINK)


async def _locked(call: Call, id: int) -> tuple[VoucherOptionLinkRow, VoucherOptionRow]:
    """A link and its option, locked. The option goes first, as it does where its links are set through it."""
    seen = await _link.find(call, id)
    option = await find(call.db, call.caller, VoucherOptionRow, voucher_option.thing, lock=True, id=seen.option_id)
    return await _link.find(call, id, lock=True), option


@operation(Permission.MANAGE_CATALOGUE)
async def create_voucher_option_link(call: Call, input: CreateVoucherOptionLink) -> VoucherOptionLink:
    """Let an option go with a prototype."""
    prototype = await find(call.db, call.caller, VoucherPrototypeRow, PROTOTYPE, id=input.voucher_prototype_id)
    option = await find(call.db, call.caller, VoucherOptionRow, voucher_option.thing, lock=True, id=input.option_id)
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
    """Change how an option goes with a prototype, and the option itself, for all prototypes."""
    row, option = await _locked(call, input.id)
    apply(row, input, skip={"option"})
    await call.db.flush()
    if input.option is not None:
        findings = Findings()
        with findings.of_one():
            _stays(row, input.option.value)
        with findings.of_one():
            await _change_option(call, option, input.option.value)
        findings.tell()
    return row


@operation(Permission.MANAGE_CATALOGUE, exists=_link)
async def delete_voucher_option_link(call: Call, input: DeleteVoucherOptionLink) -> VoucherOptionLink:
    """Let a prototype go without an option. Vouchers that were sold keep it."""
    row, _ = await _locked(call, input.id)
    await call.db.delete(row)
    await call.db.flush()
    return row


def _stays(row: VoucherOptionLinkRow, option: VoucherOptionChangesInput) -> None:
    """Refuse to let an option go without the prototype whose link to it is changed."""
    wanted, own = option.voucher_prototype_ids, row.voucher_prototype_id
    if wanted is not None and own not in wanted.value:
        raise InvalidInput.at(
            ("option", "voucher_prototype_ids"), f"Keep {own} among them: it is the prototype of this link."
        )


async def _change_option(call: Call, option: VoucherOptionRow, sent: VoucherOptionChangesInput) -> None:
    """Change an option; what is wrong with it is told where it stands in the input of its link."""
    try:
        await change_option(call, option, sent)
    except InvalidInput as error:
        within = [Problem(("option", *problem.path), problem.code, problem.message) for problem in error.problems]
        raise InvalidInput(*within) from error

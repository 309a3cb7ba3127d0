"""What becomes of a voucher: its states, its time, its bookings, and what staff correct."""

from collections.abc import Mapping
from typing import Any

from sqlmodel import col, func, select

from resolvers.core.brute_force import look_up
from resolvers.core.input_mapping import apply, ends_later
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find
from schema.core.errors import InvalidInput, NotExtendable, NotFound, Path, StateChanged
from schema.core.permission import Permission
from schema.voucher.input import (
    MOST_RENTALS,
    AddVoucherRental,
    ExtendVoucher,
    RemoveVoucherRental,
    UpdateVoucher,
    UpdateVoucherDetails,
    VoucherGifteeInput,
    VoucherRentalInput,
)
from schema.voucher.voucher import ExpeditionStatus, Voucher, VoucherGiftee, VoucherState
from store.core.codes import normal
from store.customer import Person, customer_for
from store.voucher.events import tell_of_extension
from store.voucher.giftees import correct_own_giftee
from store.voucher.issuing import giftee_columns
from store.voucher.rules import is_extendable
from store.voucher.states import move, permission_for
from store.voucher.vouchers import VoucherRentalRow, VoucherRow

NOTED_WITH = (VoucherState.USING, VoucherState.USED)
"""Where a voucher goes that is used for a booking."""
TAKEN_BACK = frozenset(
    {
        (VoucherState.USED, VoucherState.USING),
        (VoucherState.USED, VoucherState.PAID),
        (VoucherState.USING, VoucherState.PAID),
    }
)
"""The moves by which a use is taken back."""
GIFTEE = tuple(giftee_columns(VoucherGiftee()))


async def find_voucher(call: Call, given: Any, *, lock: bool = False) -> VoucherRow:
    """The voucher whose code an input holds, however it is written; NotFound, and a miss, where the caller sees none."""
    code = given.get("code") if isinstance(given, Mapping) else None

    async def look() -> VoucherRow:
        if not isinstance(code, str):
            raise NotFound("code", thing="voucher")
        return await find(call.db, call.caller, VoucherRow, "voucher", lock=lock, normal_code=normal(code))

    return await look_up(call.context, "voucher", look)


async def _locked(call: Call, code: str) -> VoucherRow:
    return await find_voucher(call, {"code": code}, lock=True)


@operation(Permission.USE_VOUCHER, exists=find_voucher)
async def update_voucher(call: Call, input: UpdateVoucher) -> Voucher:
    """Move a voucher to another state. Using it takes `permissions.use_voucher`, bringing a used or expired one back to life
    `permissions.reopen_voucher`, any other move `permissions.update_voucher`. The state that it is in already changes
    nothing; a move that there is not answers `INVALID_TRANSITION`. The booking that it is used for can be noted in the same
    step, and taken off when that is taken back.
    """
    row = await _locked(call, input.code)
    if input.rental is not None and input.state not in NOTED_WITH:
        raise InvalidInput.at("rental", "A booking is noted with `USING` and `USED`.")
    if input.from_state is not None and row.state is not input.from_state:
        raise StateChanged("from_state", state=row.state)
    old = row.state
    if not await _move(call, row, input.state):
        return row
    if input.rental is not None:
        await _note(call, row, input.rental, ("rental",))
    if input.rental_ids_off and (old, row.state) not in TAKEN_BACK:
        raise InvalidInput.at("rental_ids_off", "Bookings are taken off with a move that takes back its use.")
    for id in dict.fromkeys(input.rental_ids_off):
        await _take_off(call, row, id)
    return row


async def _move(call: Call, row: VoucherRow, state: VoucherState) -> bool:
    needed = permission_for(row.state, state)
    if needed is not None:
        call.context.require(needed)
    return await move(call.db, row, state, call.services.clock.now())


@operation(Permission.UPDATE_VOUCHER, exists=find_voucher)
async def extend_voucher(call: Call, input: ExtendVoucher) -> Voucher:
    """Give a voucher more time. One that has expired is paid again, which takes `permissions.reopen_voucher`; whether it had
    been used in part is then not known any more, but for its bookings.
    """
    row = await _locked(call, input.code)
    now, old = call.services.clock.now(), row.expires_on
    ends_later(input.expires_on, old, now)
    if old is None or not is_extendable(row, now):
        raise NotExtendable
    row.expires_on = input.expires_on
    await tell_of_extension(call.db, row, old)
    if row.state is VoucherState.EXPIRED:
        await _move(call, row, VoucherState.PAID)
    await call.db.flush()
    return row


@operation(Permission.UPDATE_VOUCHER, exists=find_voucher)
async def add_voucher_rental(call: Call, input: AddVoucherRental) -> Voucher:
    """Note a booking that uses a voucher. Its state stays as it is."""
    row = await _locked(call, input.code)
    await _note(call, row, input)
    return row


async def _note(call: Call, row: VoucherRow, rental: VoucherRentalInput, at: Path = ()) -> None:
    """Note a booking on a voucher that is locked. InvalidInput, `at` the booking, for what is none and for one too many."""
    if rental.ends_on is not None and rental.ends_on < rental.starts_on:
        raise InvalidInput.at((*at, "ends_on"), "A booking does not end before it starts.")
    of_voucher = col(VoucherRentalRow.voucher_id) == row.id
    there = (await call.db.exec(select(func.count()).select_from(VoucherRentalRow).where(of_voucher))).one()
    if there >= MOST_RENTALS:
        raise InvalidInput.at(at or "code", f"A voucher has at most {MOST_RENTALS} bookings.", "TOO_MANY")
    told = rental.model_dump(include=set(VoucherRentalInput.model_fields))
    noted_on = row.used_on if at and row.used_on else call.services.clock.now()
    call.db.add(VoucherRentalRow(partner_id=row.partner_id, voucher_id=row.id, created_on=noted_on, **told))
    await call.db.flush()


@operation(Permission.UPDATE_VOUCHER, exists=find_voucher)
async def remove_voucher_rental(call: Call, input: RemoveVoucherRental) -> Voucher:
    """Take a booking off a voucher. Its state stays as it is."""
    row = await _locked(call, input.code)
    await _take_off(call, row, input.id)
    return row


async def _take_off(call: Call, row: VoucherRow, id: int) -> None:
    rental = await find(call.db, call.caller, VoucherRentalRow, "booking of this voucher", id=id, voucher_id=row.id)
    await call.db.delete(rental)
    await call.db.flush()


@operation(Permission.UPDATE_VOUCHER, exists=find_voucher)
async def update_voucher_details(call: Call, input: UpdateVoucherDetails) -> Voucher:
    """Correct whom a voucher is for, what is written on it, and how far the sending of it is."""
    row = await _locked(call, input.code)
    apply(row, input, skip={"code"})
    if input.giftee_details is not None:
        await _know_giftee(call, row, input.giftee_details.value)
    if row.expedition_status is not ExpeditionStatus.SENT:
        row.expedition_date = None
    elif row.expedition_date is None:
        row.expedition_date = call.services.clock.now()
    await call.db.flush()
    return row


async def _know_giftee(call: Call, row: VoucherRow, sent: VoucherGifteeInput) -> None:
    """Which customer it is for now. Of one that the buyer keeps, that is the buyer, whatever is told."""
    for column in GIFTEE:
        setattr(row, column, getattr(row, column) or None)
    if not row.self_gifted and any(part is not None for part in (sent.first_name, sent.last_name, sent.email)):
        who = Person(row.giftee_first_name or "", row.giftee_last_name or "", row.giftee_email or "")
        if who.normal_email or not await correct_own_giftee(call.db, row, who):
            row.giftee_id = await customer_for(call.db, row.partner_id, who.first_name, who.last_name, who.email)

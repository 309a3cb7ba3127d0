"""Changes to a voucher: state, validity, bookings and details."""

from collections.abc import Mapping
from typing import Any

from sqlmodel import col, func, select

from resolvers.core.brute_force import throttled_lookup
from resolvers.core.input_mapping import apply, check_later_expiry
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from schema.core.errors import InvalidInput, NotExtendable, NotFound, ProblemPath, StateChanged
from schema.core.message_names import TemplatedMessage
from schema.core.permission import Permission
from schema.payment.errors import VoucherRefunded
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
from store.core.codes import normalize
from store.customer import Person, customer_for
from store.voucher.events import emit_voucher_extended
from store.voucher.giftees import correct_own_giftee
from store.voucher.rules import is_extendable
from store.voucher.states import transition, transition_permission
from store.voucher.vouchers import VoucherRentalRow, VoucherRow

BOOKING_STATES = (VoucherState.USING, VoucherState.USED)
"""States that a booking can be recorded with."""
UNDO_MOVES = frozenset(
    {
        (VoucherState.USED, VoucherState.USING),
        (VoucherState.USED, VoucherState.PAID),
        (VoucherState.USING, VoucherState.PAID),
    }
)
"""Transitions that undo a use."""


async def find_voucher(call: Call, input: Any, *, lock: bool = False) -> VoucherRow:
    """The voucher of an input's `code`, in any spelling. Raises NotFound, and counts a miss, if the caller cannot see
    it.
    """
    code = input.get("code") if isinstance(input, Mapping) else None

    async def look() -> VoucherRow:
        if not isinstance(code, str):
            raise NotFound("code", thing="voucher")
        return await find_visible(call.db, call.caller, VoucherRow, "voucher", lock=lock, normal_code=normalize(code))

    return await throttled_lookup(call.context, "voucher", look)


async def _lock_voucher(call: Call, code: str) -> VoucherRow:
    return await find_voucher(call, {"code": code}, lock=True)


@operation(Permission.USE_VOUCHER, exists=find_voucher)
async def update_voucher(call: Call, input: UpdateVoucher) -> Voucher:
    """Change the state of a voucher. The same state changes nothing; a transition that is not allowed is refused with
    `INVALID_TRANSITION`.

    Using it needs `permissions.use_voucher`; reopening a used or expired voucher needs `permissions.reopen_voucher`;
    any other transition needs `permissions.update_voucher`. The booking can be recorded in the same request when the
    voucher is used, and removed when the use is undone.
    """
    row = await _lock_voucher(call, input.code)
    if input.rental is not None and input.state not in BOOKING_STATES:
        raise InvalidInput.at("rental", "A booking can be recorded only with the states `USING` and `USED`.")
    if input.from_state is not None and row.state is not input.from_state:
        raise StateChanged("from_state", state=row.state)
    old = row.state
    if not await _move(call, row, input.state):
        return row
    if input.rental is not None:
        await _add_booking(call, row, input.rental, ("rental",))
    if input.remove_rental_ids and (old, row.state) not in UNDO_MOVES:
        raise InvalidInput.at(
            "remove_rental_ids", "Bookings can be removed here only when the use of the voucher is undone."
        )
    for id in dict.fromkeys(input.remove_rental_ids):
        await _remove_booking(call, row, id)
    return row


async def _move(call: Call, row: VoucherRow, state: VoucherState) -> bool:
    needed = transition_permission(row.state, state)
    if needed is not None:
        call.context.require(needed)
    return await transition(call.db, row, state, call.services.clock.now())


@operation(Permission.UPDATE_VOUCHER, exists=find_voucher)
async def extend_voucher(call: Call, input: ExtendVoucher) -> Voucher:
    """Extend the validity of a voucher. An expired voucher returns to `PAID`, which needs `permissions.reopen_voucher`;
    whether it was partly used before is then known only from its bookings.
    """
    row = await _lock_voucher(call, input.code)
    now, old = call.services.clock.now(), row.expires_on
    check_later_expiry(input.expires_on, old, now)
    if old is None or not is_extendable(row, now):
        raise NotExtendable
    row.expires_on = input.expires_on
    await emit_voucher_extended(call.db, row, old)
    if row.state is VoucherState.EXPIRED:
        await _move(call, row, VoucherState.PAID)
    await call.db.flush()
    return row


@operation(Permission.UPDATE_VOUCHER, exists=find_voucher)
async def add_voucher_rental(call: Call, input: AddVoucherRental) -> Voucher:
    """Record a booking that uses a voucher. The state of the voucher stays unchanged. One that was refunded is refused
    with `VOUCHER_REFUNDED`.
    """
    row = await _lock_voucher(call, input.code)
    if row.refunded_on is not None:
        raise VoucherRefunded
    await _add_booking(call, row, input)
    return row


async def _add_booking(call: Call, row: VoucherRow, rental: VoucherRentalInput, at: ProblemPath = ()) -> None:
    """Record a booking on a locked voucher. Raises InvalidInput, with paths under `at`, for invalid dates and for more
    than MOST_RENTALS bookings.
    """
    if rental.ends_on is not None and rental.ends_on < rental.starts_on:
        raise InvalidInput.at((*at, "ends_on"), "The end must not be before the start.")
    of_voucher = col(VoucherRentalRow.voucher_id) == row.id
    there = (await call.db.exec(select(func.count()).select_from(VoucherRentalRow).where(of_voucher))).one()
    if there >= MOST_RENTALS:
        raise InvalidInput.at(
            at or "code", TemplatedMessage("A voucher has at most {most} bookings.", most=MOST_RENTALS), "TOO_MANY"
        )
    dates = rental.model_dump(include=set(VoucherRentalInput.model_fields))
    noted_on = row.used_on if at and row.used_on else call.services.clock.now()
    call.db.add(VoucherRentalRow(partner_id=row.partner_id, voucher_id=row.id, created_on=noted_on, **dates))
    await call.db.flush()


@operation(Permission.UPDATE_VOUCHER, exists=find_voucher)
async def remove_voucher_rental(call: Call, input: RemoveVoucherRental) -> Voucher:
    """Remove a booking from a voucher. The state of the voucher stays unchanged."""
    row = await _lock_voucher(call, input.code)
    await _remove_booking(call, row, input.id)
    return row


async def _remove_booking(call: Call, row: VoucherRow, id: int) -> None:
    rental = await find_visible(
        call.db, call.caller, VoucherRentalRow, "booking of this voucher", id=id, voucher_id=row.id
    )
    await call.db.delete(rental)
    await call.db.flush()


@operation(Permission.UPDATE_VOUCHER, exists=find_voucher)
async def update_voucher_details(call: Call, input: UpdateVoucherDetails) -> Voucher:
    """Correct the giftee, the texts and the dispatch status of a voucher."""
    row = await _lock_voucher(call, input.code)
    apply(row, input, skip={"code"})
    if input.giftee_details is not None:
        await _update_giftee_customer(call, row, input.giftee_details.value)
    if row.expedition_status is not ExpeditionStatus.SENT:
        row.expedition_date = None
    elif row.expedition_date is None:
        row.expedition_date = call.services.clock.now()
    await call.db.flush()
    return row


async def _update_giftee_customer(call: Call, row: VoucherRow, giftee: VoucherGifteeInput) -> None:
    """Update the customer record of the giftee. The giftee of a self-gifted voucher stays the buyer."""
    for column in VoucherGiftee.model_fields:
        setattr(row, column, getattr(row, column) or None)
    if not row.self_gifted and any(part is not None for part in (giftee.first_name, giftee.last_name, giftee.email)):
        who = Person(row.giftee_first_name or "", row.giftee_last_name or "", row.giftee_email or "")
        if who.normal_email or not await correct_own_giftee(call.db, row, who):
            row.giftee_id = await customer_for(call.db, row.partner_id, who.first_name, who.last_name, who.email)

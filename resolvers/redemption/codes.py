"""The redeem page for staff at a venue: what is redeemed by its code, of the partner or its network, and the allowed
actions.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import col, select

from resolvers.core.brute_force import throttled_code_lookup
from resolvers.core.context import Context
from resolvers.gift_card.gift_cards import gift_card_with_code
from resolvers.network.gift_cards import network_gift_card
from resolvers.network.redemption import (
    RedeemableNetworkCard,
    RedeemableNetworkVoucher,
    redeemable_network_card,
    redeemable_network_voucher,
)
from resolvers.network.vouchers import network_voucher
from resolvers.voucher.vouchers import voucher
from schema.catalogue.prototype import VoucherPrototypeType
from schema.core.errors import NotFound
from schema.core.permission import Permission
from schema.core.text import Text
from schema.gift_card.gift_card import GiftCardHoldState
from schema.voucher.voucher import VoucherState
from store.audit.uses import VoucherMove, users_of, voucher_moves
from store.gift_card.gift_cards import GiftCardHoldRow, GiftCardRow
from store.gift_card.modes import are_in_mode
from store.gift_card.reversals import is_reversible
from store.gift_card.states import is_over as is_card_over
from store.gift_card.states import is_spendable, takes_money_back
from store.network.gift_cards import NetworkGiftCardRow
from store.network.vouchers import NetworkVoucherRow
from store.voucher.rules import is_over, is_usable
from store.voucher.states import TRANSITIONS
from store.voucher.vouchers import VoucherChosenOptionRow, VoucherIncludedOptionRow, VoucherRentalRow, VoucherRow

STAFF_STATES = (VoucherState.USING, VoucherState.USED, VoucherState.PAID)
"""Target states that staff can choose; forward transitions first."""
WITH_NIGHTS = (VoucherPrototypeType.STAY, VoucherPrototypeType.FIXED_STAY)
RECENT_LIMIT = 5
"""Number of recent gift card payments shown."""
SPENT_STATES = (GiftCardHoldState.CAPTURED, GiftCardHoldState.REVERSED)


@dataclass(frozen=True, slots=True)
class RedeemableVoucher:
    voucher: VoucherRow
    options: Sequence[tuple[Text, int]]
    """The included and the chosen options, as (name, count)."""
    usable: bool
    expired: bool
    """True if it has expired, even if its state is not EXPIRED yet."""
    moves: Sequence[VoucherState]
    """Target states that the caller may choose."""
    undo_states: Sequence[VoucherState]
    """Target states that the caller may choose once the voucher is used."""
    rentals: Sequence[VoucherRentalRow]
    """The bookings that use the voucher, earliest first."""
    takes_booking: bool
    """True if the voucher is for nights, so that a booking can be recorded with its use."""
    history: Sequence[VoucherMove]
    """Its last changes by users, newest first."""


@dataclass(frozen=True, slots=True)
class RedeemableCard:
    card: GiftCardRow
    spendable: bool
    expired: bool
    may_spend: bool
    """True if the caller may debit the card."""
    payments: Sequence[GiftCardHoldRow]
    """Recent payments with the card, newest first."""
    reversible: frozenset[int]
    """Ids of the payments that the caller can reverse."""
    users: Mapping[int, str]
    """Who took the payments, by their ids."""


Redeemable = RedeemableVoucher | RedeemableCard | RedeemableNetworkCard | RedeemableNetworkVoucher
LOOKUPS = (voucher, gift_card_with_code, network_gift_card, network_voucher)
"""In the order in which a code is looked up: a partner's own things first."""


async def find_redeemable(context: Context, code: str) -> Redeemable:
    """The voucher or gift card of a code, of the partner or of its network, with the permissions of the look-ups.

    Raises NotFound for an unknown code, and for a code outside the caller's tenant or of a network that the partner is not
    linked to; all count as a miss for brute-force protection. Raises Forbidden if the caller may view nothing of it.
    """
    caller = context.required_caller
    allowed = [
        lookup for lookup in LOOKUPS if isinstance(lookup.permission, Permission) and caller.may(lookup.permission)
    ]
    if not allowed:
        context.require(voucher.permission)

    async def look() -> Any:
        for lookup in allowed:
            rows = await (await lookup(context, code)).rows.objects()
            if rows:
                return rows[0]
        raise NotFound(thing="code")

    row = await throttled_code_lookup(context, "code", code, look)
    match row:
        case VoucherRow():
            return await _voucher(context, row)
        case NetworkGiftCardRow():
            return await redeemable_network_card(context, row)
        case NetworkVoucherRow():
            return await redeemable_network_voucher(context, row)
        case _:
            return await _card(context, row)


async def _voucher(context: Context, row: VoucherRow) -> RedeemableVoucher:
    now = context.services.clock.now()
    usable = is_usable(row, now)
    return RedeemableVoucher(
        row,
        await _options(context, row),
        usable,
        is_over(row, now),
        _moves(context, row, now),
        [state for state in STAFF_STATES if _may_move(context, VoucherState.USED, state)],
        await _rentals(context, row),
        row.prototype_type in WITH_NIGHTS,
        await _history(context, row),
    )


def _moves(context: Context, row: VoucherRow, now: dt.datetime) -> Sequence[VoucherState]:
    """Target states that the caller may choose."""
    if is_usable(row, now) or (row.state is VoucherState.USED and row.refunded_on is None):
        return [state for state in STAFF_STATES if _may_move(context, row.state, state)]
    return []


def undo_states(context: Context, row: VoucherRow, now: dt.datetime) -> Sequence[VoucherState]:
    """Target states that the caller may choose to undo the use of a voucher."""
    return [state for state in _moves(context, row, now) if state is not VoucherState.USED and state is not row.state]


async def _history(context: Context, row: VoucherRow) -> Sequence[VoucherMove]:
    async with context.services.db.sessions() as db:
        return (await voucher_moves(db, [row.id], row.partner_id))[:RECENT_LIMIT]


def _may_move(context: Context, old: VoucherState, new: VoucherState) -> bool:
    needed = TRANSITIONS.permission(old, new)
    return needed is not None and all(map(context.required_caller.may, (Permission.USE_VOUCHER, needed)))


async def _rentals(context: Context, row: VoucherRow) -> Sequence[VoucherRentalRow]:
    table = VoucherRentalRow
    query = select(table).where(col(table.voucher_id) == row.id).order_by(col(table.starts_on), col(table.id))
    async with context.services.db.sessions() as db:
        return (await db.exec(query)).all()


async def _options(context: Context, row: VoucherRow) -> list[tuple[Text, int]]:
    """The included options, then the chosen ones, as (name, count)."""
    included, chosen = VoucherIncludedOptionRow, VoucherChosenOptionRow
    came = select(included).where(col(included.voucher_id) == row.id).order_by(col(included.id))
    bought = select(chosen).where(col(chosen.voucher_id) == row.id).order_by(col(chosen.id))
    async with context.services.db.sessions() as db:
        options = [(option.name, option.count) for option in (await db.exec(came)).all()]
        return options + [(option.name, option.count) for option in (await db.exec(bought)).all()]


async def _card(context: Context, card: GiftCardRow) -> RedeemableCard:
    now, table = context.services.clock.now(), GiftCardHoldRow
    lately = select(table).where(col(table.gift_card_id) == card.id, col(table.state).in_(SPENT_STATES))
    async with context.services.db.sessions() as db:
        taken = (await db.exec(lately.order_by(col(table.id).desc()).limit(RECENT_LIMIT))).all()
        in_mode = await are_in_mode(db, [card.id], card.issuing_partner_id)
        users = await users_of(db, "GiftCardHold", [hold.id for hold in taken], card.issuing_partner_id)
    return RedeemableCard(
        card,
        is_spendable(card, now) and card.remaining_amount > 0 and in_mode,
        is_card_over(card, now),
        context.required_caller.may(Permission.MANAGE_GIFT_CARD),
        taken,
        reversible_holds(context, card, taken),
        users,
    )


def reversible_holds(context: Context, card: GiftCardRow, holds: Sequence[GiftCardHoldRow]) -> frozenset[int]:
    """Ids of the payments with a card that the caller can reverse."""
    now = context.services.clock.now()
    may_reverse = context.required_caller.may(Permission.MANAGE_GIFT_CARD) and takes_money_back(card)
    return frozenset(hold.id for hold in holds if may_reverse and is_reversible(hold, now))

"""What was used of a page of uses, as it stands now."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, TypeVar

from sqlmodel import SQLModel, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.context import Context
from resolvers.network.redemption import cancellable_usages, names_of_offers
from resolvers.redemption.codes import reversible_holds, undo_states
from schema.core.permission import Permission
from schema.core.text import Text
from schema.gift_card.gift_card import GiftCardHoldState
from schema.network.gift_card import NetworkGiftCardStatus
from schema.network.voucher import NetworkVoucherStatus
from schema.voucher.voucher import VoucherState
from store.audit.uses import UseEntry, VoucherMove, voucher_moves
from store.gift_card.gift_cards import GiftCardHoldRow, GiftCardRow
from store.network.boxes import BoxRow
from store.network.gift_cards import NetworkGiftCardRow, NetworkGiftCardUsageRow
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow
from store.partner.partners import PartnerRow
from store.voucher.vouchers import VoucherRow

R = TypeVar("R", bound=SQLModel)


@dataclass(frozen=True, slots=True)
class UsedItem:
    """What was used, as it stands now."""

    code: str
    name: Text | None = None
    """The name of the voucher or the offer; None for gift cards."""
    amount: Decimal | None = None
    """What was taken of a gift card; None for vouchers."""
    currency: str = ""
    is_undone: bool = False
    is_reversible: bool = False
    """True if the caller can take it back."""
    is_part: bool = False
    """True if the use of a voucher only began."""
    is_found: bool = True
    """True if the code still leads to it: not if the partner has left the network."""


Items = Mapping[int, UsedItem]
"""What was used, by the id of the entry of the use. The log outlives its subjects: what is gone is left out."""


async def used_vouchers(db: AsyncSession, context: Context, entries: Sequence[UseEntry]) -> Items:
    """The vouchers of uses."""
    rows = await _rows_by_id(db, VoucherRow, entries, context)
    first = min(entry.occurred_on for entry in entries)
    moves = await voucher_moves(db, rows, _partner_id(context), since=first)
    now, items = context.services.clock.now(), dict[int, UsedItem]()
    for entry in _with_rows(entries, rows):
        row, use = rows[entry.subject_id], next((move for move in moves if move.id == entry.id), None)
        if use is None:
            continue
        later = moves[: moves.index(use)]
        is_undone = any(_undoes(move, use) for move in later if move.voucher_id == row.id)
        items[entry.id] = UsedItem(
            row.code,
            row.prototype_name,
            is_part=use.after is VoucherState.USING,
            is_undone=is_undone,
            is_reversible=not is_undone and row.state is use.after and bool(undo_states(context, row, now)),
        )
    return items


def _undoes(move: VoucherMove, use: VoucherMove) -> bool:
    """Whether a later change of the same voucher undoes a use."""
    return move.before is VoucherState.USED if use.after is VoucherState.USED else move.after is VoucherState.PAID


async def used_gift_cards(db: AsyncSession, context: Context, entries: Sequence[UseEntry]) -> Items:
    """The partner's own gift cards of uses."""
    holds = await _rows_by_id(db, GiftCardHoldRow, entries, context)
    cards = await _by_id(db, GiftCardRow, {hold.gift_card_id for hold in holds.values()})
    items = dict[int, UsedItem]()
    for entry in _with_rows(entries, holds):
        hold = holds[entry.subject_id]
        card = cards[hold.gift_card_id]
        items[entry.id] = UsedItem(
            card.code,
            amount=hold.captured_amount,
            currency=hold.currency,
            is_undone=hold.state is GiftCardHoldState.REVERSED,
            is_reversible=bool(reversible_holds(context, card, [hold])),
        )
    return items


async def used_network_cards(db: AsyncSession, context: Context, entries: Sequence[UseEntry]) -> Items:
    """The network gift cards of uses."""
    usages = await _rows_by_id(db, NetworkGiftCardUsageRow, entries, context)
    cards = await _by_id(db, NetworkGiftCardRow, {usage.gift_card_id for usage in usages.values()})
    partner = await db.get_one(PartnerRow, _partner_id(context))
    cancellable = await cancellable_usages(db, list(usages.values()))
    items = dict[int, UsedItem]()
    for entry in _with_rows(entries, usages):
        usage = usages[entry.subject_id]
        card = cards[usage.gift_card_id]
        items[entry.id] = UsedItem(
            card.code,
            amount=usage.value_amount,
            currency=usage.currency,
            is_undone=not usage.is_active,
            is_reversible=usage.id in cancellable and card.status is not NetworkGiftCardStatus.CANCELLED,
            is_found=partner.linked_to_ngc_settings,
        )
    return items


async def used_network_vouchers(db: AsyncSession, context: Context, entries: Sequence[UseEntry]) -> Items:
    """The network vouchers of uses."""
    usages = await _rows_by_id(db, NetworkVoucherUsageRow, entries, context)
    vouchers = await _by_id(db, NetworkVoucherRow, {usage.network_voucher_id for usage in usages.values()})
    boxes = await _by_id(db, BoxRow, {voucher.box_id for voucher in vouchers.values()})
    offers = await names_of_offers(db, [usage.offer_id for usage in usages.values() if usage.offer_id is not None])
    partner = await db.get_one(PartnerRow, _partner_id(context))
    may_use = context.required_caller.may(Permission.USE_NETWORK_VOUCHER)
    cancellable = await cancellable_usages(db, list(usages.values())) if may_use else frozenset()
    items = dict[int, UsedItem]()
    for entry in _with_rows(entries, usages):
        usage = usages[entry.subject_id]
        voucher = vouchers[usage.network_voucher_id]
        items[entry.id] = UsedItem(
            voucher.code,
            offers.get(usage.offer_id or 0, boxes[voucher.box_id].name),
            is_undone=not usage.is_active,
            is_reversible=usage.id in cancellable and voucher.status is not NetworkVoucherStatus.CANCELLED,
            is_found=partner.linked_to_nv_settings,
        )
    return items


def _with_rows(entries: Sequence[UseEntry], rows: Collection[int]) -> Sequence[UseEntry]:
    return [entry for entry in entries if entry.subject_id in rows]


async def _rows_by_id(
    db: AsyncSession, table: type[R], entries: Sequence[UseEntry], context: Context
) -> Mapping[int, R]:
    """The subjects of entries, of the caller's partner."""
    columns: Any = table
    of_partner = columns.id.in_({entry.subject_id for entry in entries}), columns.partner_id == _partner_id(context)
    rows: Sequence[Any] = (await db.exec(select(table).where(*of_partner))).all()
    return {row.id: row for row in rows}


async def _by_id(db: AsyncSession, table: type[R], ids: Collection[int]) -> Mapping[int, R]:
    columns: Any = table
    rows: Sequence[Any] = (await db.exec(select(table).where(columns.id.in_(ids)))).all() if ids else ()
    return {row.id: row for row in rows}


def _partner_id(context: Context) -> int:
    partner_id = context.required_caller.partner_id
    assert partner_id is not None, "staff act for a partner"
    return partner_id

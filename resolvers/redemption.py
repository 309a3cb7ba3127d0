"""What staff at a venue see of a code: a voucher or a gift card, and what they may do with it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlmodel import col, select

from resolvers.core.brute_force import look_up_code
from resolvers.core.context import Context
from resolvers.gift_card.gift_cards import gift_card_with_code
from resolvers.voucher.vouchers import voucher
from schema.catalogue.prototype import VoucherPrototypeType
from schema.core.errors import NotFound
from schema.core.permission import Permission
from schema.core.resource import Text
from schema.gift_card.gift_card import GiftCardHoldState
from schema.voucher.voucher import VoucherState
from store.gift_card.gift_cards import GiftCardHoldRow, GiftCardRow
from store.gift_card.reversals import reversible
from store.gift_card.states import capturable, spendable
from store.voucher.rules import is_over, is_usable
from store.voucher.states import MOVES
from store.voucher.vouchers import VoucherChosenOptionRow, VoucherIncludedOptionRow, VoucherRentalRow, VoucherRow

AT_VENUE = (VoucherState.USING, VoucherState.USED, VoucherState.PAID)
"""Where staff move vouchers, the moves forward first."""
WITH_NIGHTS = (VoucherPrototypeType.STAY, VoucherPrototypeType.FIXED_STAY)
RECENT = 5
"""How many of the last payments with a gift card are shown."""
TAKEN = (GiftCardHoldState.CAPTURED, GiftCardHoldState.REVERSED)


@dataclass(frozen=True, slots=True)
class RedeemableVoucher:
    """A voucher as staff see it."""

    voucher: VoucherRow
    options: Sequence[tuple[Text, int]]
    """What it was bought with, and what came with it; and how many of each."""
    usable: bool
    over: bool
    """Whether its time is over, noted or not."""
    moves: Sequence[VoucherState]
    """Where whoever asks may move it here."""
    undoes: Sequence[VoucherState]
    """Where whoever asks could bring it back to once it is used."""
    rentals: Sequence[VoucherRentalRow]
    """The bookings that use it, the first first."""
    books: bool
    """Whether it is for nights, so that a booking can be noted with its use."""


@dataclass(frozen=True, slots=True)
class RedeemableCard:
    """A gift card as staff see it."""

    card: GiftCardRow
    spendable: bool
    over: bool
    may_take: bool
    """Whether whoever asks may take money off it."""
    taken: Sequence[GiftCardHoldRow]
    """What was taken off it lately, the newest first."""
    reversible: frozenset[int]
    """The ids of what of it can be put back by whoever asks."""


Redeemable = RedeemableVoucher | RedeemableCard


async def redeemable(context: Context, code: str) -> Redeemable:
    """What a code is good for, as the lists of vouchers and gift cards show it to whoever asks.

    Raises NotFound, which counts as one guess, for a code that is nobody's or somebody else's; Forbidden for whoever may see
    neither vouchers nor gift cards.
    """
    caller, lookups = context.asking, (voucher, gift_card_with_code)
    allowed = [
        lookup for lookup in lookups if isinstance(lookup.permission, Permission) and caller.may(lookup.permission)
    ]
    if not allowed:
        context.require(voucher.permission)

    async def look() -> Any:
        for lookup in allowed:
            found = await (await lookup(context, code)).rows.objects()
            if found:
                return found[0]
        raise NotFound(thing="code")

    row = await look_up_code(context, "code", code, look)
    return await (_voucher(context, row) if isinstance(row, VoucherRow) else _card(context, row))


async def _voucher(context: Context, row: VoucherRow) -> RedeemableVoucher:
    now = context.services.clock.now()
    usable = is_usable(row, now)
    moves = [state for state in AT_VENUE if _may(context, row.state, state)]
    return RedeemableVoucher(
        row,
        await _options(context, row),
        usable,
        is_over(row, now),
        moves if usable or row.state is VoucherState.USED else [],
        [state for state in AT_VENUE if _may(context, VoucherState.USED, state)],
        await _rentals(context, row),
        row.prototype_type in WITH_NIGHTS,
    )


def _may(context: Context, old: VoucherState, new: VoucherState) -> bool:
    """Whether whoever asks may make a move."""
    needed = MOVES.get((old, new))
    return needed is not None and all(map(context.asking.may, (Permission.USE_VOUCHER, needed)))


async def _rentals(context: Context, row: VoucherRow) -> Sequence[VoucherRentalRow]:
    table = VoucherRentalRow
    query = select(table).where(col(table.voucher_id) == row.id).order_by(col(table.starts_on), col(table.id))
    async with context.services.db.sessions() as db:
        return (await db.exec(query)).all()


async def _options(context: Context, row: VoucherRow) -> list[tuple[Text, int]]:
    """What came with a voucher, then what was chosen."""
    included, chosen = VoucherIncludedOptionRow, VoucherChosenOptionRow
    came = select(included).where(col(included.voucher_id) == row.id).order_by(col(included.id))
    bought = select(chosen).where(col(chosen.voucher_id) == row.id).order_by(col(chosen.id))
    async with context.services.db.sessions() as db:
        found = [(option.name, option.count) for option in (await db.exec(came)).all()]
        return found + [(option.name, option.count) for option in (await db.exec(bought)).all()]


async def _card(context: Context, card: GiftCardRow) -> RedeemableCard:
    now, table = context.services.clock.now(), GiftCardHoldRow
    may_take = context.asking.may(Permission.MANAGE_GIFT_CARD)
    lately = select(table).where(col(table.gift_card_id) == card.id, col(table.state).in_(TAKEN))
    async with context.services.db.sessions() as db:
        taken = (await db.exec(lately.order_by(col(table.id).desc()).limit(RECENT))).all()
    return RedeemableCard(
        card,
        spendable(card, now) and card.remaining_amount > 0,
        card.expires_on is not None and card.expires_on <= now,
        may_take,
        taken,
        frozenset(hold.id for hold in taken if may_take and capturable(card) and reversible(hold, now)),
    )

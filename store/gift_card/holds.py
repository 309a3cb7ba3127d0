"""Holds that are asked for over the API: an amount is taken off a card at once, and spent or put back later.

Whoever calls has locked the card; a hold changes under that lock only.
"""

import datetime as dt
from decimal import Decimal

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import GiftCardNotSpendable, HoldOver, InsufficientBalance
from schema.event import EventType
from schema.gift_card.gift_card import GiftCardHoldState
from store.gift_card.events import tell, tell_of_hold
from store.gift_card.gift_cards import GiftCardHoldRow, GiftCardRow
from store.gift_card.movements import put_back, spend_held, take_off
from store.gift_card.states import CANCELLED, EXPIRED, SPENDABLE, capturable, move, spendable

RUNNING, CAPTURED = GiftCardHoldState.RUNNING, GiftCardHoldState.CAPTURED
RELEASED, OVER = GiftCardHoldState.RELEASED, GiftCardHoldState.EXPIRED
SPENT = (CAPTURED, GiftCardHoldState.REVERSED)


async def lock(db: AsyncSession, row: GiftCardHoldRow) -> GiftCardRow:
    """Lock the card of a hold; both are then as they are now."""
    card = select(GiftCardRow).where(col(GiftCardRow.id) == row.gift_card_id).with_for_update()
    locked = (await db.exec(card.execution_options(populate_existing=True))).one()
    await db.refresh(row)
    return locked


async def hold(
    db: AsyncSession, card: GiftCardRow, amount: Decimal, reference: str, until: dt.datetime, now: dt.datetime
) -> GiftCardHoldRow:
    """Take an amount off a card. GiftCardNotSpendable and InsufficientBalance when it is not there to be taken."""
    if not spendable(card, now):
        raise GiftCardNotSpendable
    if card.remaining_amount < amount:
        raise InsufficientBalance("amount")
    row = GiftCardHoldRow(
        partner_id=card.partner_id,
        gift_card_id=card.id,
        held_amount=amount,
        currency=card.currency,
        reference=reference,
        created_on=now,
        expires_on=until,
    )
    db.add(row)
    await db.flush()
    take_off(db, card, row, amount)
    await tell_of_hold(db, EventType.GIFT_CARD_HELD, card, row)
    return row


async def capture(
    db: AsyncSession, card: GiftCardRow, row: GiftCardHoldRow, amount: Decimal | None, now: dt.datetime
) -> bool:
    """Spend what is held, or a part of it; False for the same again, which changes nothing. HoldOver when the hold is over."""
    spent = row.held_amount if amount is None else amount
    if row.state is CAPTURED and spent == row.captured_amount:
        return False
    if row.state is not RUNNING or now >= row.expires_on:
        raise HoldOver
    if not capturable(card):
        raise GiftCardNotSpendable
    spend_held(db, card, row, row.held_amount, spent)
    row.state, row.captured_amount, row.closed_on = CAPTURED, spent, now
    await tell_of_hold(db, EventType.GIFT_CARD_CAPTURED, card, row)
    return True


async def release(db: AsyncSession, card: GiftCardRow, row: GiftCardHoldRow, now: dt.datetime) -> bool:
    """Put back what is held; False where it is back already. HoldOver when it was spent, also when that was reversed since."""
    if row.state in SPENT:
        raise HoldOver
    if row.state is not RUNNING:
        return False
    await _close(db, card, row, RELEASED, now)
    return True


async def _close(
    db: AsyncSession, card: GiftCardRow, row: GiftCardHoldRow, state: GiftCardHoldState, now: dt.datetime
) -> None:
    put_back(db, card, row, row.held_amount)
    row.state, row.closed_on = state, now
    await tell_of_hold(db, EventType.GIFT_CARD_RELEASED, card, row)


async def cancel(db: AsyncSession, card: GiftCardRow, now: dt.datetime) -> bool:
    """Cancel a card; False when it is cancelled already. What is held over the API is put back on it.

    What a payment in the shop holds stays held: completing it finds the card cancelled, and its customer is refunded.
    """
    if not move(card, CANCELLED):
        return False
    table = GiftCardHoldRow
    query = select(table).where(col(table.gift_card_id) == card.id, col(table.state) == RUNNING)
    for row in (await db.exec(query.order_by(col(table.id)).execution_options(populate_existing=True))).all():
        await _close(db, card, row, RELEASED, now)
    await tell(db, EventType.GIFT_CARD_CANCELLED, card)
    return True


async def expire_holds(db: AsyncSession, now: dt.datetime, most: int) -> int:
    """Put back holds whose time is over, so many at most, the longest over first; answers how many.

    A card that somebody else has locked at the moment is left alone.
    """
    due = (
        select(GiftCardHoldRow, GiftCardRow)
        .join(GiftCardRow, col(GiftCardRow.id) == col(GiftCardHoldRow.gift_card_id))
        .where(col(GiftCardHoldRow.state) == RUNNING, col(GiftCardHoldRow.expires_on) <= now)
        .order_by(col(GiftCardHoldRow.expires_on), col(GiftCardHoldRow.id))
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    found = (await db.exec(due)).all()
    for row, card in found:
        await _close(db, card, row, OVER, now)
    return len(found)


async def expire_cards(db: AsyncSession, now: dt.datetime, most: int) -> int:
    """Expire cards whose time is over, so many at most, the longest over first; answers how many.

    What is held of one stays held, and may still be spent.
    """
    due = (
        select(GiftCardRow)
        .where(col(GiftCardRow.status).in_(SPENDABLE), col(GiftCardRow.expires_on) <= now)
        .order_by(col(GiftCardRow.expires_on), col(GiftCardRow.id))
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    rows = (await db.exec(due)).all()
    for card in rows:
        move(card, EXPIRED)
        await tell(db, EventType.GIFT_CARD_EXPIRED, card)
    return len(rows)

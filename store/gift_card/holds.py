"""Gift card holds through the API: an amount is debited at once, and captured or released later.

The caller must have locked the card; a hold changes only under that lock.
"""

import datetime as dt
from decimal import Decimal

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import HoldOver, InsufficientBalance
from schema.event import EventType
from schema.gift_card.gift_card import GiftCardHoldState
from store.gift_card.events import emit_gift_card_event, emit_hold_event
from store.gift_card.gift_cards import GiftCardHoldRow, GiftCardRow
from store.gift_card.modes import check_capturable, check_spendable
from store.gift_card.movements import debit_card, finalize_hold, restore_to_card
from store.gift_card.states import CANCELLED, EXPIRED, SPENDABLE, transition
from store.ledger.posting import post

RUNNING, CAPTURED = GiftCardHoldState.RUNNING, GiftCardHoldState.CAPTURED
RELEASED, HOLD_EXPIRED = GiftCardHoldState.RELEASED, GiftCardHoldState.EXPIRED
SPENT_STATES = (CAPTURED, GiftCardHoldState.REVERSED)


async def lock_card_of(db: AsyncSession, row: GiftCardHoldRow) -> GiftCardRow:
    """Lock the card of a hold, and reload both."""
    card = select(GiftCardRow).where(col(GiftCardRow.id) == row.gift_card_id).with_for_update()
    locked = (await db.exec(card.execution_options(populate_existing=True))).one()
    await db.refresh(row)
    return locked


async def place_hold(
    db: AsyncSession, card: GiftCardRow, amount: Decimal, reference: str, until: dt.datetime, now: dt.datetime
) -> GiftCardHoldRow:
    """Debit an amount and hold it. Raises FrozenByDispute, GiftCardNotSpendable, or InsufficientBalance at `amount`."""
    await check_spendable(db, card, now)
    if card.remaining_amount < amount:
        raise InsufficientBalance("amount")
    row = GiftCardHoldRow(
        partner_id=card.issuing_partner_id,
        gift_card_id=card.id,
        held_amount=amount,
        currency=card.currency,
        reference=reference,
        created_on=now,
        expires_on=until,
    )
    db.add(row)
    await db.flush()
    await post(db, [debit_card(card, row, amount)])
    await emit_hold_event(db, EventType.GIFT_CARD_HELD, card, row)
    return row


async def capture_hold(
    db: AsyncSession, card: GiftCardRow, row: GiftCardHoldRow, amount: Decimal | None, now: dt.datetime
) -> bool:
    """Capture the amount held, or a part of it; the rest is released.

    Returns False, without change, if the same amount was captured already. Raises HoldOver if the hold has ended,
    GiftCardNotSpendable if the card is cancelled or of another mode than its partner, FrozenByDispute if the payment of its
    order is disputed.
    """
    spent = row.held_amount if amount is None else amount
    if row.state is CAPTURED and spent == row.captured_amount:
        return False
    if row.state is not RUNNING or now >= row.expires_on:
        raise HoldOver
    await check_capturable(db, card)
    await post(db, finalize_hold(card, row, row.held_amount, spent))
    row.state, row.captured_amount, row.closed_on = CAPTURED, spent, now
    await emit_hold_event(db, EventType.GIFT_CARD_CAPTURED, card, row)
    return True


async def release_hold(db: AsyncSession, card: GiftCardRow, row: GiftCardHoldRow, now: dt.datetime) -> bool:
    """Release a hold; returns False if it was released already.

    Raises HoldOver if it was captured, even if reversed since.
    """
    if row.state in SPENT_STATES:
        raise HoldOver
    if row.state is not RUNNING:
        return False
    await _close_hold(db, card, row, RELEASED, now)
    return True


async def _close_hold(
    db: AsyncSession, card: GiftCardRow, row: GiftCardHoldRow, state: GiftCardHoldState, now: dt.datetime
) -> None:
    await post(db, [restore_to_card(card, row, row.held_amount)])
    row.state, row.closed_on = state, now
    await emit_hold_event(db, EventType.GIFT_CARD_RELEASED, card, row)


async def cancel_card(db: AsyncSession, card: GiftCardRow, now: dt.datetime) -> bool:
    """Cancel a card and release its API holds; returns False if it is cancelled already.

    Holds of shop payments stay: completing such a payment finds the card cancelled and refunds the customer.
    """
    if not transition(card, CANCELLED):
        return False
    table = GiftCardHoldRow
    query = select(table).where(col(table.gift_card_id) == card.id, col(table.state) == RUNNING)
    for row in (await db.exec(query.order_by(col(table.id)).execution_options(populate_existing=True))).all():
        await _close_hold(db, card, row, RELEASED, now)
    await emit_gift_card_event(db, EventType.GIFT_CARD_CANCELLED, card)
    return True


async def expire_holds(db: AsyncSession, now: dt.datetime, most: int) -> int:
    """Release at most `most` expired holds, oldest first; returns their number. Locked cards are skipped."""
    due = (
        select(GiftCardHoldRow, GiftCardRow)
        .join(GiftCardRow, col(GiftCardRow.id) == col(GiftCardHoldRow.gift_card_id))
        .where(col(GiftCardHoldRow.state) == RUNNING, col(GiftCardHoldRow.expires_on) <= now)
        .order_by(col(GiftCardHoldRow.expires_on), col(GiftCardHoldRow.id))
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    rows = (await db.exec(due)).all()
    for row, card in rows:
        await _close_hold(db, card, row, HOLD_EXPIRED, now)
    return len(rows)


async def expire_cards(db: AsyncSession, now: dt.datetime, most: int) -> int:
    """Expire at most `most` cards of partners that are due, oldest first; returns their number.

    Locked cards are skipped. Running holds stay and can still be captured.
    """
    due = (
        select(GiftCardRow)
        .where(
            col(GiftCardRow.partner_id).is_not(None),
            col(GiftCardRow.status).in_(SPENDABLE),
            col(GiftCardRow.expires_on) <= now,
        )
        .order_by(col(GiftCardRow.expires_on), col(GiftCardRow.id))
        .limit(most)
        .with_for_update(skip_locked=True)
    )
    rows = (await db.exec(due)).all()
    for card in rows:
        transition(card, EXPIRED)
        await emit_gift_card_event(db, EventType.GIFT_CARD_EXPIRED, card)
    return len(rows)

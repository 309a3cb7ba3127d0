"""What was spent of a gift card is put back: at a venue somebody has pressed the wrong button, or the guest has changed plans."""

import datetime as dt

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import GiftCardNotSpendable, HoldOver
from schema.event import EventType
from schema.gift_card.gift_card import GiftCardHoldState, GiftCardMovementKind
from store.gift_card.events import tell_of_hold
from store.gift_card.gift_cards import GiftCardEntryRow, GiftCardHoldRow, GiftCardRow
from store.gift_card.states import USED, USING, capturable, move

LONGEST = dt.timedelta(hours=24)
"""After that it is no slip of the finger, and books have been closed over it."""


def reversible(hold: GiftCardHoldRow, now: dt.datetime) -> bool:
    """Whether what a hold has spent can be put back now."""
    return hold.state is GiftCardHoldState.CAPTURED and hold.closed_on is not None and now < hold.closed_on + LONGEST


async def reverse(db: AsyncSession, card: GiftCardRow, hold: GiftCardHoldRow, now: dt.datetime) -> bool:
    """Put back what a hold has spent, on a card that is locked; False where it is back already, which changes nothing.

    HoldOver for what was never spent, or too long ago; GiftCardNotSpendable when the card was cancelled since. A card whose
    time is over stays so.
    """
    if hold.state is GiftCardHoldState.REVERSED:
        return False
    if not reversible(hold, now):
        raise HoldOver
    if not capturable(card):
        raise GiftCardNotSpendable
    card.remaining_amount += hold.captured_amount
    if card.status is USED:
        move(card, USING)
    db.add(
        GiftCardEntryRow(
            partner_id=card.partner_id,
            gift_card_id=card.id,
            kind=GiftCardMovementKind.REVERSAL,
            amount=hold.captured_amount,
            currency=card.currency,
            hold_id=hold.id,
            reference=hold.reference,
            created_on=now,
        )
    )
    hold.state = GiftCardHoldState.REVERSED
    await tell_of_hold(db, EventType.GIFT_CARD_REVERSED, card, hold)
    return True

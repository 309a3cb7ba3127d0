"""Reversal of captures, for example after a mistake at a venue or a change of plans by the guest."""

import datetime as dt

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import GiftCardNotSpendable, HoldOver
from schema.event import EventType
from schema.gift_card.gift_card import GiftCardHoldState
from store.gift_card.events import emit_hold_event
from store.gift_card.gift_cards import GiftCardHoldRow, GiftCardRow
from store.gift_card.movements import return_spent
from store.gift_card.states import takes_money_back
from store.ledger.posting import post

REVERSAL_PERIOD = dt.timedelta(hours=24)
"""How long a capture can be reversed; later it is no mere mistake, and the books may be closed."""


def is_reversible(hold: GiftCardHoldRow, now: dt.datetime) -> bool:
    """True if the hold was captured within the last REVERSAL_PERIOD."""
    return (
        hold.state is GiftCardHoldState.CAPTURED
        and hold.closed_on is not None
        and now < hold.closed_on + REVERSAL_PERIOD
    )


async def reverse_capture(db: AsyncSession, card: GiftCardRow, hold: GiftCardHoldRow, now: dt.datetime) -> bool:
    """Credit a captured amount back to its locked card. Returns False, without change, if it was reversed already.

    Raises HoldOver if nothing was captured or the period is over, GiftCardNotSpendable if the card is cancelled. An
    expired card stays expired.
    """
    if hold.state is GiftCardHoldState.REVERSED:
        return False
    if not is_reversible(hold, now):
        raise HoldOver
    if not takes_money_back(card):
        raise GiftCardNotSpendable
    await post(db, [return_spent(card, hold.captured_amount, "gift_card_hold", str(hold.id), now)])
    hold.state = GiftCardHoldState.REVERSED
    await emit_hold_event(db, EventType.GIFT_CARD_REVERSED, card, hold)
    return True

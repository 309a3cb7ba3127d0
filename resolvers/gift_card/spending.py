"""Paying with a gift card at a venue: an amount is spent at once, and what was a mistake is put back within a day."""

import datetime as dt

from resolvers.core.operation import Call, operation
from resolvers.gift_card.holds import NOTHING, find_hold, locked_hold
from resolvers.gift_card.issuing import find_gift_card, locked_card
from schema.core.errors import InvalidInput
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCardHold
from schema.gift_card.spending_input import ReverseGiftCardCapture, SpendGiftCard
from store.gift_card import holds
from store.gift_card.reversals import reverse

HELD_FOR = dt.timedelta(minutes=1)
"""Of no consequence: it is spent in the same step."""


@operation(Permission.MANAGE_GIFT_CARD, exists=find_gift_card)
async def spend_gift_card(call: Call, input: SpendGiftCard) -> GiftCardHold:
    """Spend an amount of a gift card at once: a hold that is captured in the same step. `reverseGiftCardCapture` takes it back.
    Send an `Idempotency-Key`, so that a repetition spends nothing more.
    """
    card = await locked_card(call, input)
    if input.amount <= 0:
        raise InvalidInput.at("amount", NOTHING, "OUT_OF_RANGE")
    now = call.services.clock.now()
    hold = await holds.hold(call.db, card, input.amount, input.reference, now + HELD_FOR, now)
    await holds.capture(call.db, card, hold, None, now)
    return hold


@operation(Permission.MANAGE_GIFT_CARD, exists=find_hold)
async def reverse_gift_card_capture(call: Call, input: ReverseGiftCardCapture) -> GiftCardHold:
    """Put back what a captured hold has spent, within 24 hours. One that was put back already stays as it is. A hold that was
    never captured, or longer ago, is refused with `HOLD_OVER`; a card that was cancelled since with `GIFT_CARD_NOT_SPENDABLE`.
    """
    card, hold = await locked_hold(call, input.hold_id)
    await reverse(call.db, card, hold, call.services.clock.now())
    return hold

"""Payments with a gift card at a venue: captured at once, and reversible for a day."""

import datetime as dt

from resolvers.core.operation import Call, operation
from resolvers.gift_card.holds import AMOUNT_TOO_SMALL, find_hold, lock_hold
from resolvers.gift_card.issuing import find_gift_card, lock_card
from schema.core.errors import InvalidInput
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCardHold
from schema.gift_card.input import ReverseGiftCardCapture, SpendGiftCard
from store.gift_card import holds
from store.gift_card.reversals import reverse_capture

HELD_FOR = dt.timedelta(minutes=1)
"""Has no effect: the hold is captured in the same transaction."""


@operation(Permission.MANAGE_GIFT_CARD, exists=find_gift_card)
async def spend_gift_card(call: Call, input: SpendGiftCard) -> GiftCardHold:
    """Spend an amount of a gift card at once: a hold that is captured in the same step. `reverseGiftCardCapture`
    reverses it. Send an `Idempotency-Key`, so that a retry does not spend the amount twice.
    """
    card = await lock_card(call, input)
    if input.amount <= 0:
        raise InvalidInput.at("amount", AMOUNT_TOO_SMALL, "OUT_OF_RANGE")
    now = call.services.clock.now()
    hold = await holds.place_hold(call.db, card, input.amount, input.reference, now + HELD_FOR, now)
    await holds.capture_hold(call.db, card, hold, None, now)
    return hold


@operation(Permission.MANAGE_GIFT_CARD, exists=find_hold)
async def reverse_gift_card_capture(call: Call, input: ReverseGiftCardCapture) -> GiftCardHold:
    """Reverse a capture within 24 hours: the captured amount returns to the card. Reversing it again changes nothing. A
    hold that was not captured, or captured longer ago, is refused with `HOLD_OVER`; a card cancelled since is refused
    with `GIFT_CARD_NOT_SPENDABLE`.
    """
    card, hold = await lock_hold(call, input.hold_id)
    await reverse_capture(call.db, card, hold, call.services.clock.now())
    return hold

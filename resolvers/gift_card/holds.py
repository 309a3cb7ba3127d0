"""Gift card holds through the API: an amount is held first, then captured or released."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.gift_card.issuing import find_gift_card, lock_card
from schema.core.errors import InvalidInput
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCardHold
from schema.gift_card.input import CaptureGiftCard, HoldGiftCard, ReleaseGiftCard
from schema.validation.numbers import LARGEST_ID
from store.gift_card import holds
from store.gift_card.gift_cards import GiftCardHoldRow, GiftCardRow

AMOUNT_TOO_SMALL = "Send more than 0.00."


async def find_hold(call: Call, input: Any) -> GiftCardHoldRow:
    """The hold of an input's `hold_id`. Raises NotFound if the caller cannot see it."""
    hold_id = input.get("hold_id", input.get("holdId")) if isinstance(input, Mapping) else None
    id = hold_id if type(hold_id) is int and 0 < hold_id <= LARGEST_ID else 0
    return await find_visible(call.db, call.caller, GiftCardHoldRow, "hold", id=id)


async def lock_hold(call: Call, hold_id: int) -> tuple[GiftCardRow, GiftCardHoldRow]:
    """A hold and its card. The card is locked, and both are reloaded."""
    hold = await find_hold(call, {"hold_id": hold_id})
    return await holds.lock_card_of(call.db, hold), hold


@operation(Permission.MANAGE_GIFT_CARD, exists=find_gift_card)
async def hold_gift_card(call: Call, input: HoldGiftCard) -> GiftCardHold:
    """Hold an amount of a gift card for a payment that is not final yet. `captureGiftCard` spends it; `releaseGiftCard`
    returns it to the card.

    A hold that is neither captured nor released returns to the card when it expires. Send an `Idempotency-Key`, so that
    a retry does not hold the amount twice.
    """
    card = await lock_card(call, input)
    if input.amount <= 0:
        raise InvalidInput.at("amount", AMOUNT_TOO_SMALL, "OUT_OF_RANGE")
    now = call.services.clock.now()
    until = now + dt.timedelta(minutes=input.minutes)
    return await holds.place_hold(call.db, card, input.amount, input.reference, until, now)


@operation(Permission.MANAGE_GIFT_CARD, exists=find_hold)
async def capture_gift_card(call: Call, input: CaptureGiftCard) -> GiftCardHold:
    """Capture a hold: spend the held amount or a part of it; the rest returns to the card. Capturing the same amount
    again changes nothing and returns the same hold. Another amount, or a hold that has ended, is refused with
    `HOLD_OVER`.
    """
    card, hold = await lock_hold(call, input.hold_id)
    if input.amount is not None and input.amount <= 0:
        raise InvalidInput.at("amount", AMOUNT_TOO_SMALL, "OUT_OF_RANGE")
    if input.amount is not None and input.amount > hold.held_amount:
        raise InvalidInput.at("amount", "This is more than the held amount.", "OUT_OF_RANGE")
    await holds.capture_hold(call.db, card, hold, input.amount, call.services.clock.now())
    return hold


@operation(Permission.MANAGE_GIFT_CARD, exists=find_hold)
async def release_gift_card(call: Call, input: ReleaseGiftCard) -> GiftCardHold:
    """Release a hold: its amount returns to the card. Releasing it again changes nothing. A captured hold is refused
    with `HOLD_OVER`, even if the capture was reversed since, so that the client learns that the amount was spent.
    """
    card, hold = await lock_hold(call, input.hold_id)
    await holds.release_hold(call.db, card, hold, call.services.clock.now())
    return hold

"""Paying with gift cards elsewhere than in the shop: an amount is held first, then captured or released."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find
from resolvers.gift_card.issuing import find_gift_card, locked_card
from schema.core.errors import InvalidInput
from schema.core.permission import Permission
from schema.gift_card.gift_card import GiftCardHold
from schema.gift_card.input import CaptureGiftCard, HoldGiftCard, ReleaseGiftCard
from schema.validation.numbers import LARGEST_ID
from store.gift_card import holds
from store.gift_card.gift_cards import GiftCardHoldRow, GiftCardRow

NOTHING = "Send more than 0.00."


async def find_hold(call: Call, given: Any) -> GiftCardHoldRow:
    """The hold whose id an input has; NotFound where the caller sees none."""
    sent = given.get("hold_id", given.get("holdId")) if isinstance(given, Mapping) else None
    id = sent if type(sent) is int and 0 < sent <= LARGEST_ID else 0
    return await find(call.db, call.caller, GiftCardHoldRow, "hold", id=id)


async def locked_hold(call: Call, hold_id: int) -> tuple[GiftCardRow, GiftCardHoldRow]:
    """A hold and its card, the card locked, both as they are now."""
    hold = await find_hold(call, {"hold_id": hold_id})
    return await holds.lock(call.db, hold), hold


@operation(Permission.MANAGE_GIFT_CARD, exists=find_gift_card)
async def hold_gift_card(call: Call, input: HoldGiftCard) -> GiftCardHold:
    """Take an amount off a gift card for a payment that is not final yet. `captureGiftCard` spends it, `releaseGiftCard`
    puts it back; left alone it is put back when its time is over. Send an `Idempotency-Key`, so that a repetition holds
    nothing more.
    """
    card = await locked_card(call, input)
    if input.amount <= 0:
        raise InvalidInput.at("amount", NOTHING, "OUT_OF_RANGE")
    now = call.services.clock.now()
    until = now + dt.timedelta(minutes=input.minutes)
    return await holds.hold(call.db, card, input.amount, input.reference, until, now)


@operation(Permission.MANAGE_GIFT_CARD, exists=find_hold)
async def capture_gift_card(call: Call, input: CaptureGiftCard) -> GiftCardHold:
    """Spend what is held of a gift card, or a part of it, and put the rest back. The same again changes nothing and answers
    the same; another amount, or a hold that is over, is refused with `HOLD_OVER`.
    """
    card, hold = await locked_hold(call, input.hold_id)
    if input.amount is not None and input.amount <= 0:
        raise InvalidInput.at("amount", NOTHING, "OUT_OF_RANGE")
    if input.amount is not None and input.amount > hold.held_amount:
        raise InvalidInput.at("amount", "That is more than is held.", "OUT_OF_RANGE")
    await holds.capture(call.db, card, hold, input.amount, call.services.clock.now())
    return hold


@operation(Permission.MANAGE_GIFT_CARD, exists=find_hold)
async def release_gift_card(call: Call, input: ReleaseGiftCard) -> GiftCardHold:
    """Put back what is held of a gift card. One that was put back already stays as it is; one that was captured is refused
    with `HOLD_OVER`, also when that was reversed since: whoever releases it must learn that it was spent.
    """
    card, hold = await locked_hold(call, input.hold_id)
    await holds.release(call.db, card, hold, call.services.clock.now())
    return hold

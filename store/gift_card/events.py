"""What is told of gift cards: the events, and the data that `schema.event.DATA` documents of each. Codes are money: never told."""

from collections.abc import Mapping
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.event import EventType
from store.event.data import told_moment, told_money
from store.event.events import emit
from store.gift_card.gift_cards import GiftCardHoldRow, GiftCardRow


async def tell_of_issue(db: AsyncSession, card: GiftCardRow) -> None:
    """Tell that a gift card was issued."""
    data = {
        "id": card.id,
        "order_id": card.order_id,
        "status": card.status.value,
        "value": told_money(card.value_amount, card.currency),
        "language": card.language,
        "reception_mode": card.reception_mode.value,
        "created_on": told_moment(card.created_on),
        "expires_on": told_moment(card.expires_on),
    }
    await emit(db, EventType.GIFT_CARD_ISSUED, partner_id=card.partner_id, subject=str(card.id), data=data)


async def tell(db: AsyncSession, kind: EventType, card: GiftCardRow, **more: Any) -> None:
    """Tell what happened to a gift card, in the transaction that makes it happen, with how the card stands afterwards."""
    await db.flush()
    data = {
        "id": card.id,
        "status": card.status.value,
        "remaining_value": told_money(card.remaining_amount, card.currency),
        "expires_on": told_moment(card.expires_on),
        **more,
    }
    await emit(db, kind, partner_id=card.partner_id, subject=str(card.id), data=data)


async def tell_of_hold(db: AsyncSession, kind: EventType, card: GiftCardRow, hold: GiftCardHoldRow) -> None:
    """Tell what became of a hold."""
    await tell(db, kind, card, hold=_hold(hold))


def _hold(hold: GiftCardHoldRow) -> Mapping[str, Any]:
    return {
        "id": hold.id,
        "state": hold.state.value,
        "amount": told_money(hold.held_amount, hold.currency),
        "captured": told_money(hold.captured_amount, hold.currency),
        "reference": hold.reference,
        "expires_on": told_moment(hold.expires_on),
    }

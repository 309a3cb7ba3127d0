"""Emits the gift card events.

`schema.event.EVENT_DATA_KEYS` documents their data. Event data never contain the code, which is worth money.
"""

from collections.abc import Iterable, Mapping
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.event import EventType
from store.event.data import datetime_data, money_data
from store.event.events import NewEvent, emit
from store.gift_card.gift_cards import GiftCardHoldRow, GiftCardRow


async def emit_gift_cards_issued(db: AsyncSession, cards: Iterable[GiftCardRow]) -> None:
    """Emit `gift_card.issued` for each card, in the transaction that issues them."""
    await emit(db, *map(_issued_event, cards))


def _issued_event(card: GiftCardRow) -> NewEvent:
    data = {
        "id": card.id,
        "order_id": card.order_id,
        "status": card.status.value,
        "value": money_data(card.value_amount, card.currency),
        "remaining_value": money_data(card.remaining_amount, card.currency),
        "language": card.language,
        "reception_mode": card.reception_mode.value,
        "created_on": datetime_data(card.created_on),
        "expires_on": datetime_data(card.expires_on),
    }
    return _event(EventType.GIFT_CARD_ISSUED, card, data)


async def emit_gift_card_event(db: AsyncSession, kind: EventType, card: GiftCardRow, **more: Any) -> None:
    """Emit an event with the card's state after the change, in the transaction of the change. `more` adds keys."""
    await db.flush()
    data = {
        "id": card.id,
        "status": card.status.value,
        "remaining_value": money_data(card.remaining_amount, card.currency),
        "expires_on": datetime_data(card.expires_on),
        **more,
    }
    await emit(db, _event(kind, card, data))


def _event(kind: EventType, card: GiftCardRow, data: Mapping[str, Any]) -> NewEvent:
    return NewEvent(kind, str(card.id), data, partner_id=card.issuing_partner_id)


async def emit_hold_event(db: AsyncSession, kind: EventType, card: GiftCardRow, hold: GiftCardHoldRow) -> None:
    await emit_gift_card_event(db, kind, card, hold=_hold_data(hold))


def _hold_data(hold: GiftCardHoldRow) -> Mapping[str, Any]:
    return {
        "id": hold.id,
        "state": hold.state.value,
        "amount": money_data(hold.held_amount, hold.currency),
        "captured": money_data(hold.captured_amount, hold.currency),
        "reference": hold.reference,
        "expires_on": datetime_data(hold.expires_on),
    }

"""Emits the events of network gift cards.

`schema.event.EVENT_DATA_KEYS` documents their data. Event data never contain the code, which is worth money.
"""

from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.event import EventType
from store.event.data import datetime_data, money_data
from store.event.events import emit_event
from store.gift_card.gift_cards import GiftCardRow
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.states import shown_status


async def emit_network_card_event(
    db: AsyncSession, kind: EventType, card: GiftCardRow, partner_id: int | None = None, **more: Any
) -> None:
    """Emit an event with the card's state after the change, in the transaction of the change. `more` adds keys. It is for
    the network, and for the partner where a card was used.
    """
    await db.flush()
    data = {
        "id": card.id,
        "uuid": str(card.uuid),
        "status": shown_status(card).value,
        "value": money_data(card.value_amount, card.currency),
        "remaining_value": money_data(card.remaining_amount, card.currency),
        "expires_on": datetime_data(card.expires_on),
        **more,
    }
    await emit_event(db, kind, partner_id=partner_id, marketplace_id=card.network_id, subject=str(card.id), data=data)


async def emit_usage_event(
    db: AsyncSession, kind: EventType, card: GiftCardRow, usage: NetworkGiftCardUsageRow
) -> None:
    """Emit an event of a usage. That of a payment says nothing of the card's value: its partner does not know the card."""
    data = {
        **usage_data(usage),
        "payment_id": str(usage.payment_id) if usage.payment_id else None,
        "returned": money_data(usage.returned_amount, usage.currency),
    }
    hidden = dict.fromkeys(("value", "remaining_value")) if usage.payment_id else {}
    await emit_network_card_event(db, kind, card, usage.partner_id, usage=data, **hidden)


def usage_data(usage: Any) -> dict[str, Any]:
    """A usage of a gift card or voucher in the data of an event."""
    return {
        "id": usage.id,
        "partner_id": usage.partner_id,
        "used_on": datetime_data(usage.used_on),
        "value": money_data(usage.value_amount, usage.currency),
        "net": money_data(usage.net_amount, usage.currency),
        "reservation_id": usage.reservation_id,
        "is_active": usage.is_active,
    }

"""Emits the events of usages. `schema.event.EVENT_DATA_KEYS` documents their data."""

from collections.abc import Mapping
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from store.event.data import datetime_data, money_data
from store.event.events import emit
from store.gift_card.gift_cards import GiftCardRow
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.issuing import network_gift_cards
from store.network.voucher_issuing import network_vouchers
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow


async def emit_card_usage(db: AsyncSession, action: str, card: GiftCardRow, usage: NetworkGiftCardUsageRow) -> None:
    """Emit an event of a usage. That of a payment says nothing of the card's value: its partner does not know the card."""
    data = {
        **_usage_data(usage),
        "payment_id": str(usage.payment_id) if usage.payment_id else None,
        "returned": money_data(usage.returned_amount, usage.currency),
    }
    hidden = dict.fromkeys(("value", "remaining_value")) if usage.payment_id else {}
    await emit(db, network_gift_cards.event(action, card, usage.partner_id, usage=data, **hidden))


async def emit_voucher_usage(
    db: AsyncSession, action: str, voucher: NetworkVoucherRow, usage: NetworkVoucherUsageRow
) -> None:
    data = {**_usage_data(usage), "offer_id": usage.offer_id}
    await emit(db, network_vouchers.event(action, voucher, usage.partner_id, usage=data))


def _usage_data(usage: NetworkGiftCardUsageRow | NetworkVoucherUsageRow) -> Mapping[str, Any]:
    return {
        "id": usage.id,
        "partner_id": usage.partner_id,
        "used_on": datetime_data(usage.used_on),
        "value": money_data(usage.value_amount, usage.currency),
        "net": money_data(usage.net_amount, usage.currency),
        "reservation_id": usage.reservation_id,
        "is_active": usage.is_active,
    }

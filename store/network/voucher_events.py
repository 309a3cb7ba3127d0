"""Emits the events of network vouchers.

`schema.event.EVENT_DATA_KEYS` documents their data. Event data never contain the code, which is worth money.
"""

from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.event import EventType
from store.event.data import datetime_data, money_data
from store.event.events import emit_event
from store.network.events import usage_data
from store.network.vouchers import NetworkVoucherRow, NetworkVoucherUsageRow


async def emit_network_voucher_event(
    db: AsyncSession, kind: EventType, voucher: NetworkVoucherRow, partner_id: int | None = None, **more: Any
) -> None:
    """Emit an event with the voucher's state after the change, in the transaction of the change. `more` adds keys. It is
    for the network, and for the partner where a voucher was used.
    """
    await db.flush()
    data = {
        "id": voucher.id,
        "uuid": str(voucher.uuid),
        "status": voucher.status.value,
        "box_id": voucher.box_id,
        "price": money_data(voucher.price_amount, voucher.currency),
        "max_usages": voucher.max_usages,
        "usage_count": voucher.usage_count,
        "expires_on": datetime_data(voucher.expires_on),
        **more,
    }
    await emit_event(
        db, kind, partner_id=partner_id, marketplace_id=voucher.marketplace_id, subject=str(voucher.id), data=data
    )


async def emit_voucher_usage_event(
    db: AsyncSession, kind: EventType, voucher: NetworkVoucherRow, usage: NetworkVoucherUsageRow
) -> None:
    data = {**usage_data(usage), "offer_id": usage.offer_id}
    await emit_network_voucher_event(db, kind, voucher, usage.partner_id, usage=data)

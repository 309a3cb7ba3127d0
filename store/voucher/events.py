"""Emits the voucher events. `schema.event.EVENT_DATA_KEYS` documents their data."""

import datetime as dt
from collections.abc import Iterable, Mapping
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.event import EventType
from schema.voucher.voucher import VoucherState
from store.event.data import datetime_data, money_data
from store.event.events import NewEvent, emit
from store.voucher.vouchers import VoucherRow


async def emit_vouchers_issued(db: AsyncSession, vouchers: Iterable[VoucherRow]) -> None:
    """Emit `voucher.issued` for each voucher, in the transaction that issues them."""
    await emit(db, *map(_issued_event, vouchers))


def _issued_event(voucher: VoucherRow) -> NewEvent:
    data = {
        **_voucher_reference(voucher),
        "voucher_prototype_id": voucher.voucher_prototype_id,
        "order_id": voucher.order_id,
        "state": voucher.state.value,
        "language": voucher.language,
        "reception_mode": voucher.reception_mode.value,
        "total_price": money_data(voucher.total_price_amount, voucher.currency),
        "purchase_price": money_data(voucher.purchase_price_amount, voucher.currency),
        "created_on": datetime_data(voucher.created_on),
        "activated_on": datetime_data(voucher.activated_on),
        "expires_on": datetime_data(voucher.expires_on),
    }
    return _event(EventType.VOUCHER_ISSUED, voucher, data)


async def emit_voucher_state_changed(db: AsyncSession, voucher: VoucherRow, old: VoucherState) -> None:
    """Emit `voucher.state_changed` in the transaction that changes the state."""
    data = {
        **_voucher_reference(voucher),
        "old_state": old.value,
        "state": voucher.state.value,
        "activated_on": datetime_data(voucher.activated_on),
        "used_on": datetime_data(voucher.used_on),
        "expires_on": datetime_data(voucher.expires_on),
    }
    await emit(db, _event(EventType.VOUCHER_STATE_CHANGED, voucher, data))


async def emit_voucher_extended(db: AsyncSession, voucher: VoucherRow, old: dt.datetime) -> None:
    """Emit `voucher.extended` in the transaction that extends the voucher."""
    data = {
        **_voucher_reference(voucher),
        "old_expires_on": datetime_data(old),
        "expires_on": datetime_data(voucher.expires_on),
    }
    await emit(db, _event(EventType.VOUCHER_EXTENDED, voucher, data))


def _event(kind: EventType, voucher: VoucherRow, data: Mapping[str, Any]) -> NewEvent:
    return NewEvent(kind, str(voucher.id), data, partner_id=voucher.partner_id)


def _voucher_reference(voucher: VoucherRow) -> Mapping[str, Any]:
    return {"id": voucher.id, "code": voucher.code}

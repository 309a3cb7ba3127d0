"""What is told of vouchers: the events, and the data that `schema.event.DATA` documents of each."""

import datetime as dt
from collections.abc import Mapping
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.event import EventType
from schema.voucher.voucher import VoucherState
from store.event.data import told_moment, told_money
from store.event.events import emit
from store.voucher.vouchers import VoucherRow


async def tell_of_issue(db: AsyncSession, voucher: VoucherRow) -> None:
    """Tell that a voucher was issued, in the transaction that issues it."""
    data = {
        **_which(voucher),
        "voucher_prototype_id": voucher.voucher_prototype_id,
        "order_id": voucher.order_id,
        "state": voucher.state.value,
        "language": voucher.language,
        "reception_mode": voucher.reception_mode.value,
        "total_price": told_money(voucher.total_price_amount, voucher.currency),
        "purchase_price": told_money(voucher.purchase_price_amount, voucher.currency),
        "created_on": told_moment(voucher.created_on),
        "activated_on": told_moment(voucher.activated_on),
        "expires_on": told_moment(voucher.expires_on),
    }
    await _tell(db, EventType.VOUCHER_ISSUED, voucher, data)


async def tell_of_state(db: AsyncSession, voucher: VoucherRow, old: VoucherState) -> None:
    """Tell that a voucher has gone from one state to another, in the transaction that moves it."""
    data = {
        **_which(voucher),
        "old_state": old.value,
        "state": voucher.state.value,
        "activated_on": told_moment(voucher.activated_on),
        "used_on": told_moment(voucher.used_on),
        "expires_on": told_moment(voucher.expires_on),
    }
    await _tell(db, EventType.VOUCHER_STATE_CHANGED, voucher, data)


async def tell_of_extension(db: AsyncSession, voucher: VoucherRow, old: dt.datetime) -> None:
    """Tell that a voucher is valid for longer than it was, in the transaction that extends it."""
    data = {**_which(voucher), "old_expires_on": told_moment(old), "expires_on": told_moment(voucher.expires_on)}
    await _tell(db, EventType.VOUCHER_EXTENDED, voucher, data)


async def _tell(db: AsyncSession, kind: EventType, voucher: VoucherRow, data: Mapping[str, Any]) -> None:
    await emit(db, kind, partner_id=voucher.partner_id, subject=str(voucher.id), data=data)


def _which(voucher: VoucherRow) -> Mapping[str, Any]:
    return {"id": voucher.id, "code": voucher.code}

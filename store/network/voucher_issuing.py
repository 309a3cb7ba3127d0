"""The life of network vouchers, and what their network owes for them."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerAccountRole as Role
from schema.network.voucher import NetworkVoucherStatus
from store.event.data import datetime_data, money_data
from store.ledger.accounts import LedgerAccount
from store.network.boxes import BoxRow
from store.network.life_cycle import LifeCycle
from store.network.postings import NetworkLiability
from store.network.voucher_states import TRANSITIONS, USABLE, status_by_usages
from store.network.vouchers import CODE_KEY, NetworkVoucherRow


class VoucherLifeCycle(LifeCycle[NetworkVoucherRow]):
    row = NetworkVoucherRow
    name = "network_voucher"
    states = TRANSITIONS
    status = NetworkVoucherStatus
    usable = USABLE
    code_key = CODE_KEY
    network_id = "marketplace_id"
    books_breakage = "network_voucher_books_breakage"

    def liability_of(self, good: NetworkVoucherRow) -> NetworkLiability:
        account = LedgerAccount(Role.NETWORK_VOUCHER, good.id)
        return NetworkLiability(account, good.book_id, good.currency, "network_voucher", good.id)

    def is_issued_as_test(self, good: NetworkVoucherRow) -> bool:
        return good.status is NetworkVoucherStatus.TEST

    def left(self, good: NetworkVoucherRow) -> Decimal:
        return good.left_amount

    async def status_by_rest(self, _db: AsyncSession, good: NetworkVoucherRow) -> NetworkVoucherStatus:
        return status_by_usages(good)

    async def open(self, _db: AsyncSession, book_id: int, goods: Sequence[NetworkVoucherRow]) -> None:
        for voucher in goods:
            voucher.book_id = book_id

    def event_data(self, good: NetworkVoucherRow) -> Mapping[str, Any]:
        return {
            "id": good.id,
            "uuid": str(good.uuid),
            "status": good.status.value,
            "box_id": good.box_id,
            "price": money_data(good.price_amount, good.currency),
            "max_usages": good.max_usages,
            "usage_count": good.usage_count,
            "expires_on": datetime_data(good.expires_on),
        }


network_vouchers = VoucherLifeCycle()


def copy_box(voucher: NetworkVoucherRow, box: BoxRow) -> None:
    """Copy what a voucher has of its box: later changes of the box do not concern it."""
    voucher.box_id, voucher.marketplace_id = box.id, box.marketplace_id
    voucher.price_amount, voucher.currency = box.price_amount, box.currency
    voucher.max_usages, voucher.max_days_after_first_usage = box.max_usages, box.max_days_after_first_usage

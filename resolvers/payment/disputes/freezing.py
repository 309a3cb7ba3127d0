"""What was bought with a disputed payment: it cannot be used until the dispute ends, and not at all once it is lost."""

import datetime as dt
from decimal import Decimal

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.order.fulfilment import cancel_if_refunded
from resolvers.payment.refunds.goods import SoldGoods, withdraw
from schema.order.order import OrderStatus
from schema.voucher.voucher import VoucherState
from store.gift_card.gift_cards import GiftCardRow
from store.network.vouchers import NetworkVoucherRow
from store.order.orders import lock_order
from store.payment.disputes import OPEN_STATES, card_source_of, disputes_of
from store.payment.refund_amounts import left_of
from store.voucher.vouchers import VoucherRow


async def freeze_or_release(db: AsyncSession, goods: SoldGoods, now: dt.datetime) -> None:
    """Bring what was bought in line with the payment's disputes. Repeating it changes nothing."""
    payment = goods.payment
    if payment.order_id is None:
        return
    disputes = await disputes_of(db, payment)
    is_open = any(dispute.state in OPEN_STATES for dispute in disputes)
    lost = sum((dispute.lost_amount for dispute in disputes if dispute.state not in OPEN_STATES), Decimal("0.00"))
    is_gone = not is_open and lost > 0 and lost >= left_of(await card_source_of(db, payment))
    sold: list[GiftCardRow | VoucherRow | NetworkVoucherRow] = [*goods.cards, *goods.vouchers, *goods.network_vouchers]
    for row in sold:
        if is_open:
            row.frozen_on = row.frozen_on or now
        elif not is_gone:
            row.frozen_on = None
    if is_gone:
        await _take_away(db, goods, now)
    await _set_order_status(db, payment.order_id, is_open=is_open, is_gone=is_gone)
    await cancel_if_refunded(db, payment.order_id, now, tells=False)  # its buyer has asked the bank for the money


async def _take_away(db: AsyncSession, goods: SoldGoods, now: dt.datetime) -> None:
    """All of the money is gone: what was bought is withdrawn. A voucher in use stays frozen, but a network's is cancelled:
    what was used of it is the partners'.
    """
    await withdraw(db, goods, now)
    for sold in goods.network_vouchers:
        sold.frozen_on = None
    for card in goods.cards:
        card.frozen_on = None
    for voucher in goods.vouchers:
        voucher.frozen_on = (voucher.frozen_on or now) if voucher.state is VoucherState.USING else None


async def _set_order_status(db: AsyncSession, order_id: int, *, is_open: bool, is_gone: bool) -> None:
    order = await lock_order(db, order_id)
    if order.status is OrderStatus.REFUNDED:
        return
    ended = OrderStatus.CHARGED_BACK if is_gone else OrderStatus.PAID
    order.status = OrderStatus.DISPUTED if is_open else ended

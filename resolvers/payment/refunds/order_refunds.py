"""Refunds of lines of an order by staff: what was sold is withdrawn, and the money goes back to where it came from."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.input_mapping import id_from_input
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.mail.refunds import queue_order_refund_mail
from resolvers.payment.refunds.goods import SoldGoods, goods_of, lock_goods, withdraw_refunded
from resolvers.payment.refunds.recording import parts_of
from resolvers.payment.refunds.refunds import (
    check_split,
    left_to_refund,
    network_left_of,
    preview_of,
    refund_by_source,
)
from resolvers.payment.scoping import check_owns_money
from schema.core.errors import InvalidInput
from schema.core.message_names import TemplatedMessage
from schema.core.permission import Permission
from schema.payment.errors import GoodsUsed, NothingToRefund, NotRefundable, OrderLineRefunded
from schema.payment.input import PreviewOrderRefund, RefundOrder, RefundOrderLine
from schema.payment.payment import PaymentSourceKind, Refund, RefundPreview
from schema.voucher.voucher import VoucherState
from store.checkout.reservations import LockedRows, lock_stock
from store.gift_card.states import is_over as is_card_over
from store.order.orders import OrderProductRow, OrderRow, lock_order
from store.order.refunds import (
    LineRefund,
    OrderRefund,
    RequestAnswer,
    amount_of,
    is_by_bank,
    left_of_line,
    limited_by_owner,
    limited_to,
    lines_of_order,
    with_restocked,
)
from store.payment.attempts import AttemptRow
from store.payment.payments import PaymentRow, RefundRow
from store.payment.postings import lock_owners
from store.payment.snapshot import AttemptLine
from store.voucher.rules import is_over

NOTHING = Decimal("0.00")
NOT_WHOLE = (VoucherState.USING, VoucherState.USED, VoucherState.EXPIRED)


async def find_order(call: Call, input: Any) -> OrderRow:
    """The order of an input's `id`. Raises NotFound if the caller cannot see it."""
    return await find_visible(call.db, call.caller, OrderRow, "order", id=id_from_input(input))


@operation(Permission.REFUND_PAYMENT, exists=find_order)
async def refund_order(call: Call, input: RefundOrder) -> Refund:
    """Refund lines of an order, its delivery, or both: what was paid for them, at most what is left of the payment. The
    money goes back as by `refundPayment`, and the buyer gets a mail. Vouchers and gift cards of the lines are withdrawn.
    One that was used, in part or wholly, or is over is refused with `GOODS_USED`, unless `includeUsed` is sent: then a
    voucher keeps its state, and a gift card is cancelled with what is left of it, as are vouchers of the network. What was
    sold of the network, only users of the marketplace may refund.
    """
    order = await find_order(call, {"id": input.id})
    await check_owns_money_of(call, order, [line.id for line in input.lines])
    return (await _refund(call.db, order, input, call.services.clock.now())).refund


@operation(Permission.REFUND_PAYMENT, exists=find_order)
async def preview_order_refund(call: Call, input: PreviewOrderRefund) -> RefundPreview:
    """What a refund of lines of an order would do: it is made, and undone. Refused as the refund would be."""
    order = await find_order(call, {"id": input.id})
    await check_owns_money_of(call, order, [line.id for line in input.lines])
    async with call.services.db.sessions() as db:  # never committed
        made = await _refund(db, order, input, call.services.clock.now())
        return await preview_of(db, made.payment, made.refund, made.plan)


async def check_owns_money_of(call: Call, order: OrderRow, line_ids: Sequence[int]) -> None:
    """Raise MarketplaceOnly if the caller is a partner's and the money of an order is the marketplace's; of one with what is
    the partner's own, if it is that of one of these lines.
    """
    payment = await _payment_of(call.db, order)
    if payment is None:
        return
    line = OrderProductRow
    of_network = col(line.order_id) == order.id, col(line.id).in_(line_ids), col(line.network_id).is_not(None)
    if not payment.is_mixed or (await call.db.exec(select(line.id).where(*of_network).limit(1))).first() is not None:
        check_owns_money(call, payment)


async def _payment_of(db: AsyncSession, order: OrderRow) -> PaymentRow | None:
    return (await db.exec(select(PaymentRow).where(col(PaymentRow.order_id) == order.id))).first()


@dataclass(frozen=True, slots=True)
class LockedOrder:
    """An order whose payment, goods and lines are locked, so that lines of it can be refunded."""

    order: OrderRow
    attempt: AttemptRow
    lines: Sequence[OrderProductRow]
    goods: SoldGoods
    stock: LockedRows | None
    """The stock that refunded products go back to; None if they do not."""


@dataclass(frozen=True, slots=True)
class MadeRefund:
    """A refund of lines, not committed yet."""

    payment: PaymentRow
    refund: RefundRow
    plan: OrderRefund


async def _refund(db: AsyncSession, order: OrderRow, input: RefundOrder, now: dt.datetime) -> MadeRefund:
    return await refund_locked(db, await lock_to_refund(db, order, restock=input.restock), input, now)


async def lock_to_refund(db: AsyncSession, order: OrderRow, *, restock: bool) -> LockedOrder:
    """Lock stock, gift cards, vouchers, the payment and the order: in the order in which all lock them. Raises
    NotRefundable for an order without a payment.
    """
    payment = await _payment_of(db, order)
    if payment is None:
        raise NotRefundable
    attempt = await db.get_one(AttemptRow, order.attempt_id)
    stock = await lock_stock(db, attempt) if restock else None
    goods = await lock_goods(db, payment)
    order = await lock_order(db, order.id)
    return LockedOrder(order, attempt, await lines_of_order(db, order), goods, stock)


async def refund_locked(
    db: AsyncSession, locked: LockedOrder, input: RefundOrder, now: dt.datetime, answers: RequestAnswer | None = None
) -> MadeRefund:
    """Refund lines of a locked order, its delivery, or both. `answers` is the buyer's request that it approves."""
    goods = locked.goods
    wanted = _order_refund(locked.order, locked.lines, input)
    sold = {line.id: bought for line, bought in zip(locked.lines, locked.attempt.lines, strict=True)}
    left = await left_to_refund(db, goods.payment)
    if not input.include_used:
        _check_unused(wanted, goods_of(goods, wanted), now)
    plan = replace(wanted, answers=answers)
    if goods.payment.is_mixed:
        plan = limited_by_owner(plan, left, network_left_of(goods.locked))
    else:
        plan = limited_to(plan, left)
    if not plan.amount:
        raise NothingToRefund
    check_split(input, plan.amount)
    plan = await _restock(db, plan, locked.stock, sold)
    await lock_owners(db, goods.payment)
    await withdraw_refunded(db, goods, plan, now)
    refund = await refund_by_source(db, goods.locked, plan.amount, input, now, plan)
    by_card = [part for part in await parts_of(db, refund) if part.payment_method is PaymentSourceKind.CREDIT_CARD]
    card_amount = sum((part.transaction_amount for part in by_card), NOTHING)
    await queue_order_refund_mail(db, refund, plan, sold, card_amount)
    return MadeRefund(goods.payment, refund, plan)


def _order_refund(order: OrderRow, lines: Sequence[OrderProductRow], input: RefundOrder) -> OrderRefund:
    """What the input asks for, without regard to what is left of the payment."""
    if not input.lines and not input.include_delivery:
        raise InvalidInput.at("lines", "Send the lines to refund, or the delivery.", "REQUIRED")
    delivery = NOTHING
    if input.include_delivery:
        delivery = order.delivery_amount - order.delivery_refunded_amount
        if order.delivery_refunded_amount and not delivery:
            raise OrderLineRefunded("include_delivery")
    by_id, wanted = {line.id: line for line in lines}, dict[int, LineRefund]()
    for position, asked in enumerate(input.lines):
        line = by_id.get(asked.id)
        if line is None:
            raise InvalidInput.at(("lines", position, "id"), "This order has no such line.", "NOT_FOUND")
        if line.id in wanted:
            raise InvalidInput.at(("lines", position, "id"), "Send each line once.")
        wanted[line.id] = _line_refund(line, asked, position)
    by_bank = (amount_of(line, left_of_line(line)) for line in lines if is_by_bank(line))
    return OrderRefund(order, list(wanted.values()), delivery, left_by_bank=sum(by_bank, NOTHING))


def _line_refund(line: OrderProductRow, asked: RefundOrderLine, position: int) -> LineRefund:
    left = left_of_line(line)
    owed = amount_of(line, 0) if not left and asked.quantity is None else NOTHING
    if not left and not owed:
        raise OrderLineRefunded("lines", position, "id")
    quantity = left if asked.quantity is None else asked.quantity
    if quantity > left:
        raise InvalidInput.at(
            ("lines", position, "quantity"),
            TemplatedMessage("Only {left} are left to refund.", left=left),
            "OUT_OF_RANGE",
        )
    return LineRefund(line, quantity, amount_of(line, quantity))


async def _restock(
    db: AsyncSession, plan: OrderRefund, stock: LockedRows | None, sold: Mapping[int, AttemptLine]
) -> OrderRefund:
    """Put the pieces of a refund back into stock, if it is locked for that, and unless they are there already."""
    lines = list[LineRefund]()
    for each in (await with_restocked(db, plan)).lines:
        restocked, missing = each.restocked, each.quantity - each.restocked
        if stock is not None and missing and stock.put_back(sold[each.line.id], missing):
            each.line.restocked_quantity += missing
            restocked = each.quantity
        lines.append(replace(each, restocked=restocked))
    return replace(plan, lines=lines)


def _check_unused(refund: OrderRefund, goods: SoldGoods, now: dt.datetime) -> None:
    """Raise GoodsUsed for the first line whose voucher or gift card was used, or is over."""
    cards = {card.id for card in goods.cards if card.remaining_amount < card.value_amount or is_card_over(card, now)}
    vouchers = {row.id for row in goods.vouchers if row.state in NOT_WHOLE or is_over(row, now)}
    of_networks = {row.id for row in goods.network_vouchers if row.usage_count or is_card_over(row, now)}
    for position, each in enumerate(refund.lines):
        line = each.line
        if (
            line.voucher_id in vouchers
            or (line.gift_card_id or line.network_gift_card_id) in cards
            or line.network_voucher_id in of_networks
        ):
            raise GoodsUsed("lines", position, "id")

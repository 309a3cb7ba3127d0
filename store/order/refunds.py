"""Refunds of lines of an order: which, how many of each, and what goes back for them.

Lines change only under the lock of their order.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import ROUND_HALF_UP, Decimal
from uuid import UUID

from sqlalchemy import CheckConstraint, UniqueConstraint
from sqlmodel import Field, col, func, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.order.order import RefundLine
from store.core.row import InCurrency, PartnerIndexed
from store.order.orders import OrderProductRow, OrderRow
from store.payment.payments import RefundRow
from store.payment.refund_amounts import BankCardPart
from store.providers.money import smallest_unit

NOTHING = Decimal("0.00")


class RefundLineRow(PartnerIndexed, InCurrency, RefundLine, table=True):
    """A line in a refund. Its quantity and amount stay as they were promised, even if the refund fails."""

    __tablename__ = "refund_line"
    __table_args__ = (
        UniqueConstraint("refund_id", "order_product_id", name="refund_line_key"),
        CheckConstraint("quantity > 0 OR quantity = 0 AND line_amount > 0", name="refunds_something"),
        CheckConstraint("restocked_quantity BETWEEN 0 AND quantity", name="restocks_no_more"),
        CheckConstraint("line_amount >= 0", name="not_negative"),
    )
    refund_id: UUID = Field(foreign_key="refund.id")
    order_product_id: int = Field(foreign_key="order_product.id", index=True)
    restocked_quantity: int = 0
    """How many of these pieces are back in stock, put there by this refund or by one that failed before; 0 once this one
    has failed.
    """


@dataclass(frozen=True, slots=True)
class LineRefund:
    """A quantity of a line to refund, and the amount for it. A quantity of 0 is an amount that is still owed for what was
    refunded before.
    """

    line: OrderProductRow
    quantity: int
    amount: Decimal
    restocked: int = 0
    """How many of these pieces are back in stock."""


@dataclass(frozen=True, slots=True)
class RequestAnswer:
    """The buyer's request that a refund approves."""

    request_id: int
    email: str
    message: str
    """What the buyer reads with it; empty for nothing."""
    user_id: int | None
    """The user who approves it; None if nobody does, but a rule of the partner."""


@dataclass(frozen=True, slots=True)
class OrderRefund:
    """Lines of an order to refund, and what of its price of delivery."""

    order: OrderRow
    lines: Sequence[LineRefund]
    delivery: Decimal
    answers: RequestAnswer | None = None
    """The request that it approves; None if nobody has asked for it."""
    left_by_bank: Decimal = NOTHING
    """What only the bank card has paid for of the order and is not refunded yet, with what of it is of this refund."""

    @property
    def amount(self) -> Decimal:
        return sum((each.amount for each in self.lines), self.delivery)

    @property
    def only_by_bank(self) -> BankCardPart:
        """The part of it that gift cards have not paid for."""
        by_bank = sum((each.amount for each in self.lines if is_by_bank(each.line)), NOTHING)
        return BankCardPart(by_bank, self.left_by_bank - by_bank)

    @property
    def of_network(self) -> Decimal:
        """The part of it that is for what the network has sold."""
        return sum((each.amount for each in self.lines if each.line.network_id is not None), NOTHING)


def is_by_bank(line: OrderProductRow) -> bool:
    """Whether only the bank card pays for a line: gift cards pay neither for gift cards nor for what a network sells."""
    return line.gift_card_id is not None or line.network_id is not None


def left_of_line(line: OrderProductRow) -> int:
    """How many of a line can still be refunded."""
    return line.quantity - line.refunded_quantity


def amount_of(line: OrderProductRow, quantity: int) -> Decimal:
    """What goes back for another `quantity` of a line: what belongs to all that is refunded so far, less what went back
    before. All of a line together are exactly what was paid for it.
    """
    paid = line.total_amount - line.discount_amount
    share = paid * (line.refunded_quantity + quantity) / line.quantity
    return max(NOTHING, share.quantize(smallest_unit(line.currency), ROUND_HALF_UP) - line.refunded_amount)


def limited_to(refund: OrderRefund, left: Decimal) -> OrderRefund:
    """The refund with at most `left`: what is too much is taken off its end, delivery first."""
    lines = list[LineRefund]()
    for each in refund.lines:
        amount = min(each.amount, left)
        if each.quantity or amount:
            lines.append(replace(each, amount=amount))
        left -= amount
    return replace(refund, lines=lines, delivery=min(refund.delivery, left))


def limited_by_owner(refund: OrderRefund, left: Decimal, of_network: Decimal) -> OrderRefund:
    """The same of a payment of two owners: for the network's lines at most `of_network`, for the rest what else is left."""
    network = [each for each in refund.lines if each.line.network_id is not None]
    own = [each for each in refund.lines if each.line.network_id is None]
    theirs = limited_to(replace(refund, lines=network, delivery=NOTHING), of_network)
    rest = limited_to(replace(refund, lines=own), left - of_network)
    kept = {each.line.id: each for each in (*theirs.lines, *rest.lines)}
    return replace(rest, lines=[kept[each.line.id] for each in refund.lines if each.line.id in kept])


async def lines_of_order(db: AsyncSession, order: OrderRow) -> Sequence[OrderProductRow]:
    """The lines of a locked order, in their order."""
    query = select(OrderProductRow).where(col(OrderProductRow.order_id) == order.id)
    return (await db.exec(query.order_by(col(OrderProductRow.id)).execution_options(populate_existing=True))).all()


async def with_restocked(db: AsyncSession, refund: OrderRefund) -> OrderRefund:
    """The refund with the pieces that refunds have put back into stock which failed afterwards: they are refunded first."""
    there = await _restocked_by_failed(db, refund.order)
    lines = [replace(each, restocked=min(each.quantity, there.get(each.line.id, 0))) for each in refund.lines]
    return replace(refund, lines=lines)


async def _restocked_by_failed(db: AsyncSession, order: OrderRow) -> Mapping[int, int]:
    """How many pieces of each line of a locked order refunds have put back into stock that failed afterwards, and that no
    other refund has taken up. Lines by id; those without such pieces are left out.
    """
    counted = func.sum(RefundLineRow.restocked_quantity)
    query = (
        select(OrderProductRow.id, col(OrderProductRow.restocked_quantity) - counted)
        .join(RefundLineRow, col(RefundLineRow.order_product_id) == col(OrderProductRow.id))
        .where(col(OrderProductRow.order_id) == order.id)
        .group_by(col(OrderProductRow.id))
        .having(col(OrderProductRow.restocked_quantity) > counted)
    )
    return dict((await db.exec(query)).all())


async def record_order_refund(db: AsyncSession, refund: RefundRow, plan: OrderRefund) -> None:
    """Count a stored refund at the lines of its locked order, and at its delivery."""
    refund.delivery_amount = plan.delivery
    plan.order.delivery_refunded_amount += plan.delivery
    for each in plan.lines:
        each.line.refunded_quantity += each.quantity
        each.line.refunded_amount += each.amount
        db.add(
            RefundLineRow(
                partner_id=refund.partner_id,
                currency=refund.currency,
                refund_id=refund.id,
                order_product_id=each.line.id,
                quantity=each.quantity,
                line_amount=each.amount,
                restocked_quantity=each.restocked,
            )
        )
    await db.flush()


async def lines_of_refund(db: AsyncSession, refund: RefundRow) -> Sequence[tuple[RefundLineRow, OrderProductRow]]:
    """The lines of a refund with those of the order, in their order."""
    query = (
        select(RefundLineRow, OrderProductRow)
        .join(OrderProductRow, col(OrderProductRow.id) == col(RefundLineRow.order_product_id))
        .where(col(RefundLineRow.refund_id) == refund.id)
        .order_by(col(RefundLineRow.id))
    )
    return (await db.exec(query.execution_options(populate_existing=True))).all()


async def take_back_order_refund(db: AsyncSession, refund: RefundRow, order: OrderRow, failed: Decimal) -> OrderRefund:
    """Count a refund no longer of which `failed` does not go back: its lines can be refunded again. What has gone back
    stays counted, and is taken off then. Returns what is no longer counted.
    """
    taken = list[LineRefund]()
    of_delivery = min(failed, refund.delivery_amount)
    order.delivery_refunded_amount -= of_delivery
    rest = failed - of_delivery
    for part, line in reversed(await lines_of_refund(db, refund)):
        of_line = min(rest, part.line_amount)
        line.refunded_quantity -= part.quantity
        line.refunded_amount -= of_line
        rest -= of_line
        if part.quantity or of_line:
            taken.append(LineRefund(line, part.quantity, of_line, part.restocked_quantity))
        part.restocked_quantity = 0
    await db.flush()
    return OrderRefund(order, taken[::-1], of_delivery)


async def still_open_of(db: AsyncSession, refund: RefundRow, order: OrderRow, amount: Decimal) -> OrderRefund:
    """What of a failed refund's lines and delivery is not refunded meanwhile, for at most `amount`."""
    delivery = min(refund.delivery_amount, order.delivery_amount - order.delivery_refunded_amount)
    lines = list[LineRefund]()
    for part, line in await lines_of_refund(db, refund):
        quantity = min(part.quantity, left_of_line(line))
        if quantity or not part.quantity:
            lines.append(LineRefund(line, quantity, amount_of(line, quantity)))
    return await with_restocked(db, limited_to(OrderRefund(order, lines, delivery), amount))

"""Refunds of lines of an order: which, how many of each, and what goes back for them.

Lines change only under the lock of their order.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import ROUND_HALF_UP, Decimal
from uuid import UUID

from sqlalchemy import CheckConstraint, UniqueConstraint
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.order import RefundLine
from store.core.row import InCurrency, PartnerIndexed
from store.order.orders import OrderProductRow, OrderRow
from store.payment.payments import RefundRow
from store.providers.money import smallest_unit

NOTHING = Decimal("0.00")


class RefundLineRow(PartnerIndexed, InCurrency, RefundLine, table=True):
    """A line in a refund. It stays as it was promised, even if the refund fails."""

    __tablename__ = "refund_line"
    __table_args__ = (
        UniqueConstraint("refund_id", "order_product_id", name="refund_line_key"),
        CheckConstraint("quantity > 0", name="refunds_something"),
        CheckConstraint("line_amount >= 0", name="not_negative"),
    )
    refund_id: UUID = Field(foreign_key="refund.id")
    order_product_id: int = Field(foreign_key="order_product.id", index=True)


@dataclass(frozen=True, slots=True)
class LineRefund:
    """A quantity of a line to refund, and the amount for it."""

    line: OrderProductRow
    quantity: int
    amount: Decimal


@dataclass(frozen=True, slots=True)
class OrderRefund:
    """Lines of an order to refund, and what of its price of delivery."""

    order: OrderRow
    lines: Sequence[LineRefund]
    delivery: Decimal

    @property
    def amount(self) -> Decimal:
        return sum((each.amount for each in self.lines), self.delivery)


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
    """The refund with at most `left`: what is too much is taken off its end, delivery last."""
    lines = list[LineRefund]()
    for each in refund.lines:
        amount = min(each.amount, left)
        lines.append(LineRefund(each.line, each.quantity, amount))
        left -= amount
    return OrderRefund(refund.order, lines, min(refund.delivery, left))


async def lines_of_order(db: AsyncSession, order: OrderRow) -> Sequence[OrderProductRow]:
    """The lines of a locked order, in their order."""
    query = select(OrderProductRow).where(col(OrderProductRow.order_id) == order.id)
    return (await db.exec(query.order_by(col(OrderProductRow.id)).execution_options(populate_existing=True))).all()


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


async def take_back_order_refund(db: AsyncSession, refund: RefundRow, order: OrderRow, failed: Decimal) -> None:
    """Count a refund no longer of which `failed` does not go back: its lines can be refunded again. What has gone back
    stays counted, and is taken off then.
    """
    of_delivery = min(failed, refund.delivery_amount)
    order.delivery_refunded_amount -= of_delivery
    rest = failed - of_delivery
    for part, line in reversed(await lines_of_refund(db, refund)):
        of_line = min(rest, part.line_amount)
        line.refunded_quantity -= part.quantity
        line.refunded_amount -= of_line
        rest -= of_line

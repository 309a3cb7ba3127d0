"""Customers whom nothing of the partner names any more."""

from collections.abc import Collection
from uuid import UUID

from sqlalchemy import ColumnElement
from sqlmodel import col, exists, or_, select, update
from sqlmodel.ext.asyncio.session import AsyncSession

from store.customer import CustomerRow
from store.order.orders import OrderRow, buyer_address
from store.payment.payments import PaymentRow
from store.voucher.vouchers import VoucherRow


def is_without_sales(
    orders: Collection[int] = (), payments: Collection[UUID] = (), vouchers: Collection[int] = ()
) -> ColumnElement[bool]:
    """Whether no order, payment or voucher with people in it names a customer, but for those with these ids."""
    row, payment, voucher = CustomerRow, PaymentRow, VoucherRow
    bought = OrderRow.__table__.c  # type: ignore[attr-defined]  # SQLModel's type stubs lack __table__
    ordered = exists().where(
        bought.partner_id == col(row.partner_id),
        buyer_address(bought) == col(row.normal_email),
        bought.id.not_in(orders),
    )
    paid = exists().where(
        col(payment.customer_id) == col(row.id), col(payment.customer_email) != "", col(payment.id).not_in(payments)
    )
    given = exists().where(
        or_(col(voucher.gifter_id) == col(row.id), col(voucher.giftee_id) == col(row.id)),
        or_(col(voucher.gifter_email) != "", col(voucher.giftee_email).is_not(None)),
        col(voucher.id).not_in(vouchers),
    )
    return ~(ordered | paid | given)


async def lock_customers(db: AsyncSession, partner_id: int, emails: Collection[str]) -> None:
    """Lock the customers with these addresses, in lower case, in the order in which all lock them: what another transaction
    has entered for one of them is seen by the next statement.
    """
    row = CustomerRow
    query = select(row.id).where(col(row.partner_id) == partner_id, col(row.normal_email).in_(emails))
    await db.exec(query.order_by(col(row.normal_email).collate("C")).with_for_update())


async def empty_unused_customer(db: AsyncSession, partner_id: int, email: str) -> None:
    """Empty the customer with an address, which is locked, if nothing names it."""
    row = CustomerRow
    of_address = col(row.partner_id) == partner_id, col(row.normal_email) == email
    nothing = {"first_name": "", "last_name": "", "email": "", "normal_email": None}
    await db.exec(update(row).where(*of_address, is_without_sales()).values(**nothing))

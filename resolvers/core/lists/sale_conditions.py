"""Conditions of lists about what was sold to whom: buyers, their orders, and orders by the code of what they issued."""

from typing import Any

from sqlalchemy import Column, ColumnElement, Integer, String, func, literal_column, select, union_all
from sqlmodel import col

from schema.payment.payment import PaymentStatus
from store.customer import CustomerRow
from store.database.statement_cache import Condition
from store.gift_card.gift_cards import GiftCardRow
from store.network.vouchers import NetworkVoucherRow
from store.order.orders import OrderProductRow, OrderRow
from store.payment.payments import PaymentRow
from store.voucher.vouchers import VoucherRow

_ORDERS = OrderRow.__table__.c  # type: ignore[attr-defined]  # SQLModel's type stubs lack __table__


def has_bought(column: Column[Any], value: bool) -> Condition:
    """Customers with an e-mail address who have placed an order, or paid a payment. The column is their address.

    Each is looked up along the indexes, as a page has few customers: `EXISTS` would read all payments first.
    """

    def build(tested: Any) -> ColumnElement[bool]:
        customer, one = tested.table.c, literal_column("1", Integer)
        bought = _ORDERS.partner_id == customer.partner_id, _ORDERS.buyer_normal_email == tested
        is_paid = col(PaymentRow.status) == literal_column(f"'{PaymentStatus.OK.value}'")
        paid = col(PaymentRow.customer_id) == customer.id, is_paid
        found = (select(one).where(*tests).limit(literal_column("1")).scalar_subquery() for tests in (bought, paid))
        condition: ColumnElement[bool] = tested.is_not(None) & func.coalesce(*found).is_not(None)
        return condition if value else ~condition

    return Condition.on_column(column, f"bought:{value}", (), (), build)


def is_of_customer(column: Column[Any], id: int) -> Condition:
    """Orders of the customer with an id. The column is the address of their buyer."""

    def build(tested: Any, bind: Any) -> ColumnElement[bool]:
        row = CustomerRow
        address = select(col(row.normal_email)).where(col(row.id) == bind).scalar_subquery()
        partner = select(col(row.partner_id)).where(col(row.id) == bind).scalar_subquery()
        condition: ColumnElement[bool] = (tested == address) & (tested.table.c.partner_id == partner)
        return condition

    return Condition.on_column(column, "customer", (id,), (Integer(),), build)


def has_code(column: Column[Any], code: str) -> Condition:
    """Orders that have issued the voucher or gift card with a normalized code. The column is their id."""

    def build(tested: Any, bind: Any) -> ColumnElement[bool]:
        line = OrderProductRow
        issued: tuple[tuple[Any, Any], ...] = (
            (line.voucher_id, VoucherRow),
            (line.gift_card_id, GiftCardRow),
            (line.network_gift_card_id, GiftCardRow),
            (line.network_voucher_id, NetworkVoucherRow),
        )
        found = (
            select(col(line.order_id)).join(row, col(row.id) == col(by)).where(col(row.normal_code) == bind)
            for by, row in issued
        )
        condition: ColumnElement[bool] = tested.in_(union_all(*found))
        return condition

    return Condition.on_column(column, "code", (code,), (String(),), build)

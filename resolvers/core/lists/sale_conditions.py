"""Conditions of lists about what was sold to whom: buyers, their orders, and orders by the code of what they issued."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Column, ColumnElement, Integer, String, false, func, literal_column, select, union_all
from sqlmodel import col

from resolvers.core.caller import Caller, Role
from schema.core.permission import Permission
from schema.payment.payment import PaymentStatus
from store.customer import CustomerRow
from store.database.statement_cache import Condition
from store.gift_card.gift_cards import GiftCardRow
from store.network.vouchers import NetworkVoucherRow
from store.order.orders import OrderProductRow, OrderRow
from store.payment.payments import PaymentRow
from store.voucher.vouchers import VoucherRow


@dataclass(frozen=True, slots=True)
class IssuedKind:
    """What a line of an order can have issued, and what somebody needs to find it by its code."""

    row: Any
    permission: Permission
    is_of_network: bool = False


ISSUED: Mapping[str, IssuedKind] = {
    "voucher_id": IssuedKind(VoucherRow, Permission.VIEW_VOUCHER),
    "gift_card_id": IssuedKind(GiftCardRow, Permission.VIEW_GIFT_CARD),
    "network_gift_card_id": IssuedKind(GiftCardRow, Permission.USE_NETWORK_GIFT_CARD, is_of_network=True),
    "network_voucher_id": IssuedKind(NetworkVoucherRow, Permission.VIEW_NETWORK_VOUCHER, is_of_network=True),
}
"""By the column of the line."""
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


@dataclass(frozen=True, slots=True)
class SoughtCode:
    """A normalized code, and the columns of lines of orders that somebody may find it in."""

    code: str
    columns: tuple[str, ...]

    @classmethod
    def by(cls, caller: Caller, code: str) -> "SoughtCode":
        """For a caller: what it sees in lists of vouchers and gift cards, where partners see none of their network."""
        kinds = {
            name: kind for name, kind in ISSUED.items() if not kind.is_of_network or caller.role is not Role.PARTNER
        }
        return cls(code, tuple(name for name, kind in kinds.items() if caller.may(kind.permission)))


def has_code(column: Column[Any], sought: SoughtCode) -> Condition:
    """Orders that have issued the voucher or gift card with a code. The column is their id."""

    def build(tested: Any, bind: Any) -> ColumnElement[bool]:
        line = OrderProductRow.__table__.c  # type: ignore[attr-defined]  # SQLModel's type stubs lack __table__
        found = [
            select(line.order_id).join(row, col(row.id) == line[name]).where(col(row.normal_code) == bind)
            for name, row in ((name, ISSUED[name].row) for name in sought.columns)
        ]
        condition: ColumnElement[bool] = tested.in_(union_all(*found))
        return condition

    if not sought.columns:
        return Condition.from_expression(false())
    return Condition.on_column(column, f"code:{sought.columns}", (sought.code,), (String(),), build)

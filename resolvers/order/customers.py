"""Customers of a partner: their list, and what each has bought."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator, Field
from sqlalchemy import and_
from sqlmodel import col, func, select

from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.lists.filters import LONGEST_TERM, OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input_for
from schema.core.money import Money
from schema.core.permission import Permission
from schema.customer import Customer, CustomerPurchases
from schema.payment.payment import PaymentStatus
from store.customer import CustomerRow, Person
from store.database.loaders import is_any_of
from store.order.orders import OrderRow
from store.payment.payments import PaymentRow

NOTHING = Decimal("0.00")


@graphql_enum
class CustomerSort(DescribedEnum):
    """Sort order of customers."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    NAME = "last_name", "By last name, from A."
    NAME_DESCENDING = "-last_name", "By last name, from Z."


@graphql_input_for(Customer)
class CustomerFilter(OfPartner):
    """Filter for customers. Periods include both ends."""

    search: Annotated[str | None, Where("person_text", "search")] = Field(
        default=None,
        max_length=LONGEST_TERM,
        description="Only customers whose name or e-mail address contains this, ignoring case and accents.",
    )
    email: Annotated[
        str | None, AfterValidator(lambda sent: sent and Person(email=sent).normal_email), Where("normal_email")
    ] = Field(default=None, max_length=LONGEST_TERM, description="Only the customer with this e-mail address.")
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only customers created at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only customers created at or before this time."
    )


class _Buyers(OfPartner):
    """Those who have bought."""

    have_bought: Annotated[bool | None, Where("normal_email", "bought")] = None


customers = Listing(
    Customer,
    CustomerFilter,
    CustomerSort,
    Permission.VIEW_ORDER,
    "The customers visible to you who have bought: with an order, or with a payment of their own. Newest first.",
    always=_Buyers(have_bought=True),
)
customer = Lookup(Customer, "id", "customer", Permission.VIEW_ORDER, "A customer by its id.")


@computes(Customer, "purchases")
async def purchases_of_customers(context: Context, ids: Sequence[int]) -> Mapping[int, CustomerPurchases]:
    """What customers have bought, in three statements for all of them."""
    row, order, payment = CustomerRow, OrderRow, PaymentRow
    bought = OrderRow.__table__.c  # type: ignore[attr-defined]  # SQLModel's type stubs lack __table__
    is_own = and_(bought.partner_id == col(row.partner_id), bought.buyer_normal_email == col(row.normal_email))
    is_paid, named = col(payment.status) == PaymentStatus.OK, is_any_of(col(row.id), list(ids))
    times: list[Any] = [func.count(), func.min(order.created_on), func.max(order.created_on)]
    total = func.sum(order.total_amount)
    orders: Any = select(row.id, order.currency, total, *times).join(order, is_own).where(named)
    refunds = (
        select(row.id, payment.currency, -func.sum(payment.refunded_amount))
        .join(order, is_own)
        .join(payment, and_(col(payment.order_id) == col(order.id), is_paid))
        .where(named)
    )
    alone = is_any_of(col(payment.customer_id), list(ids)), col(payment.order_id).is_(None), is_paid
    payments = select(
        payment.customer_id, payment.currency, func.sum(payment.payment_amount - payment.refunded_amount)
    ).where(*alone)
    async with context.db.read_sessions() as db:
        of_orders = (await db.exec(orders.group_by(row.id, order.currency))).all()
        others = [
            *(await db.exec(refunds.group_by(col(row.id), col(payment.currency)))).all(),
            *(await db.exec(payments.group_by(col(payment.customer_id), col(payment.currency)))).all(),
        ]
    spent = defaultdict[int, defaultdict[str, Decimal]](lambda: defaultdict(lambda: NOTHING))
    for id, currency, amount in [*((each[0], each[1], each[2]) for each in of_orders), *others]:
        spent[id or 0][currency] += amount
    return {id: _purchases([each for each in of_orders if each[0] == id], spent[id]) for id in ids}


def _purchases(orders: Sequence[Any], spent: Mapping[str, Decimal]) -> CustomerPurchases:
    return CustomerPurchases(
        order_count=sum(count for _, _, _, count, _, _ in orders),
        first_order_on=min((first for *_, first, _ in orders), default=None),
        last_order_on=max((last for *_, last in orders), default=None),
        spent=[Money(amount=amount, currency=currency) for currency, amount in sorted(spent.items())],
    )

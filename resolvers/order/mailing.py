"""Mail that a buyer, or the shop for a buyer, asks for: the link to an order, and its confirmation once more."""

import datetime as dt

from sqlmodel import col, func, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.brute_force import throttled_lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.mail.mails import partner_with_time_zone, queue_confirmation, queue_order_link
from resolvers.order.page import order_of_link
from schema.core.errors import NotFound
from schema.core.inputs import graphql_input_for
from schema.core.permission import AccessRule, Permission
from schema.core.resource import SchemaModel
from schema.order.order import Order
from store.mail.orders import order_content
from store.order.orders import OrderRow
from store.payment.attempts import AttemptRow

ONCE_IN = dt.timedelta(minutes=15)
"""However often one message about an order is asked for, it is sent once in such a time."""


@graphql_input_for(Order)
class ResendOrder(SchemaModel):
    """Send the confirmation of an order to its buyer again."""

    id: int


@operation(AccessRule.CUSTOMER)
async def send_order_link(call: Call, email: str, number: int) -> None:
    """Send the buyer of an order the link to its page, at the shop where it was ordered.

    Raises NotFound if there is no such order of this buyer, which callers must not tell anybody, and TooManyRequests
    after too many of these.
    """
    same_buyer = func.lower(col(OrderRow.buyer_email)) == email.strip().lower()
    of_shop = col(OrderRow.partner_id) == call.caller.partner_id
    query = select(OrderRow).where(of_shop, col(OrderRow.number) == number, same_buyer)

    async def look() -> OrderRow | None:
        return (await call.db.exec(query)).one_or_none()

    order = await throttled_lookup(call.context, "order", look)
    if order is None:
        raise NotFound(thing="order")
    await queue_order_link(call.db, order, _once(call, order))


@operation(AccessRule.CUSTOMER)
async def send_confirmation(call: Call, token: str) -> None:
    """Send the confirmation of the order of a link to its buyer again. Raises NotFound for a forged link."""
    await _confirm(call, call.db, await order_of_link(call.context, call.db, token))


@operation(Permission.VIEW_MAIL)
async def resend_order(call: Call, input: ResendOrder) -> Order:
    """Send the confirmation of an order, with the link to its page, to its buyer again. It is sent once in a quarter of
    an hour, however often this is called.
    """
    row = await find_visible(call.db, call.caller, OrderRow, "order", id=input.id)
    await _confirm(call, call.db, row)
    return row


async def _confirm(call: Call, db: AsyncSession, order: OrderRow) -> None:
    attempt = await db.get_one(AttemptRow, order.attempt_id)
    _, time_zone = await partner_with_time_zone(db, order.partner_id)
    about = order_content(order, attempt, time_zone).model_dump()
    await queue_confirmation(db, order, about, _once(call, order))


def _once(call: Call, order: OrderRow) -> str:
    return f"{order.uuid}:{once_in_a_while(call)}"


def once_in_a_while(call: Call) -> str:
    """The part of the unique key of a message that lets one through in each `ONCE_IN`."""
    return str(int(call.services.clock.timestamp() // ONCE_IN.total_seconds()))

"""The link to the page of an order, mailed to its buyer: whoever asks for it."""

import datetime as dt

from sqlmodel import col, func, select

from resolvers.core.brute_force import throttled_lookup
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.mail.mails import queue_order_link
from resolvers.order.page import order_of_link
from schema.core.inputs import graphql_input_for
from schema.core.permission import AccessRule, Permission
from schema.core.resource import SchemaModel
from schema.order.order import Order
from store.order.orders import OrderRow

ONCE_IN = dt.timedelta(minutes=15)
"""However often one message about an order is asked for, it is sent once in such a time."""


@graphql_input_for(Order)
class SendOrderLink(SchemaModel):
    """Send the buyer of an order the link to its page."""

    id: int


@operation(AccessRule.CUSTOMER)
async def request_order_link(call: Call, email: str, number: int) -> None:
    """Send the buyer of an order the link to its page, at the shop where it was ordered. If there is no such order of this
    buyer, nothing happens: nobody learns who has ordered what.

    Raises TooManyRequests after too many of these, whether they have found something or not.
    """
    same_buyer = func.lower(col(OrderRow.buyer_email)) == email.strip().lower()
    of_shop = col(OrderRow.partner_id) == call.caller.partner_id
    query = select(OrderRow).where(of_shop, col(OrderRow.number) == number, same_buyer)

    async def look() -> None:
        order = (await call.db.exec(query)).one_or_none()
        if order is not None:
            await queue_order_link(call.db, order, _key(call, order))

    await throttled_lookup(call.context, "order", look)  # which counts each: matches have to look like misses


@operation(AccessRule.CUSTOMER)
async def resend_order_link(call: Call, token: str) -> None:
    """Send the link to the page of the order of a link to its buyer. Raises NotFound for a forged link."""
    order = await order_of_link(call.context, call.db, token)
    await queue_order_link(call.db, order, _key(call, order))


@operation(Permission.VIEW_MAIL)
async def send_order_link(call: Call, input: SendOrderLink) -> Order:
    """Send the buyer of an order the link to its page. It is sent once in a quarter of an hour, however often this is
    called.
    """
    row = await find_visible(call.db, call.caller, OrderRow, "order", id=input.id)
    await queue_order_link(call.db, row, _key(call, row))
    return row


def _key(call: Call, order: OrderRow) -> str:
    return f"{order.uuid}:{mail_window(call)}"


def mail_window(call: Call) -> str:
    """The part of the unique key of a message that lets one through in each `ONCE_IN`."""
    return str(int(call.services.clock.timestamp() // ONCE_IN.total_seconds()))

"""The orders of a shop."""

import datetime as dt
import enum
from typing import Annotated
from uuid import UUID

import strawberry

from resolvers.listing import Filter, Listing, Where
from resolvers.operation import Call, operation
from resolvers.tenancy import find
from schema.delivery import DeliveryKind
from schema.errors import InvalidInput
from schema.order import Order, OrderStatus
from schema.permission import Permission
from schema.values import writable
from store.orders import OrderRow


@strawberry.enum(description="How to order orders.")
class OrderOrder(enum.StrEnum):
    """How to order orders."""

    NEWEST = "-created_on"
    OLDEST = "created_on"
    TOTAL = "total_amount"
    TOTAL_DESCENDING = "-total_amount"


@writable
class OrderFilter(Filter):
    """Which orders. Both ends of a period belong to it."""

    number: Annotated[int | None, Where("number")] = None
    status: Annotated[OrderStatus | None, Where("status")] = None
    delivery_kind: Annotated[DeliveryKind | None, Where("delivery_kind")] = None
    cart_id: Annotated[UUID | None, Where("cart_id")] = None
    buyer_email: Annotated[str | None, Where("buyer_email")] = None
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = None
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = None


orders = Listing(Order, OrderFilter, OrderOrder, Permission.VIEW_ORDER, "The orders you see, newest first.")


@operation(Permission.VIEW_ORDER)
async def order(call: Call, id: int | None = None, uuid: UUID | None = None) -> Order:
    """An order, by its id or its uuid."""
    if id is not None and uuid is None:
        return await find(call.db, call.caller, OrderRow, "order", id=id)
    if uuid is not None and id is None:
        return await find(call.db, call.caller, OrderRow, "order", uuid=uuid)
    raise InvalidInput.at("id", "Give either the id or the uuid.")

"""The orders of a shop."""

import datetime as dt
import enum
from typing import Annotated
from uuid import UUID

import strawberry

import store.orders  # noqa: F401 - the table of orders
from resolvers.listing import Filter, Listing, Lookup, Where
from schema.delivery import DeliveryKind
from schema.order import Order, OrderStatus
from schema.permission import Permission
from schema.values import writable


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


order = Lookup(Order, "id", "order", Permission.VIEW_ORDER, "An order by its id.")
order_with_uuid = Lookup(Order, "uuid", "order", Permission.VIEW_ORDER, "An order by its uuid.")

"""The orders of a shop."""

import datetime as dt
from typing import Annotated
from uuid import UUID

from pydantic import Field

import store.order.orders  # noqa: F401 - the table of orders
from resolvers.core.listing import Listing, Lookup, OfPartner, Where
from schema.checkout.checkout import ShopKind
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, closed_set, writable_as
from schema.delivery import DeliveryKind
from schema.order import Order, OrderStatus


@closed_set
class OrderSort(ClosedSet):
    """How to order orders."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    TOTAL = "total_amount", "The smallest total first."
    TOTAL_DESCENDING = "-total_amount", "The largest total first."


@writable_as(Order)
class OrderFilter(OfPartner):
    """Which orders. Both ends of a period belong to it."""

    number: Annotated[int | None, Where("number")] = None
    status: Annotated[OrderStatus | None, Where("status")] = None
    kind: Annotated[ShopKind | None, Where("kind")] = None
    delivery_kind: Annotated[DeliveryKind | None, Where("delivery_kind")] = Field(
        default=None, description="How it reaches the customer."
    )
    cart_id: Annotated[UUID | None, Where("cart_id")] = None
    buyer_email: Annotated[str | None, Where("buyer_email")] = Field(
        default=None, description="The e-mail address of the buyer, written as the buyer did."
    )
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Made at this time or later."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Made at this time or earlier."
    )


orders = Listing(Order, OrderFilter, OrderSort, Permission.VIEW_ORDER, "The orders you see, newest first.")


order = Lookup(Order, "id", "order", Permission.VIEW_ORDER, "An order by its id or its uuid.")
order_with_uuid = Lookup(Order, "uuid", "order", Permission.VIEW_ORDER, "An order by its uuid.")

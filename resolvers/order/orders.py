"""Orders: list and lookups."""

import datetime as dt
from collections.abc import Mapping
from typing import Annotated, Any
from uuid import UUID

from pydantic import AfterValidator, Field

from resolvers.core.caller import Caller, Role
from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.lists.filters import LONGEST_TERM, OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.lists.sale_conditions import SoughtCode
from schema.checkout.checkout import ShopKind
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import Forbidden, MarketplaceOnly
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.delivery.delivery import DeliveryKind
from schema.order.fulfilment import FulfilmentState
from schema.order.order import Order, OrderStatus
from store.core.codes import normalize
from store.order.links import order_path, order_url


@graphql_enum
class OrderSort(DescribedEnum):
    """Sort order of orders."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    TOTAL = "total_amount", "Smallest total first."
    TOTAL_DESCENDING = "-total_amount", "Largest total first."


@graphql_input_for(Order)
class OrderFilter(OfPartner):
    """Filter for orders. Periods include both ends."""

    number: Annotated[int | None, Where("number")] = None
    status: Annotated[OrderStatus | None, Where("status")] = None
    kind: Annotated[ShopKind | None, Where("kind")] = None
    delivery_kind: Annotated[DeliveryKind | None, Where("delivery_kind")] = Field(
        default=None, description="Only orders with this kind of delivery."
    )
    fulfilment_state: Annotated[FulfilmentState | None, Where("fulfilment_state")] = Field(
        default=None, description="Only orders in this state of fulfilment: `TO_PREPARE` are those that wait for staff."
    )
    cart_id: Annotated[UUID | None, Where("cart_id")] = None
    buyer_email: Annotated[str | None, Where("buyer_email")] = Field(
        default=None, description="Only orders with this e-mail address of the buyer, matched exactly."
    )
    buyer: Annotated[str | None, Where("buyer_text", "search")] = Field(
        default=None,
        max_length=LONGEST_TERM,
        description="Only orders whose buyer's name, e-mail address or company contains this, ignoring case and accents.",
    )
    customer_id: Annotated[int | None, Where("buyer_normal_email", "customer")] = Field(
        default=None, description="Only orders whose buyer is the customer with this id."
    )
    code: Annotated[str | None, AfterValidator(lambda sent: sent and normalize(sent)), Where("id", "code")] = Field(
        default=None,
        max_length=LONGEST_TERM,
        description="Only the order that has issued the voucher or gift card with this code, in any spelling, if you may see it.",
    )
    created_from: Annotated[dt.datetime | None, Where("created_on", ">=")] = Field(
        default=None, description="Only orders created at or after this time."
    )
    created_until: Annotated[dt.datetime | None, Where("created_on", "<=")] = Field(
        default=None, description="Only orders created at or before this time."
    )

    def sought(self, name: str, caller: Caller) -> Any:
        """What the field of a name is tested with, for a caller: a code in what it may see."""
        value = super().sought(name, caller)
        return SoughtCode.by(caller, value) if name == "code" and value is not None else value


orders = Listing(Order, OrderFilter, OrderSort, Permission.VIEW_ORDER, "The orders visible to you, newest first.")


order = Lookup(Order, "id", "order", Permission.VIEW_ORDER, "An order by its id or its uuid.")
order_with_uuid = Lookup(Order, "uuid", "order", Permission.VIEW_ORDER, "An order by its uuid.")

OF_VOUCHERS = frozenset({Permission.VIEW_VOUCHER, Permission.UPDATE_VOUCHER})
OF_GIFT_CARDS = frozenset({Permission.VIEW_GIFT_CARD, Permission.MANAGE_GIFT_CARD})
NEEDED: Mapping[ShopKind, frozenset[Permission]] = {
    ShopKind.PRODUCTS: frozenset({Permission.VIEW_ORDER}),
    ShopKind.VOUCHERS: OF_VOUCHERS,
    ShopKind.GIFT_CARDS: OF_GIFT_CARDS,
    ShopKind.MIXED: OF_VOUCHERS | OF_GIFT_CARDS,
    ShopKind.NETWORK: frozenset(
        {Permission.USE_NETWORK_GIFT_CARD, Permission.VIEW_NETWORK_VOUCHER, Permission.MANAGE_NETWORK_VOUCHER}
    ),
}
"""For what its page shows, and for sending it elsewhere."""


def require_order_codes(caller: Caller, kind: str, has_network_lines: bool) -> None:
    """Raise MarketplaceOnly or Forbidden for who may not read the page of an order, and so must not have it sent elsewhere."""
    sold = ShopKind(kind)
    is_of_network = has_network_lines or sold is ShopKind.NETWORK
    if is_of_network and caller.role not in {Role.MARKETPLACE, Role.MASTER}:
        raise MarketplaceOnly
    needed = NEEDED[sold] | (NEEDED[ShopKind.NETWORK] if is_of_network else frozenset())
    for permission in sorted(needed):
        if not caller.may(permission):
            raise Forbidden(permission=f"permissions.{permission}")


@derives(Order, "page_url")
def order_page_url(context: Context, id: UUID | str, kind: str, has_network_lines: bool) -> str | None:
    """The page has codes: of a network's goods, partners never learn them."""
    caller = context.required_caller
    try:
        require_order_codes(caller, kind, has_network_lines)
    except (MarketplaceOnly, Forbidden):
        return None
    settings = context.services.settings
    return (
        order_url(settings, id, caller.site_domain)
        if caller.site_domain
        else f"{context.services.public_url}{order_path(settings, id)}"
    )

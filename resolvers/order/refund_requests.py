"""Requests of buyers to withdraw from the contract, or for a refund: the list for staff."""

import datetime as dt
from typing import Annotated

from pydantic import Field

from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.order.refund_request import RefundRequest, RefundRequestKind, RefundRequestState


@graphql_enum
class RefundRequestSort(DescribedEnum):
    """Sort order of requests."""

    NEWEST = "-requested_on", "The newest first."
    OLDEST = "requested_on", "The oldest first."


@graphql_input_for(RefundRequest)
class RefundRequestFilter(OfPartner):
    """Filter for requests. Periods include both ends."""

    state: Annotated[RefundRequestState | None, Where("state")] = Field(
        default=None, description="Only requests in this state: `PENDING` are those that wait for an answer."
    )
    kind: Annotated[RefundRequestKind | None, Where("kind")] = None
    order_id: Annotated[int | None, Where("order_id")] = Field(
        default=None, description="Only the requests about this order."
    )
    requested_from: Annotated[dt.datetime | None, Where("requested_on", ">=")] = Field(
        default=None, description="Only requests sent at or after this time."
    )
    requested_until: Annotated[dt.datetime | None, Where("requested_on", "<=")] = Field(
        default=None, description="Only requests sent at or before this time."
    )


refund_requests = Listing(
    RefundRequest,
    RefundRequestFilter,
    RefundRequestSort,
    Permission.VIEW_ORDER,
    "The requests of buyers visible to you, newest first.",
)
refund_request = Lookup(RefundRequest, "id", "request", Permission.VIEW_ORDER, "A request of a buyer by its id.")

"""The list of refused and failed requests, and the job that deletes old ones."""

import datetime as dt
from typing import Annotated, Any

from pydantic import Field

from resolvers.core.caller import Caller
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.services import Services
from schema.api_request import ApiRequest, ApiTransport
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from store.audit.api_requests import prune_api_log

OF_LISTS = frozenset({"operation", "error_code"})
"""Fields of the filter that name an item of a list."""


@graphql_enum
class ApiRequestSort(DescribedEnum):
    """Sort order of refused and failed requests."""

    NEWEST = "-occurred_on", "The newest first."
    OLDEST = "occurred_on", "The oldest first."


@graphql_input_for(ApiRequest)
class ApiRequestFilter(OfPartner):
    """Filter for refused and failed requests. Periods and ranges include both ends."""

    request_id: Annotated[str | None, Where("request_id")] = None
    transport: Annotated[ApiTransport | None, Where("transport")] = None
    operation: Annotated[str | None, Where("operations", "has")] = Field(
        default=None, description="Only requests in which this operation was refused or failed."
    )
    error_code: Annotated[str | None, Where("error_codes", "has")] = Field(
        default=None, description="Only requests with this error code."
    )
    status_from: Annotated[int | None, Where("status", ">=")] = Field(
        default=None, description="Only requests with at least this HTTP status."
    )
    status_until: Annotated[int | None, Where("status", "<=")] = Field(
        default=None, description="Only requests with at most this HTTP status."
    )
    user_id: Annotated[int | None, Where("user_id")] = None
    token_id: Annotated[int | None, Where("token_id")] = None
    partner_id: Annotated[int | None, Where("partner_id")] = None
    occurred_from: Annotated[dt.datetime | None, Where("occurred_on", ">=")] = Field(
        default=None, description="Only requests at or after this time."
    )
    occurred_until: Annotated[dt.datetime | None, Where("occurred_on", "<=")] = Field(
        default=None, description="Only requests at or before this time."
    )

    def sought(self, name: str, caller: Caller) -> Any:
        """What the field of a name is tested with: a name is a list of one item."""
        value = super().sought(name, caller)
        return [value] if name in OF_LISTS and value is not None else value


api_requests = Listing(
    ApiRequest,
    ApiRequestFilter,
    ApiRequestSort,
    Permission.VIEW_AUDIT,
    "The requests of programs visible to you that were refused or that failed. Newest first. Those without a valid "
    "token belong to nobody: only master users see them.",
)
api_request = Lookup(
    ApiRequest, "id", "API request", Permission.VIEW_AUDIT, "A refused or failed request of a program by its id."
)


async def prune(services: Services) -> None:
    """Delete requests older than `COFFRET_API_LOG_DAYS`, in batches."""
    before = services.clock.now() - dt.timedelta(days=services.settings.api_log_days)
    more = True
    while more:
        async with services.db.sessions() as db, db.begin():
            more = await prune_api_log(db, before)

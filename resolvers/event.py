"""The list of events, for clients that missed webhook messages."""

import datetime as dt
from typing import Annotated

from pydantic import Field

from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.event import Event, EventType


@graphql_enum
class EventSort(DescribedEnum):
    """Sort order of events."""

    NEWEST = "-id", "The newest first."
    OLDEST = "id", "The oldest first."


@graphql_input_for(Event)
class EventFilter(OfPartner):
    """Filter for events. Periods include both ends."""

    ids: Annotated[list[str] | None, Where("key", "in")] = Field(
        default=None, description="Only events with one of these ids."
    )
    types: Annotated[list[EventType] | None, Where("type", "in")] = Field(
        default=None, description="Only events of one of these types."
    )
    subject: Annotated[str | None, Where("subject")] = None
    occurred_from: Annotated[dt.datetime | None, Where("occurred_on", ">=")] = Field(
        default=None, description="Only events that occurred at or after this time."
    )
    occurred_until: Annotated[dt.datetime | None, Where("occurred_on", "<=")] = Field(
        default=None, description="Only events that occurred at or before this time."
    )


events = Listing(
    Event,
    EventFilter,
    EventSort,
    Permission.MANAGE_WEBHOOK,
    "The events visible to you, newest first. Events are stored for 90 days unless the installation is configured "
    "otherwise.",
)
event = Lookup(Event, "key", "event", Permission.MANAGE_WEBHOOK, "An event by its id, `evt_…`.")

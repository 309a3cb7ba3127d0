"""What has happened, to be read by whoever missed being told."""

import datetime as dt
from typing import Annotated

from pydantic import Field

from resolvers.core.listing import Listing, OfPartner, Where
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, closed_set, writable_as
from schema.event import Event, EventType


@closed_set
class EventSort(ClosedSet):
    """How to order events."""

    NEWEST = "-id", "The newest first."
    OLDEST = "id", "The oldest first."


@writable_as(Event)
class EventFilter(OfPartner):
    """Which events."""

    ids: Annotated[list[str] | None, Where("key", "in")] = Field(default=None, description="With one of these ids.")
    types: Annotated[list[EventType] | None, Where("type", "in")] = Field(
        default=None, description="Of one of these types."
    )
    subject: Annotated[str | None, Where("subject")] = None
    occurred_from: Annotated[dt.datetime | None, Where("occurred_on", ">=")] = Field(
        default=None, description="From this time on."
    )
    occurred_until: Annotated[dt.datetime | None, Where("occurred_on", "<=")] = Field(
        default=None, description="To this time."
    )


events = Listing(
    Event,
    EventFilter,
    EventSort,
    Permission.MANAGE_WEBHOOK,
    "What has happened, newest first. Events are kept for 90 days, unless the installation says otherwise.",
)

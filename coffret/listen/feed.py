"""Polls events over the API. Yields each event once, even if events are committed out of order."""

import datetime as dt
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from coffret.listen.api import ApiClient
from schema.event import EventType
from store.webhook.signing import webhook_body

PAGE_SIZE = 100
COMMIT_LAG = dt.timedelta(minutes=1)
"""An event that is committed later than its successors is still found if it is at most this late."""
QUERY = """
query Listen($filter: EventFilter, $first: Int, $after: String, $last: Int) {
  events(orderBy: OLDEST, filter: $filter, first: $first, after: $after, last: $last) {
    edges { cursor node { id type occurredOn subject data partner { id uuid } } }
    pageInfo { hasNextPage hasPreviousPage }
  }
}
"""


@dataclass(frozen=True)
class ReceivedEvent:
    """An event from the API."""

    key: str
    type: str
    """In the format of webhooks: `order.paid`."""
    occurred_on: dt.datetime
    subject: str
    data: Mapping[str, Any]
    partner: tuple[int, UUID] | None
    """None for an event of a network alone."""

    @property
    def body(self) -> bytes:
        """The body of a webhook for this event."""
        return webhook_body(
            key=self.key,
            type=self.type,
            occurred_on=self.occurred_on,
            subject=self.subject,
            data=self.data,
            partner=self.partner,
        )


class EventFeed:
    """The events that a token may see, from now on or from `since`.

    Events are ordered, but one may be committed after its successors. Each poll therefore reads the last minute again
    and skips the events already yielded.
    """

    def __init__(
        self, api: ApiClient, since: dt.datetime | None = None, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._api = api
        self._since = since
        self._monotonic = monotonic
        self._after: str | None = None
        """The cursor of the last event that is not read again."""
        self._seen_keys: dict[str, float] = {}
        """Ids of the events after that cursor that were yielded, each with the monotonic time."""

    async def start(self) -> None:
        """Set the start position: past events are skipped unless `since` is set."""
        page = await self._page(last=PAGE_SIZE)
        if self._since is None:
            edges = page["edges"]
            if page["pageInfo"]["hasPreviousPage"]:
                first, *edges = edges
                self._after = first["cursor"]
            self._seen_keys = {edge["node"]["id"]: self._monotonic() for edge in edges}

    async def poll(self) -> AsyncIterator[ReceivedEvent]:
        """Yield new events in order. After an error the next call resumes at the same position."""
        now, after, settled, more = self._monotonic(), self._after, True, True
        while more:
            page = await self._page(first=PAGE_SIZE, after=after)
            for edge in page["edges"]:
                after, key = edge["cursor"], edge["node"]["id"]
                answered = self._seen_keys.get(key)
                settled = settled and answered is not None and now - answered > COMMIT_LAG.total_seconds()
                if settled:
                    self._after = after
                    del self._seen_keys[key]
                elif answered is None:
                    self._seen_keys[key] = now
                    yield _parse_event(edge["node"])
            more = page["pageInfo"]["hasNextPage"]

    async def _page(self, **arguments: Any) -> Mapping[str, Any]:
        wanted = None if self._since is None else {"occurredFrom": self._since.isoformat()}
        data = await self._api.execute(QUERY, {"filter": wanted, **arguments})
        page: Mapping[str, Any] = data["events"]
        return page


def _parse_event(node: Mapping[str, Any]) -> ReceivedEvent:
    name, partner = node["type"], node["partner"]
    known = EventType.__members__.get(name)
    return ReceivedEvent(
        key=node["id"],
        type=name.lower().replace("_", ".", 1) if known is None else known.value,
        occurred_on=dt.datetime.fromisoformat(node["occurredOn"]),
        subject=node["subject"],
        data=node["data"],
        partner=None if partner is None else (partner["id"], UUID(partner["uuid"])),
    )

"""Events as they happen, read over the API: each once, also when they are committed in another order than they began."""

import datetime as dt
import time
from collections.abc import AsyncIterator, Callable, Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from coffret.listen.api import Api
from schema.event import EventType
from store.webhook.signing import body_of

PAGE = 100
LATE = dt.timedelta(minutes=1)
"""How much later than its neighbours an event may be committed and still be seen."""
QUERY = """
query Listen($filter: EventFilter, $first: Int, $after: String, $last: Int) {
  events(orderBy: OLDEST, filter: $filter, first: $first, after: $after, last: $last) {
    edges { cursor node { id type occurredOn subject data partner { id uuid } } }
    pageInfo { hasNextPage hasPreviousPage }
  }
}
"""


@dataclass(frozen=True)
class Happened:
    """An event, as the API tells it."""

    key: str
    type: str
    """As webhooks have it: `order.paid`."""
    occurred_on: dt.datetime
    subject: str
    data: Mapping[str, Any]
    partner: tuple[int, UUID]

    @property
    def body(self) -> bytes:
        """What a webhook that tells of it has for a body."""
        return body_of(
            key=self.key,
            type=self.type,
            occurred_on=self.occurred_on,
            subject=self.subject,
            data=self.data,
            partner=self.partner,
        )


class Feed:
    """The events that a token may see, from now on or `since` a moment.

    Events have an order, but one may be committed after others that follow it. Therefore the last minute is read again each
    time, and what was answered is left out.
    """

    def __init__(
        self, api: Api, since: dt.datetime | None = None, *, monotonic: Callable[[], float] = time.monotonic
    ) -> None:
        self._api = api
        self._since = since
        self._monotonic = monotonic
        self._after: str | None = None
        """The cursor of the last event that is not read again."""
        self._answered: dict[str, float] = {}
        """The events after it that were answered, and when."""

    async def start(self) -> None:
        """Begin here: what has happened before is not answered, unless it is wanted `since` then."""
        page = await self._page(last=PAGE)
        if self._since is None:
            self._answered = {edge["node"]["id"]: self._monotonic() for edge in page["edges"]}
            if page["pageInfo"]["hasPreviousPage"]:
                self._after = page["edges"][0]["cursor"]

    async def new(self) -> AsyncIterator[Happened]:
        """What has happened since it was last asked, in order. After an error it goes on where it stood."""
        now, after, settled, more = self._monotonic(), self._after, True, True
        while more:
            page = await self._page(first=PAGE, after=after)
            for edge in page["edges"]:
                after, key = edge["cursor"], edge["node"]["id"]
                answered = self._answered.get(key)
                settled = settled and answered is not None and now - answered > LATE.total_seconds()
                if settled:
                    self._after = after
                    del self._answered[key]
                elif answered is None:
                    self._answered[key] = now
                    yield _happened(edge["node"])
            more = page["pageInfo"]["hasNextPage"]

    async def _page(self, **window: Any) -> Mapping[str, Any]:
        wanted = None if self._since is None else {"occurredFrom": self._since.isoformat()}
        data = await self._api.ask(QUERY, {"filter": wanted, **window})
        page: Mapping[str, Any] = data["events"]
        return page


def _happened(node: Mapping[str, Any]) -> Happened:
    name, partner = node["type"], node["partner"]
    known = EventType.__members__.get(name)
    return Happened(
        key=node["id"],
        type=name.lower().replace("_", ".", 1) if known is None else known.value,
        occurred_on=dt.datetime.fromisoformat(node["occurredOn"]),
        subject=node["subject"],
        data=node["data"],
        partner=(partner["id"], UUID(partner["uuid"])),
    )

"""A shop whose webhooks may be sent to this machine, endpoints, and events to tell them of."""

import dataclasses
import datetime as dt
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from sqlalchemy import text

from resolvers import webhook_delivery
from resolvers.context import Services
from schema.errors import InvalidInput
from schema.event import EXAMPLES, EventType
from store.clock import clock
from store.events import emit
from store.settings import Settings
from store.signing_secrets import new_salt
from store.webhooks.rows import WebhookEndpointRow
from store.webhooks.signing import WEBHOOK_SECRET
from tests.shop_world import Shop

HERE = Settings(funnel_scheme="http", webhook_networks_allowed=["127.0.0.0/8"])
URL = "https://8.8.8.8/hooks"


@dataclass
class Hooks:
    """The webhooks of a shop."""

    shop: Shop

    @classmethod
    def of(cls, shop: Shop) -> "Hooks":
        """Let a shop's webhooks be sent to this machine."""
        shop.services = dataclasses.replace(shop.services, settings=HERE)
        return cls(shop)

    @property
    def services(self) -> Services:
        """What the process holds."""
        return self.shop.services

    async def endpoint(self, url: str, *types: EventType, **more: Any) -> WebhookEndpointRow:
        """An endpoint of the shop."""
        host = url.partition("://")[2].partition("/")[0].partition(":")[0]
        values: dict[str, Any] = {"partner_id": self.shop.partner.id, "secret_salt": new_salt(), "host": host, **more}
        of = self.shop.partner.marketplace_id
        return await self.shop.add(WebhookEndpointRow(marketplace_id=of, url=url, event_types=list(types), **values))

    def secret(self, endpoint: WebhookEndpointRow) -> str:
        """What its messages are verified with."""
        return WEBHOOK_SECRET.secret_of(self.services.settings.secret, endpoint.secret_salt)

    async def tell(
        self,
        number: int = 1,
        kind: EventType = EventType.CART_EXPIRED,
        partner_id: int | None = None,
        subject: str = "x",
    ) -> Sequence[str]:
        """Something happens, so many times; answers the ids of the events."""
        for _ in range(number):
            async with self.services.db.sessions() as db, db.begin():
                of = partner_id or self.shop.partner.id
                await emit(db, kind, partner_id=of, subject=subject, data=EXAMPLES[kind])
        return [
            row[0] for row in await self.rows("SELECT key FROM event ORDER BY id DESC LIMIT :number", number=number)
        ][::-1]

    async def rows(self, statement: str, **parameters: Any) -> Sequence[Any]:
        """Rows out of the database."""
        return await self.services.db.rows(text(statement), parameters)

    async def sort(self) -> None:
        """Put what has happened in line."""
        for (event_id,) in await self.rows("SELECT id FROM event WHERE NOT is_sorted"):
            await webhook_delivery.sort(self.services, event_id)

    async def deliver(self, endpoint: WebhookEndpointRow) -> None:
        """Send an endpoint what is due."""
        await self.sort()
        await webhook_delivery.deliver(self.services, endpoint.id)

    async def later(self, endpoint: WebhookEndpointRow) -> dt.timedelta | None:
        """Move time to the next try and let it happen; answers how long that was, or None when there is none."""
        (row,) = await self.rows(
            "SELECT min(next_try_on) FROM webhook_delivery WHERE state = 'waiting' AND endpoint_id = :id",
            id=endpoint.id,
        )
        if row[0] is None:
            return None
        pause: dt.timedelta = row[0] - clock.now()
        clock.advance(max(pause, dt.timedelta()))
        await self.deliver(endpoint)
        return pause

    async def states(self, endpoint: WebhookEndpointRow) -> list[str]:
        """Where its messages stand, oldest event first."""
        statement = "SELECT state FROM webhook_delivery WHERE endpoint_id = :id ORDER BY event_id"
        return [row[0] for row in await self.rows(statement, id=endpoint.id)]

    async def now_of(self, endpoint: WebhookEndpointRow) -> WebhookEndpointRow:
        """The endpoint as it is now."""
        async with self.services.db.sessions() as db:
            return await db.get_one(WebhookEndpointRow, endpoint.id)


def refused(raised: pytest.ExceptionInfo[InvalidInput]) -> set[str]:
    """The fields that something is wrong with."""
    return {".".join(map(str, problem.path)) for problem in raised.value.problems}

"""Carts are made, replaced, paid for and left alone all at once, under two workers: each ends in exactly one event."""

import asyncio
import datetime as dt
import random
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import text

from coffret.sandbox import close
from resolvers.cart.expiry import emit_expired_carts
from resolvers.checkout import steps
from resolvers.core.services import Services
from resolvers.payment.checkout import payment, polling
from schema.cart.cart import CartItem
from schema.checkout.checkout import CheckoutKey, ProductChoice
from schema.core.errors import CartNotFound, CheckoutChanged, NotFound
from schema.delivery.delivery import DeliveryKind
from store.core.clock import clock
from store.database.db import Database
from store.kv import open_kv
from tests.fixtures.shop import BUYER, DECLINED_CARD, GOOD_CARD, Shop, open_shop, sandbox_and_provider, services_over

EXPECTED = (CartNotFound, CheckoutChanged, NotFound)
"""What customers may be told; anything else is a bug."""


@dataclass
class Storm:
    """A shop whose carts come and go, and two workers."""

    shop: Shop
    workers: list[Services]
    chance: random.Random
    product_id: int
    written: dict[UUID, int] = field(default_factory=dict)
    """The last write of each cart."""

    async def come(self) -> None:
        """The shop hands a cart over, now and then two times with a key."""
        cart = await self.shop.cart(CartItem(self.product_id, 1))
        self.note(cart.id, cart.last_modified)

    def note(self, id: UUID, last_modified: int) -> None:
        """A cart was written."""
        self.written[id] = max(self.written.get(id, 0), last_modified)

    def some(self) -> CheckoutKey:
        """Somebody who has one of the carts."""
        id = self.chance.choice(list(self.written)[-12:])
        return CheckoutKey(id, f"browser {self.chance.randint(0, 1)} of {id}")

    async def replace(self) -> None:
        """The shop replaces a cart, if it still lives."""
        id, services = self.some().cart_id, self.chance.choice(self.workers)
        result = await services.carts.replace(self.shop.partner.id, id, [CartItem(self.product_id, 1)], "")
        if result is not None:
            self.note(id, result.cart.last_modified)

    async def press(self) -> None:
        """A customer goes to pay, and pays, or not."""
        key, mode = self.some(), self.shop.modes[DeliveryKind.CLICK_AND_COLLECT]
        await steps.choose_items(self.shop.context, key, [ProductChoice(self.product_id, 1)], mode, "FR")
        started = await self.shop.start(key, await steps.identify_buyer(self.shop.context, key, BUYER))
        card = self.chance.choice((GOOD_CARD, GOOD_CARD, DECLINED_CARD, None, ""))
        if card != "":
            await self.shop.control(
                "POST", f"/payins/{await self.shop.payin_of(started.attempt_id)}/pay", {"card": card}
            )

    async def come_back(self) -> None:
        """Some payment is settled."""
        rows = await self.shop.services.db.rows(text("SELECT id FROM checkout_attempt"))
        if rows:
            await polling.CHECKS.poll(self.shop.services, self.chance.choice(rows)[0])

    async def give_up(self) -> None:
        """A customer cancels."""
        await payment.cancel_payment(self.shop.context, self.some())

    async def tell(self) -> None:
        """Both workers look for what has expired."""
        await asyncio.gather(*(emit_expired_carts(services) for services in self.workers))

    async def later(self) -> None:
        """Time passes, often just about as long as a cart lives."""
        clock.advance(dt.timedelta(minutes=self.chance.choice((0, 1, 5, 59, 60, 118))))

    async def gust(self) -> None:
        """A dozen things at once."""
        await asyncio.gather(*(self.come() for _ in range(4)))
        deeds = (
            [self.replace] * 3 + [self.press] * 4 + [self.come_back] * 4 + [self.tell] * 3 + [self.later, self.give_up]
        )
        chosen = self.chance.choices(deeds, k=12)
        for outcome in await asyncio.gather(*(deed() for deed in chosen), return_exceptions=True):
            if isinstance(outcome, BaseException) and not isinstance(outcome, EXPECTED):
                raise outcome

    async def calm(self) -> None:
        """Nobody comes any more; the workers go on until there is nothing left."""
        for _ in range(12):
            for row in await self.shop.services.db.rows(text("SELECT id FROM checkout_attempt")):
                await polling.CHECKS.poll(self.shop.services, row[0])
            await self.tell()
            clock.advance(dt.timedelta(minutes=20))


@pytest.fixture
async def storm(request: pytest.FixtureRequest, database_url: str, kv_url: str) -> AsyncIterator[Storm]:
    """Two processes over one database and one store; in memory the store is in both."""
    sandbox, provider = sandbox_and_provider()
    databases = [Database(database_url) for _ in range(2)]
    stores = [open_kv(kv_url, clock) for _ in range(2 if kv_url else 1)]
    workers = [services_over(db, stores[at % len(stores)], provider) for at, db in enumerate(databases)]
    shop = await open_shop(workers[0], sandbox)
    chance = random.Random(getattr(request, "param", 0))
    yield Storm(shop, workers, chance, (await shop.product()).id)
    await provider.aclose()
    for store in stores:
        await store.aclose()
    for db in databases:
        await db.aclose()
    await close(sandbox)


async def events_by_type(shop: Shop) -> dict[str, list[dict[str, Any]]]:
    """The data of all events, by type."""
    found = defaultdict(list)
    for kind, data in await shop.services.db.rows(text("SELECT type, data FROM event ORDER BY id")):
        found[kind].append(data)
    return found


@pytest.mark.parametrize("storm", range(2), indirect=True)
async def test_every_cart_ends_in_one_event(storm: Storm) -> None:
    for _ in range(8):
        await storm.gust()
    await storm.calm()
    events = await events_by_type(storm.shop)
    completed = {(data["id"], data["last_modified"]) for data in events["cart.completed"]}
    expired = Counter((data["id"], data["last_modified"]) for data in events["cart.expired"])
    last = {(str(id), last_modified) for id, last_modified in storm.written.items()}
    assert set(expired.values()) == {1}
    assert completed
    assert completed.isdisjoint(expired)
    assert set(expired) == last - completed
    orders = await storm.shop.services.db.rows(text("SELECT id, cart_id FROM shop_order ORDER BY id"))
    for kind in ("order.created", "order.paid"):
        assert [(data["id"], data["cart_id"]) for data in events[kind]] == [(id, str(cart)) for id, cart in orders]
    of_orders = sorted((data["order_id"], data["id"]) for data in events["cart.completed"])
    assert of_orders == [(id, str(cart)) for id, cart in orders]
    assert await storm.shop.services.carts.expired(storm.shop.partner.id, limit=1000) == []

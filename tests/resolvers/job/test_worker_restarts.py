"""The worker goes on whatever happens to its connection."""

import asyncpg

from resolvers.payment.checkout import polling
from schema.checkout.checkout import ProductChoice
from store.database.db import dsn
from tests.fixtures.shop import Shop
from tests.resolvers.job.workers import working


async def test_it_goes_on_after_all_its_connections_were_cut(shop: Shop, database_url: str) -> None:
    async with working(shop.services, database_url):
        await shop.becomes("SELECT count(*) > 0 FROM pg_stat_activity WHERE query ILIKE 'LISTEN%'", True)
        breaker = await asyncpg.connect(dsn(database_url))
        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ILIKE 'LISTEN%'"
        assert await breaker.fetch(cut)
        await breaker.close()
        key, seen = await shop.ready(ProductChoice((await shop.product()).id, 1))
        started = await shop.start(key, seen)
        await shop.pay(started)
        assert await polling.enqueue_missed_events(shop.services) > 0
        await shop.becomes("SELECT count(*) FROM shop_order", 1)

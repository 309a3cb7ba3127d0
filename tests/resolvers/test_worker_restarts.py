"""The worker goes on whatever happens to its connection."""

import asyncio
import contextlib

import asyncpg

from resolvers import attempt_watch, worker
from schema.checkout import Choice
from tests.resolvers.test_worker import until
from tests.shop_world import Shop


async def test_it_goes_on_after_all_its_connections_were_cut(shop: Shop, database_url: str) -> None:
    dsn = "postgresql://" + database_url.partition("://")[2]
    task = asyncio.create_task(worker.work(shop.services, dsn))
    try:
        await until(shop, "SELECT count(*) > 0 FROM pg_stat_activity WHERE query ILIKE 'LISTEN%'", True)
        breaker = await asyncpg.connect(dsn)
        cut = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query ILIKE 'LISTEN%'"
        assert await breaker.fetch(cut)
        await breaker.close()
        key, seen = await shop.ready(Choice((await shop.product()).id, 1))
        started = await shop.start(key, seen)
        await shop.pay(started)
        assert await attempt_watch.catch_up(shop.services) > 0
        await until(shop, "SELECT count(*) FROM shop_order", 1)
    finally:
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

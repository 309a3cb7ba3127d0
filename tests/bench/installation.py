"""What is measured: the real application on a real PostgreSQL and a real Redis, with a shop in it."""

import contextlib
import pathlib
import shutil
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass

import asyncpg
from redis.asyncio import Redis
from starlette.applications import Starlette

from coffret.app import create_app
from coffret.demo.seed import DemoData, seed
from coffret.demo.users import PARTNER_USERS
from coffret.services import dsn_of
from resolvers.account.administration import create_token
from store.core.clock import clock
from store.core.settings import DeploymentEnvironment, Settings
from store.core.settings.provider import ProviderName
from store.database.db import Database
from store.migrations.migrate import migrate
from tests.bench import connection
from tests.bench.floors import CONNECTIONS, Means
from tests.servers.redis_servers import RedisServer


@dataclass(frozen=True)
class Installation:
    """An application with the demo shop in it, and what the floors work with."""

    app: Starlette
    settings: Settings
    means: Means
    shop: DemoData
    tokens: tuple[str, ...]
    """Of a user of each partner."""
    partner_with_many: int
    """The id of the second partner, which has more products than fit on a page."""

    def headers(self, partner: int = 0) -> dict[str, str]:
        """What the shop of the first or the second partner sends with each request."""
        return {"authorization": f"Token {self.tokens[partner]}"}


@contextlib.contextmanager
def redis_server(folder: pathlib.Path) -> Iterator[str]:
    """The address of a Redis server that is there while the block runs; empty where none is installed."""
    if shutil.which("redis-server") is None:
        yield ""
        return
    server = RedisServer(folder)
    server.start()
    try:
        yield server.url
    finally:
        server.kill()


@contextlib.asynccontextmanager
async def open_installation(database_url: str, redis_url: str, folder: pathlib.Path) -> AsyncIterator[Installation]:
    """The application in this process, over an empty database that gets the demo data."""
    settings = Settings(
        environment=DeploymentEnvironment.DEVELOPMENT,
        provider=ProviderName.SANDBOX,
        database_url=database_url,
        redis_url=redis_url,
        data_dir=folder,
        funnel_scheme="http",
        demo=False,
        rate_limit="30000/second",  # counted like any, and never too many
        rate_limit_anonymous="30000/second",
    )
    app = create_app(settings, run_background=False)
    async with contextlib.AsyncExitStack() as stack:
        await _migrate(settings)
        await stack.enter_async_context(app.router.lifespan_context(app))
        container = app.state.container
        shop = await seed(container.services.db, settings, clock, container.sandbox)
        assert shop is not None
        async with container.services.db.sessions() as session, session.begin():
            tokens = [(await create_token(session, name, "bench", clock))[1] for name in PARTNER_USERS]
        partner_with_many = await connection.lay(container.services.db, shop.site_domains[1])
        pool = await stack.enter_async_context(
            asyncpg.create_pool(dsn_of(settings), min_size=CONNECTIONS, max_size=CONNECTIONS)
        )
        redis = Redis.from_url(redis_url) if redis_url else None
        if redis is not None:
            stack.push_async_callback(redis.aclose)
        yield Installation(app, settings, Means(pool, redis), shop, tuple(tokens), partner_with_many)


async def _migrate(settings: Settings) -> None:
    db = Database(settings.database_url)
    try:
        await migrate(db)
    finally:
        await db.aclose()

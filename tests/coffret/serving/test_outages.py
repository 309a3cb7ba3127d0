"""The database or Redis goes away under load, and comes back: clear answers meanwhile, nothing lost or doubled after."""

import asyncio
import contextlib
import datetime as dt
import functools
import itertools
import logging
import pathlib
import tempfile
import time
import uuid
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import asyncpg
import httpx
import pytest
import structlog
from prometheus_client import REGISTRY
from sqlalchemy import text

from coffret.services import hook_secret
from schema.core.errors import OutcomeUnknown, Unavailable
from store.core.settings import Settings
from store.database.db import Database
from store.database.embedded_postgres import EmbeddedPostgres
from store.migrations.migrate import migrate
from tests.coffret.conftest import running
from tests.coffret.http.test_metrics import token_of
from tests.fixtures.shop import Shop, open_shop
from tests.servers.redis_servers import RedisServer

CREATE = """
mutation ($input: CreateProductInput!) { createProduct(input: $input) { product { id } userErrors { code message } } }
"""
CART = "/api/v2/ecommerce/cart/"
LINES = 60
"""How many lines of the log an outage of some seconds may take, however many requests it fails."""


@dataclass
class Load:
    """Clients that ask without a pause, and what they were answered."""

    client: httpx.AsyncClient
    statuses: Counter[tuple[str, int]] = field(default_factory=Counter)
    stopped: bool = False

    async def repeat(self, name: str, ask: Callable[[], Awaitable[httpx.Response]]) -> None:
        """Ask again and again."""
        while not self.stopped:
            self.note(name, await ask())
            await asyncio.sleep(0.01)

    def note(self, name: str, response: httpx.Response) -> None:
        """Each answer is a good one, or says clearly that something is away."""
        self.statuses[name, response.status_code] += 1
        if response.status_code == 503:
            assert int(response.headers["retry-after"]) > 0, name
            if name != "page":
                assert set(codes(response)) <= {"unavailable", "outcome_unknown"}, response.text
        else:
            assert response.status_code < 400, (name, response.status_code, response.text)

    async def good(self, *names: str, more_than: Counter[tuple[str, int]] | None = None) -> None:
        """Wait until each of these was answered well, `more_than` so often."""
        before = more_than or Counter()
        async with asyncio.timeout(60):
            while any(self.count(name) <= before[name, 200] + before[name, 201] for name in names):
                await asyncio.sleep(0.05)

    def count(self, name: str) -> int:
        """How often it was answered well."""
        return self.statuses[name, 200] + self.statuses[name, 201]

    async def until_done(self, name: str, ask: Callable[[], Awaitable[httpx.Response]]) -> dict[str, Any]:
        """Send the same request until it is done, as clients are told to."""
        while True:
            response = await ask()
            if response.status_code == 409:  # the first of them is still known to run
                assert "retry-after" in response.headers
            else:
                self.note(name, response)
            if response.status_code in {200, 201}:
                body: dict[str, Any] = response.json()
                return body
            await asyncio.sleep(0.2)


def codes(response: httpx.Response) -> list[str]:
    body = response.json()
    return [e["extensions"]["code"].lower() for e in body["errors"]] if "errors" in body else [body["code"]]


@contextlib.contextmanager
def lines_logged() -> Any:
    """All lines of the log, those of libraries included."""
    lines: list[str] = []

    class Keep(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            lines.append(record.getMessage())

    handler = Keep()
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        with structlog.testing.capture_logs() as captured:
            yield lambda: [*lines, *(f"{line['log_level']} {line['event']}" for line in captured)]
    finally:
        root.removeHandler(handler)


@pytest.fixture
async def own_postgres() -> AsyncIterator[EmbeddedPostgres]:
    """A database server that the test may stop and start again."""
    with tempfile.TemporaryDirectory(prefix="coffret-outage-", dir="/tmp", ignore_cleanup_errors=True) as folder:
        server = EmbeddedPostgres(pathlib.Path(folder), fast=True)
        yield server
        server.stop()


async def away_and_back(server: EmbeddedPostgres, seconds: float, meanwhile: Callable[[], Awaitable[None]]) -> None:
    await asyncio.to_thread(server.stop)
    begun = time.monotonic()
    await meanwhile()
    await asyncio.sleep(max(0.0, seconds - (time.monotonic() - begun)))
    await asyncio.to_thread(server.start)


async def test_the_database_goes_away_and_comes_back(own_postgres: EmbeddedPostgres, tmp_path: pathlib.Path) -> None:
    url = await asyncio.to_thread(own_postgres.start)
    db = Database(url)
    await migrate(db)
    await db.aclose()
    settings = Settings(
        database_url=url, data_dir=tmp_path, funnel_scheme="http", rate_limit="off", rate_limit_anonymous="off"
    )
    async with running(settings, run_background=True) as (app, client):
        shop = await open_shop(app.state.container.services, app.state.container.sandbox)
        await under_load(own_postgres, shop, client)


@dataclass
class Visitors:
    """Who asks a shop while its database goes away: each kind of request, answered as `Load` wants."""

    shop: Shop
    client: httpx.AsyncClient
    headers: Mapping[str, str]
    product: int
    load: Load
    created: list[int] = field(default_factory=list)
    """The products that were made."""

    @classmethod
    async def of(cls, shop: Shop, client: httpx.AsyncClient) -> "Visitors":
        """Those of a shop with one product."""
        return cls(shop, client, await token_of(shop), (await shop.product()).id, Load(client))

    @property
    def asks(self) -> dict[str, Callable[[], Awaitable[httpx.Response]]]:
        """What is asked again and again."""
        return {"look": self.look, "rest": self.permissions, "page": self.page}

    async def create(self) -> None:
        """Make products, one after another, each until it is made."""
        for number in itertools.takewhile(lambda _: not self.load.stopped, itertools.count(1)):
            body = {"query": CREATE, "variables": {"input": {"name": {"en": f"P{number}"}, "price": "1.00"}}}
            headers = {**self.headers, "Idempotency-Key": str(uuid.uuid4())}
            send = functools.partial(self.client.post, "/graphql/", json=body, headers=headers)
            done = await self.load.until_done("create", send)
            assert done["data"]["createProduct"] is not None, done
            assert done["data"]["createProduct"]["product"] is not None, done
            self.created.append(done["data"]["createProduct"]["product"]["id"])

    async def look(self) -> httpx.Response:
        """Look at the product."""
        query = f"{{ product(id: {self.product}) {{ id name {{ en }} }} }}"
        return await self.client.post("/graphql/", json={"query": query}, headers=self.headers)

    async def permissions(self) -> httpx.Response:
        """Ask what one may do."""
        return await self.client.get("/api/permissions/", headers=self.headers)

    async def page(self) -> httpx.Response:
        """Open a page of the shop: it says that it will be back, or that there is no cart."""
        asked = {"Host": "shop.localhost", "Accept-Language": "fr"}
        response = await self.client.get("/ecommerce/shop/customization/", headers=asked)
        if response.status_code == 503:
            assert "Nous revenons" in response.text
            return response
        assert response.status_code == 404
        return httpx.Response(200)

    async def all_is_told_without_many_words(self) -> None:
        """Meanwhile whoever watches is told, and the log is not flooded."""
        with lines_logged() as lines:
            ready = await self.client.get("/readyz")
            assert (ready.status_code, ready.json()["database"]) == (503, "unreachable")
            assert (await self.client.get("/healthz")).status_code == 200
            assert (await self.client.get(f"/media/{40 * 'a'}.png")).status_code == 503
            hook = hook_secret(self.shop.services.settings)
            query = "EventType=PAYIN_NORMAL_SUCCEEDED&RessourceId=1&Date=1"
            assert (await self.client.get(f"/provider/hooks/{hook}?{query}")).status_code == 503
            await asyncio.sleep(4)
            assert len(lines()) < LINES, "\n".join(lines())
            assert not [line for line in lines() if "failed" in line and "error" in line], "\n".join(lines())


async def until_ready(client: httpx.AsyncClient) -> None:
    """Wait until the application says that all it needs is there."""
    async with asyncio.timeout(60):
        while (await client.get("/readyz")).status_code != 200:
            await asyncio.sleep(0.1)


async def under_load(server: EmbeddedPostgres, shop: Shop, client: httpx.AsyncClient) -> None:
    visitors = await Visitors.of(shop, client)
    load, asks = visitors.load, visitors.asks
    tasks = [asyncio.create_task(visitors.create()) for _ in range(2)]
    tasks += [asyncio.create_task(load.repeat(name, ask)) for name, ask in asks.items()]
    try:
        await load.good("create", *asks)
        await away_and_back(server, 6, visitors.all_is_told_without_many_words)
        await until_ready(client)
        before = Counter(load.statuses)
        await asyncio.sleep(2)
        await load.good("create", *asks, more_than=before)  # without a restart
    finally:
        load.stopped = True
        await asyncio.gather(*tasks)
    for name in ("create", *asks):
        assert load.statuses[name, 503] > 0, load.statuses
        assert load.statuses[name, 503] == before[name, 503], "and nobody is turned away any more"
    rows = await shop.services.db.rows(text("SELECT id FROM product ORDER BY id"))
    assert [row[0] for row in rows] == sorted([visitors.product, *visitors.created]), "each was made once"


async def test_what_may_have_been_done_is_not_called_undone(database: Database, database_url: str) -> None:
    """The connection dies while COMMIT runs, which a trigger that waits makes long enough."""
    for statement in (
        "CREATE TABLE slow (id int)",
        "CREATE FUNCTION wait() RETURNS trigger LANGUAGE plpgsql AS $$BEGIN PERFORM pg_sleep(20); RETURN NULL; END$$",
        "CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON slow DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION wait()",
    ):
        await database.fetch(statement)

    async def write() -> None:
        async with database.sessions() as db, db.begin():
            await (await db.connection()).execute(text("INSERT INTO slow VALUES (1)"))

    async def cut(doing: str) -> None:
        breaker = await asyncpg.connect(database_url)
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND query LIKE $1"
        async with asyncio.timeout(10):
            while not await breaker.fetch(f"{ended} AND state = 'active' AND pid <> pg_backend_pid()", doing):
                await asyncio.sleep(0.02)
        await breaker.close()

    writing = asyncio.create_task(write())
    await cut("COMMIT%")
    with pytest.raises(OutcomeUnknown, match="may or may not have been done"):
        await writing

    async def read() -> None:
        async with database.sessions() as db, db.begin():
            await (await db.connection()).execute(text("SELECT pg_sleep(20)"))

    reading = asyncio.create_task(read())
    await cut("SELECT pg_sleep%")
    with pytest.raises(Unavailable) as told:
        await reading
    assert type(told.value) is Unavailable


@pytest.mark.parametrize("fault", ["SELECT 1/0", "SELECT nonsense", "SELECT pg_advisory_lock('x')"])
async def test_only_absence_is_called_so(database: Database, fault: str) -> None:
    with pytest.raises(Exception) as told:  # noqa: PT011 - whatever it is, it is not that
        await database.rows(text(fault))
    assert not isinstance(told.value, Unavailable)
    with pytest.raises(asyncpg.PostgresError):
        await database.fetch(fault)
    with pytest.raises(OSError, match="a file of ours"):
        async with database.sessions() as db, db.begin():
            raise FileNotFoundError("a file of ours")
    assert not isinstance(told.value, Unavailable)


async def test_who_waits_too_long_for_a_connection_is_told(database_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("store.database.db.POOL_TIMEOUT", 0.1)
    db = Database(database_url, pool_size=1, max_overflow=0)
    counted = partial(REGISTRY.get_sample_value, "coffret_unavailable_total", {"what": "database"})
    before = counted() or 0
    async with db.autocommit_engine.connect():
        for ask in (db.rows(text("SELECT 1")), db.fetch("SELECT 1")):
            with pytest.raises(Unavailable, match="The database"):
                await ask
        with pytest.raises(Unavailable):
            async with db.sessions() as session:
                await session.connection()
    assert counted() == before + 3
    assert len(await db.rows(text("SELECT 1"))) == 1
    await db.aclose()


@dataclass
class Fillers:
    """Who fills carts of one product while Redis stands still."""

    client: httpx.AsyncClient
    headers: Mapping[str, str]
    load: Load
    carts: dict[str, str] = field(default_factory=dict)
    """The ids of the carts, by the keys that they were sent with."""

    async def send(self, key: str) -> httpx.Response:
        """Send a cart with a key."""
        body = {"items": [{"product_id": 1, "quantity": 1}]}
        return await self.client.post(CART, json=body, headers={**self.headers, "Idempotency-Key": key})

    async def fill(self) -> None:
        """Fill carts, one after another, each until it is kept."""
        while not self.load.stopped:
            key = str(uuid.uuid4())
            self.carts[key] = (await self.load.until_done("cart", functools.partial(self.send, key)))["id"]
            await asyncio.sleep(0.02)

    async def permissions(self) -> httpx.Response:
        """Ask for what needs no cart."""
        return await self.client.get("/api/permissions/", headers=self.headers)


async def standing_still(server: RedisServer, client: httpx.AsyncClient) -> None:
    """Redis answers nobody for ten seconds: whoever watches is told, and the log is not flooded."""
    server.pause()
    with lines_logged() as lines:
        await asyncio.sleep(8)
        ready = await client.get("/readyz")
        assert (ready.status_code, ready.json()["redis"], ready.json()["database"]) == (503, "unreachable", "ok")
        await asyncio.sleep(2)
        assert len(lines()) < LINES, "\n".join(lines())
    server.resume()


@pytest.mark.redis
async def test_redis_stands_still_for_ten_seconds(
    app_settings: Settings, own_server: RedisServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("store.kv.clients.TIMEOUT", dt.timedelta(seconds=1))
    update = {"redis_url": own_server.url, "rate_limit": "off", "rate_limit_anonymous": "off"}
    async with running(app_settings.model_copy(update=update)) as (app, client):
        shop = await open_shop(app.state.container.services, app.state.container.sandbox)
        load = Load(client)
        fillers = Fillers(client, await token_of(shop), load)
        tasks = [asyncio.create_task(fillers.fill()) for _ in range(4)]
        tasks.append(asyncio.create_task(load.repeat("rest", fillers.permissions)))
        try:
            await load.good("cart", "rest")
            await standing_still(own_server, client)
            await until_ready(client)
            before = Counter(load.statuses)
            await asyncio.sleep(2)
            await load.good("cart", more_than=before)
        finally:
            own_server.resume()
            load.stopped = True
            await asyncio.gather(*tasks)
        assert load.statuses["cart", 503] > 0
        assert load.statuses["cart", 503] == before["cart", 503]
        assert load.statuses["rest", 503] == 0, "what needs no cart goes on"
        assert len(set(fillers.carts.values())) == len(fillers.carts)
        for key, cart_id in fillers.carts.items():
            again = await fillers.send(key)
            assert (again.json()["id"], again.headers["idempotent-replayed"]) == (cart_id, "true")

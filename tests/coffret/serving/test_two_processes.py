"""Two server processes on one database and one Redis: any of them may answer any request."""

import asyncio
import contextlib
import pathlib
import signal
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from coffret.sandbox import close
from coffret.services import open_container
from resolvers.account.tokens import issue_token
from schema.account.user import UserRole
from schema.checkout.checkout import ProductChoice
from store.account.users import UserRow
from store.core.clock import clock
from store.core.settings import Settings
from tests.fixtures.shop import Shop, open_shop, sandbox_and_provider
from tests.servers.coffret_programs import Program
from tests.servers.ports import free_port
from tests.servers.redis_servers import RedisServer

CART = "/api/v2/ecommerce/cart/"


class Pair:
    """Two servers, and a shop in what they share."""

    def __init__(self, programs: list[Program], shop: Shop, token: str) -> None:
        self.programs = programs
        self.shop = shop
        self.clients = [
            httpx.AsyncClient(
                base_url=f"http://127.0.0.1:{program.port}", headers={"Authorization": f"Token {token}"}, timeout=30
            )
            for program in programs
        ]


@pytest.fixture
async def pair(database_url: str, redis_server: RedisServer, tmp_path: pathlib.Path) -> AsyncIterator[Pair]:
    """Two `coffret serve` and this process, on one database, one Redis and one sandbox."""
    data = tmp_path / "data"
    data.mkdir()
    shared = {"DATABASE_URL": database_url, "REDIS_URL": redis_server.url, "COFFRET_HOOK_SECRET": "hook-secret"}
    async with contextlib.AsyncExitStack() as stack:
        programs = [Program(data, free_port(), **shared) for _ in range(2)]
        for program in programs:
            stack.callback(program.end, signal.SIGTERM)
        for program in programs:
            program.wait_until_ready()
        sandbox, provider = sandbox_and_provider(path=data / "sandbox.sqlite")
        stack.push_async_callback(close, sandbox)
        await provider.aclose()
        settings = Settings(database_url=database_url, redis_url=redis_server.url, data_dir=data)
        container = await stack.enter_async_context(open_container(settings, sandbox))
        shop = await open_shop(container.services, sandbox)
        async with container.services.db.sessions() as db, db.begin():
            user = UserRow(username="two@shop.localhost", role=UserRole.PARTNER, partner_id=shop.partner.id)
            db.add(user)
            await db.flush()
            token = await issue_token(db, user, "two", clock)
        both = Pair(programs, shop, token)
        for client in both.clients:
            stack.push_async_callback(client.aclose)
        yield both


@pytest.mark.redis
async def test_two_servers_are_one_service(pair: Pair) -> None:
    one, other = pair.clients
    made = (await one.post(CART, json={"items": [{"product_id": 1, "quantity": 2}]})).json()
    assert (await other.get(f"{CART}{made['id']}/")).json() == made
    await same_key_at_both(pair)
    await replaced_at_both(pair, made)
    await one_order_from_both(pair)


async def same_key_at_both(pair: Pair) -> None:
    """One Idempotency-Key at both servers at once makes one cart, answered byte for byte alike."""
    body: dict[str, Any] = {"items": [{"product_id": 7, "quantity": 1}]}
    headers = {"Idempotency-Key": "order-4711"}
    answers = await asyncio.gather(*(c.post(CART, json=body, headers=headers) for c in pair.clients * 10))
    assert {a.status_code for a in answers} == {201}
    assert len({a.content for a in answers}) == 1
    assert sum("idempotent-replayed" in a.headers for a in answers) == len(answers) - 1


async def replaced_at_both(pair: Pair, cart: dict[str, Any]) -> None:
    """Of replacements at both servers at once, the last one stands whole."""
    bodies = [{"id": cart["id"], "items": [{"product_id": n, "quantity": n}] * n} for n in range(1, 21)]
    answers = await asyncio.gather(*(pair.clients[n % 2].post(CART, json=body) for n, body in enumerate(bodies)))
    assert {a.status_code for a in answers} == {200}
    last = max((a.json() for a in answers), key=lambda cart: cart["last_modified"])
    assert (await pair.clients[0].get(f"{CART}{cart['id']}/")).json() == last


async def one_order_from_both(pair: Pair) -> None:
    """Notifications at both servers at once, whose workers share the queue, make one order."""
    shop = pair.shop
    key, seen = await shop.ready(ProductChoice((await shop.product(stock=1)).id, 1))
    started = await shop.start(key, seen)
    await shop.pay(started)
    payin = await shop.payin_of(started.attempt_id)
    hook = f"/provider/hooks/hook-secret?EventType=PAYIN_NORMAL_SUCCEEDED&RessourceId={payin}&Date=1"
    answers = await asyncio.gather(*(c.get(hook) for c in pair.clients * 10))
    assert {a.status_code for a in answers} == {200}
    async with asyncio.timeout(30):
        while await shop.count("shop_order") == 0 or await shop.count("pgqueuer") > 0:
            await asyncio.sleep(0.05)
    assert await shop.count("shop_order") == 1
    assert await shop.services.carts.get(shop.partner.id, key.cart_id) is None

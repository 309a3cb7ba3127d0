"""Time that one process moves has passed for every other: two servers, the command line, and this process."""

import asyncio
import signal

import httpx
import pytest

from schema.checkout.checkout import ProductChoice
from tests.coffret.serving.test_two_processes import CART, Pair, pair  # noqa: F401 - a fixture
from tests.servers.coffret_programs import Program
from tests.servers.ports import free_port

HOUR = 3600


async def ahead(client: httpx.AsyncClient) -> float:
    """How far a server's clock was moved, in seconds."""
    return float((await client.get("/_clock/")).json()["ahead"])


@pytest.mark.redis
async def test_time_moved_in_one_process_has_passed_in_all(pair: Pair) -> None:  # noqa: F811
    one, other = pair.clients
    shop = pair.shop
    cart = (await one.post(CART, json={"items": [{"product_id": 1, "quantity": 1}]})).json()
    product = await shop.product(stock=1)
    key, seen = await shop.ready(ProductChoice(product.id, 1))
    started = await shop.start(key, seen)  # and the customer never pays: one piece is held
    stock = "SELECT stock FROM product WHERE id = :id"
    assert await shop.one(stock, id=product.id) == 0
    assert (await other.get(f"{CART}{cart['id']}/")).status_code == 200

    assert (await one.post("/_clock/advance", json={"by": "3h"})).json()["ahead"] == 3 * HOUR
    await followed(other, 3 * HOUR)
    assert (await other.get(f"{CART}{cart['id']}/")).status_code == 404
    async with asyncio.timeout(30):
        while await shop.one(stock, id=product.id) == 0:  # given back by a schedule that was due within a minute
            await asyncio.sleep(0.1)
    state = await shop.one("SELECT state FROM checkout_attempt WHERE id = :id", id=started.attempt_id)
    assert state == "failed"
    await by_the_command_line(pair)


async def followed(client: httpx.AsyncClient, seconds: float) -> None:
    """Wait until a server's clock is so far ahead: within a second, and what a busy machine takes more."""
    async with asyncio.timeout(30):
        while await ahead(client) != seconds:
            await asyncio.sleep(0.05)


async def by_the_command_line(both: Pair) -> None:
    """The command moves running servers, and those that start later."""
    settings = both.shop.services.settings
    shared = {"DATABASE_URL": settings.database_url, "REDIS_URL": settings.redis_url}
    command = Program(settings.data_dir, 0, "advance", "1h", command="clock", **shared)
    assert await asyncio.to_thread(command.process.wait, 30) == 0, command.read_output()
    assert "4:00:00 ahead of the real time" in command.read_output()
    for client in both.clients:
        await followed(client, 4 * HOUR)
    third = Program(settings.data_dir, free_port(), **shared)
    try:
        await asyncio.to_thread(third.wait_until_ready)
        async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{third.port}") as client:
            assert await ahead(client) == 4 * HOUR
    finally:
        third.end(signal.SIGTERM)

"""Workers that are killed while they send: what they had in hand is sent again, under the same id, and nothing is lost."""

import asyncio
import contextlib
import sys

import pytest

from resolvers.webhook import delivery
from tests.fixtures.shop import Shop
from tests.fixtures.webhook import Hooks
from tests.servers.receivers import Receiver, answers, hangs

SENDER = """
import asyncio, sys
from resolvers.webhook import delivery
from store.database.db import Database
from store.kv import open_kv
from store.core.clock import clock
from tests.fixtures.shop import sandbox_and_provider, services_over
from tests.fixtures.webhook import HERE
import dataclasses

async def main(url, endpoint_id):
    _, provider = sandbox_and_provider()
    services = dataclasses.replace(services_over(Database(url), open_kv("", clock), provider), settings=HERE)
    while True:
        await delivery.deliver(services, endpoint_id)
        await asyncio.sleep(0.01)

asyncio.run(main(sys.argv[1], int(sys.argv[2])))
"""


@pytest.mark.parametrize("answered", [False, True])
async def test_a_killed_worker_loses_nothing(shop: Shop, database_url: str, receiver: Receiver, answered: bool) -> None:
    """Killed before the answer, or after it and before our note of it."""
    hooks = Hooks.of(shop)
    endpoint = await hooks.endpoint(receiver.url)
    keys = await hooks.tell(3)
    await hooks.sort()
    worker = await asyncio.create_subprocess_exec(sys.executable, "-c", SENDER, database_url, str(endpoint.id))

    async def kill_then_answer(writer: asyncio.StreamWriter) -> None:
        await answers(204)(writer)
        with contextlib.suppress(ProcessLookupError):
            worker.kill()

    receiver.script = [answers(204), kill_then_answer if answered else hangs]
    try:
        async with asyncio.timeout(60):
            while len(receiver.received) < 2:
                await asyncio.sleep(0.01)
    finally:
        with contextlib.suppress(ProcessLookupError):
            worker.kill()
        await worker.wait()
    await hooks.deliver(endpoint)
    assert len(receiver.received) == 2, "the dead worker's lease has not ended"
    await hooks.shop.execute("UPDATE webhook_endpoint SET leased_until = now() - interval '1 s'")
    assert await delivery.sweep(hooks.services) == 1
    await hooks.deliver(endpoint)
    assert await hooks.states(endpoint) == ["delivered"] * 3
    assert list(dict.fromkeys(receiver.ids)) == list(keys)
    assert len({(request.message_id, request.body) for request in receiver.received}) == 3
    assert len(receiver.received) == 4

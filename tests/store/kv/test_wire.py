"""The way to a store on a server: answers that are lost on it, and how often it is gone."""

import asyncio
from collections.abc import AsyncIterator, Awaitable

import pytest

from schema.cart.cart import Cart, CartItem
from store.cart.carts import Carts, IdempotentSave
from store.checkout.sessions import Sessions
from store.core.clock import clock
from store.core.session_ids import new_session_id
from store.kv import KeyValueStore, Record, WriteCondition, WriteMode
from tests.servers.redis_servers import RedisServer
from tests.store.kv.operations import KEY, LIFE, OPERATIONS, ProcessClock, an_answer, open_store

pytestmark = pytest.mark.redis


async def its_id(cart: Cart) -> bytes:
    """An answer that tells the id of a cart."""
    return cart.id.bytes


class Wire:
    """The way to a server, on which the answer to a command may be lost after the server carried it out."""

    def __init__(self, server_port: int) -> None:
        self.port = 0
        self.requests = 0
        self.lose_next = False
        self.server_port = server_port
        """Where new connections go."""

    async def carry(self, client: asyncio.StreamReader, answers: asyncio.StreamWriter) -> None:
        """Carry one connection."""
        server, requests = await asyncio.open_connection("127.0.0.1", self.server_port)
        try:
            while request := await client.read(65536):
                self.requests += 1
                requests.write(request)
                answer = await server.read(65536)
                if self.lose_next and b"EVALSHA" in request:
                    self.lose_next = False
                    return
                answers.write(answer)
        finally:
            requests.close()
            answers.close()


@pytest.fixture
async def wire(redis_server: RedisServer) -> AsyncIterator[Wire]:
    """A way to the shared server."""
    wire = Wire(redis_server.port)
    server = await asyncio.start_server(wire.carry, "127.0.0.1", 0)
    wire.port = server.sockets[0].getsockname()[1]
    yield wire
    server.close()
    await server.wait_closed()


@pytest.fixture
async def over_wire(wire: Wire, process_clock: ProcessClock) -> AsyncIterator[KeyValueStore]:
    """A store at the end of the wire, with its scripts known and its connection made."""
    async with open_store(f"redis://127.0.0.1:{wire.port}", process_clock) as kv:
        for name, operation in OPERATIONS.items():
            if name != "write once":
                await operation(kv)
        await kv.delete(KEY)
        yield kv


async def test_a_write_whose_answer_was_lost_took_place_once(
    wire: Wire, over_wire: KeyValueStore, process_clock: ProcessClock
) -> None:
    condition: WriteCondition = WriteMode.ABSENT
    for value in (b"absent", b"version"):
        wire.lose_next = True
        written = await over_wire.write(KEY, value, LIFE, when=condition)
        assert not wire.lose_next
        assert written is not None
        assert await over_wire.get(KEY) == Record(value, written.version)
        condition = written.version
    clock.advance(LIFE / 2)
    ahead = await over_wire.write(KEY, b"", LIFE)
    assert ahead is not None
    process_clock.behind = LIFE / 4
    wire.lose_next = True
    replaced = await over_wire.write(KEY, b"present", LIFE, when=WriteMode.PRESENT)
    assert replaced is not None
    assert replaced.version == ahead.version + 1
    assert await over_wire.get(KEY) == Record(b"present", replaced.version)


async def test_a_write_once_whose_answer_was_lost_took_place_once(wire: Wire, over_wire: KeyValueStore) -> None:
    carts = Carts(over_wire)
    wire.lose_next = True
    saved = await carts.create(7, [CartItem(1, 1)], "", idempotent=IdempotentSave(1, "k", b"f", its_id))
    assert not wire.lose_next
    assert saved.response == saved.cart.id.bytes
    assert await carts.get(7, saved.cart.id) == saved.cart


async def test_writes_follow_a_name_to_the_new_master(
    wire: Wire, over_wire: KeyValueStore, redis_server: RedisServer, own_server: RedisServer
) -> None:
    wire.server_port = own_server.port
    redis_server.tell("REPLICAOF", "127.0.0.1", 1)
    try:
        written = await over_wire.write(KEY, b"1", LIFE)
    finally:
        redis_server.tell("REPLICAOF", "NO", "ONE")
    assert written is not None
    assert await over_wire.get(KEY) == Record(b"1", written.version)
    assert own_server.tell("EXISTS", KEY) == 1


async def test_every_operation_is_one_round_trip(wire: Wire, over_wire: KeyValueStore) -> None:
    carts, sessions, session_id = Carts(over_wire), Sessions(over_wire), new_session_id()

    async def in_one_request(operation: Awaitable[object]) -> object:
        before = wire.requests
        result = await operation
        assert wire.requests == before + 1
        return result

    once = IdempotentSave(1, "k", b"f", an_answer)
    await in_one_request(carts.create(7, [], "", idempotent=once))
    await in_one_request(carts.create(7, [], "", idempotent=once))
    cart = (await carts.create(7, [CartItem(1, 1)] * 200, "https://shop.example/")).cart
    await in_one_request(carts.replace(7, cart.id, cart.items, ""))
    await asyncio.sleep(0.002)
    await in_one_request(carts.replace(7, cart.id, (), "", idempotent=IdempotentSave(1, "k2", b"f", an_answer)))
    await in_one_request(carts.get(7, cart.id))
    await in_one_request(carts.delete_if_unchanged(7, cart.id, 0))
    version = await in_one_request(sessions.save(7, session_id, b"{}"))
    assert isinstance(version, int)
    await in_one_request(sessions.load(7, session_id))
    await in_one_request(sessions.save(7, session_id, b"{}", version))
    await in_one_request(sessions.delete(7, session_id))

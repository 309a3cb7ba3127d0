"""What only a store on a server can get into: outages, lost answers, lost scripts, changed roles, addresses."""

import asyncio
import contextlib
import datetime as dt
from collections.abc import AsyncIterator, Awaitable, Callable
from urllib.parse import quote, urlsplit

import pytest

from schema.cart import Cart, CartItem
from schema.errors import Unavailable
from store.carts import Carts, Once, Saved
from store.clock import clock
from store.kv import Condition, Expired, Expiries, KeyValue, Record, When, open_kv
from store.kv import Once as Keep
from store.sessions import Sessions, new_session_id
from tests.redis_servers import ENGINES, RedisCluster, RedisServer, until

pytestmark = pytest.mark.redis

LIFE = dt.timedelta(hours=2)
KEY = "test:{p1}:record"


async def its_version(version: int) -> bytes:
    """An answer that tells the version."""
    return b"%d" % version


KEEP = Keep("test:{p1}:once", b"f", LIFE, its_version)
EXPIRIES = Expiries("test:{p1}:expiries", LIFE, LIFE, dt.timedelta(days=3))
OPERATIONS: dict[str, Callable[[KeyValue], Awaitable[object]]] = {
    "get": lambda kv: kv.get(KEY),
    "touch": lambda kv: kv.touch(KEY, LIFE),
    "write": lambda kv: kv.write(KEY, b"1", LIFE),
    "write if": lambda kv: kv.write(KEY, b"1", LIFE, when=When.PRESENT),
    "write once": lambda kv: kv.write(KEY, b"1", LIFE, once=KEEP),
    "write noted": lambda kv: kv.write(f"{KEY}:noted", b"1", LIFE, expiries=EXPIRIES),
    "expired": lambda kv: kv.expired(EXPIRIES, most=1),
    "cross off": lambda kv: kv.cross_off(EXPIRIES, [Expired(f"{KEY}:noted", 1, None)]),
    "delete": lambda kv: kv.delete(KEY),
    "increment": lambda kv: kv.increment(f"{KEY}:count", LIFE),
    "ping": lambda kv: kv.ping(),
}


@contextlib.asynccontextmanager
async def opened(url: str) -> AsyncIterator[KeyValue]:
    """A store at an address."""
    kv = open_kv(url, clock)
    try:
        yield kv
    finally:
        await kv.aclose()


@pytest.fixture
def nodes(kv_url: str, request: pytest.FixtureRequest) -> list[RedisServer]:
    """The servers behind `kv`."""
    return nodes_of(request.getfixturevalue("redis_cluster" if "+cluster" in kv_url else "redis_server"))


def nodes_of(shared: RedisServer | RedisCluster) -> list[RedisServer]:
    """The servers of a cluster, or the one there is."""
    return shared.nodes if isinstance(shared, RedisCluster) else [shared]


@pytest.fixture
def little_patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up soon, so that tests need not wait."""
    monkeypatch.setattr("store.kv.connect.PATIENCE", dt.timedelta(milliseconds=150))


async def refused(kv: KeyValue) -> None:
    """All operations must say that the store is out of reach."""
    for operation in OPERATIONS.values():
        with pytest.raises(Unavailable) as caught:
            await operation(kv)
        assert str(caught.value) == "The cart store cannot be reached at the moment. Try again shortly."


# ---- outages ----------------------------------------------------------------------------------------------------------


async def test_a_server_that_is_down_and_comes_back(own_server: RedisServer) -> None:
    async with opened(own_server.url) as kv:
        await asyncio.gather(*(kv.write(f"{KEY}:{n}", b"", LIFE) for n in range(20)))
        own_server.kill()
        await refused(kv)
        own_server.start()
        results = await asyncio.gather(*(kv.write(f"{KEY}:{n}", b"", LIFE, when=When.ABSENT) for n in range(20)))
        assert None not in results


async def test_a_server_that_was_never_there(own_server: RedisServer) -> None:
    own_server.kill()
    async with opened(own_server.url) as kv:
        await refused(kv)
    async with opened(f"redis+cluster://127.0.0.1:{own_server.port}") as kv:
        await refused(kv)
        own_server.start()
        with pytest.raises(Unavailable):
            await kv.ping()


@pytest.mark.usefixtures("little_patience")
async def test_a_server_that_hangs(own_server: RedisServer) -> None:
    async with opened(own_server.url) as kv:
        for name in "ab":
            await kv.write(f"{KEY}:{name}", name.encode(), LIFE)
        own_server.pause()
        async with asyncio.timeout(60):  # nobody waits for the turn of a thousand others
            results = await asyncio.gather(*(kv.get(f"{KEY}:a") for _ in range(1000)), return_exceptions=True)
        assert {type(result) for result in results} == {Unavailable}
        own_server.resume()
        for name in "ab" * 100:
            record = await kv.get(f"{KEY}:{name}")
            assert record is not None
            assert record.value == name.encode()


async def test_a_caller_that_leaves_does_not_mix_up_answers(redis_server: RedisServer) -> None:
    async with opened(redis_server.url) as kv:
        for name in "ab":
            await kv.write(f"{KEY}:{name}", name.encode(), LIFE)
        for wait in range(50):
            left = asyncio.create_task(kv.get(f"{KEY}:a"))
            await asyncio.sleep(wait / 100_000)
            left.cancel()
            record = await kv.get(f"{KEY}:b")
            assert record is not None
            assert record.value == b"b"
            with contextlib.suppress(asyncio.CancelledError):
                await left


async def test_more_callers_than_connections(redis_server: RedisServer) -> None:
    async with opened(redis_server.url) as kv:
        counts = await asyncio.gather(*(kv.increment(KEY, LIFE) for _ in range(500)))
    assert sorted(count.times for count in counts) == list(range(1, 501))


async def test_a_server_that_became_a_replica(own_server: RedisServer) -> None:
    async with opened(own_server.url) as kv:
        await kv.write(KEY, b"1", LIFE)
        own_server.tell("REPLICAOF", "127.0.0.1", 1)
        for name in ("write", "write if", "write once", "write noted", "touch", "delete", "increment"):
            with pytest.raises(Unavailable):
                await OPERATIONS[name](kv)
        own_server.tell("REPLICAOF", "NO", "ONE")
        for operation in OPERATIONS.values():
            await operation(kv)


async def test_a_server_whose_memory_is_full(own_server: RedisServer) -> None:
    async with opened(own_server.url) as kv:
        written = await kv.write(KEY, b"1", LIFE)
        assert written is not None
        own_server.tell("CONFIG", "SET", "maxmemory", 1)
        for when in (When.ALWAYS, When.PRESENT):
            with pytest.raises(Unavailable):
                await kv.write(KEY, b"2", LIFE, when=when)
        assert await kv.get(KEY) == Record(b"1", written.version)


async def test_a_cluster_whose_master_dies(own_cluster: RedisCluster) -> None:
    master, replica = own_cluster.nodes
    async with opened(own_cluster.url) as kv:
        carts = Carts(kv)
        saved = await carts.create(7, [CartItem(1, 1)], "")
        until(lambda: master.tell("WAIT", 1, 1000) == 1)
        master.kill()
        results = await asyncio.gather(*(carts.get(7, saved.cart.id) for _ in range(50)), return_exceptions=True)
        assert {type(result) for result in results} == {Unavailable}
        replica.tell("CLUSTER", "FAILOVER", "TAKEOVER")
        until(lambda: replica.tell("ROLE")[0] == b"master")
        for _ in range(100):
            replaced = await asyncio.gather(
                *(carts.replace(7, saved.cart.id, [CartItem(2, 2)], "") for _ in range(50)), return_exceptions=True
            )
            unexpected = [result for result in replaced if not isinstance(result, Saved)]
            assert {type(result) for result in unexpected} <= {Unavailable}
            if not unexpected:
                break
            await asyncio.sleep(0.1)
        assert not unexpected
        cart = await carts.get(7, saved.cart.id)
        assert cart is not None
        assert cart.items == (CartItem(2, 2),)


async def test_a_cluster_that_changes_masters_under_load(own_cluster: RedisCluster) -> None:
    replica = own_cluster.nodes[1]
    async with opened(own_cluster.url) as kv:
        first = await kv.write(KEY, b"0", LIFE)
        assert first is not None
        versions: list[int] = []

        async def keep_writing() -> None:
            for _ in range(500):
                written = await kv.write(KEY, b"1", LIFE, when=When.PRESENT)
                assert written is not None
                versions.append(written.version)

        writing = asyncio.gather(*(keep_writing() for _ in range(10)))
        await asyncio.sleep(0.1)
        assert versions
        replica.tell("CLUSTER", "FAILOVER")
        await writing
        assert replica.tell("ROLE")[0] == b"master"
        assert len(set(versions)) == len(versions) == 5000
        assert await kv.get(KEY) == Record(b"1", max(versions))


@pytest.mark.parametrize("kv_url", ENGINES[1:], indirect=True)
async def test_scripts_that_a_server_forgot(kv: KeyValue, nodes: list[RedisServer]) -> None:
    await kv.write(KEY, b"1", LIFE)
    for name, operation in OPERATIONS.items():
        for node in nodes:
            node.tell("SCRIPT", "FLUSH")
        assert await operation(kv) is not None or name in {"ping", "cross off"}


async def its_id(cart: Cart) -> bytes:
    """An answer that tells the id of a cart."""
    return cart.id.bytes


async def an_answer(_cart: Cart) -> bytes:
    """An answer that is always the same."""
    return b"answer"


# ---- lost answers -----------------------------------------------------------------------------------------------------


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
async def over_wire(wire: Wire) -> AsyncIterator[KeyValue]:
    """A store at the end of the wire, with its scripts known and its connection made."""
    async with opened(f"redis://127.0.0.1:{wire.port}") as kv:
        for name, operation in OPERATIONS.items():
            if name != "write once":
                await operation(kv)
        await kv.delete(KEY)
        yield kv


async def test_a_write_whose_answer_was_lost_took_place_once(wire: Wire, over_wire: KeyValue) -> None:
    condition: Condition = When.ABSENT
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
    clock._ahead -= LIFE / 4
    wire.lose_next = True
    replaced = await over_wire.write(KEY, b"present", LIFE, when=When.PRESENT)
    assert replaced is not None
    assert replaced.version == ahead.version + 1
    assert await over_wire.get(KEY) == Record(b"present", replaced.version)


async def test_a_write_once_whose_answer_was_lost_took_place_once(wire: Wire, over_wire: KeyValue) -> None:
    carts = Carts(over_wire)
    wire.lose_next = True
    saved = await carts.create(7, [CartItem(1, 1)], "", once=Once(1, "k", b"f", its_id))
    assert not wire.lose_next
    assert saved.answer == saved.cart.id.bytes
    assert await carts.get(7, saved.cart.id) == saved.cart


async def test_writes_follow_a_name_to_the_new_master(
    wire: Wire, over_wire: KeyValue, redis_server: RedisServer, own_server: RedisServer
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


async def test_every_operation_is_one_round_trip(wire: Wire, over_wire: KeyValue) -> None:
    carts, sessions, session_id = Carts(over_wire), Sessions(over_wire), new_session_id()

    async def sent(operation: Awaitable[object]) -> object:
        before = wire.requests
        result = await operation
        assert wire.requests == before + 1
        return result

    once = Once(1, "k", b"f", an_answer)
    await sent(carts.create(7, [], "", once=once))
    await sent(carts.create(7, [], "", once=once))
    cart = (await carts.create(7, [CartItem(1, 1)] * 200, "https://shop.example/")).cart
    await sent(carts.replace(7, cart.id, cart.items, ""))
    await asyncio.sleep(0.002)
    await sent(carts.replace(7, cart.id, (), "", once=Once(1, "k2", b"f", an_answer)))
    await sent(carts.get(7, cart.id))
    await sent(carts.delete_if_unchanged(7, cart.id, 0))
    version = await sent(sessions.save(7, session_id, b"{}"))
    assert isinstance(version, int)
    await sent(sessions.load(7, session_id))
    await sent(sessions.save(7, session_id, b"{}", version))
    await sent(sessions.delete(7, session_id))


# ---- what the server is left with -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kv_url", ENGINES[1:], indirect=True)
async def test_no_key_stays_for_ever(kv: KeyValue, nodes: list[RedisServer]) -> None:
    for operation in OPERATIONS.values():
        await operation(kv)
        await operation(kv)
    cart = (await Carts(kv).create(7, [], "", once=Once(1, "k", b"f", an_answer))).cart
    await Carts(kv).replace(7, cart.id, [], "")
    session_id = new_session_id()
    await Sessions(kv).save(7, session_id, b"{}")
    await Sessions(kv).load(7, session_id)
    ttls = {key: node.tell("PTTL", key) for node in nodes for key in node.tell("KEYS", "*")}
    assert sorted(round(ttl / 1_800_000) / 2 for ttl in ttls.values()) == [2, 2, 2.5, 4, 24, 24, 72, 72]


@pytest.mark.parametrize("kv_url", ENGINES[1:2], indirect=True)
async def test_a_longer_life_reaches_the_server(kv: KeyValue, redis_server: RedisServer) -> None:
    await kv.write(KEY, b"1", LIFE)
    await kv.touch(KEY, 2 * LIFE)
    assert 3 * 3600 * 1000 < redis_server.tell("PTTL", KEY) <= 4 * 3600 * 1000


# ---- addresses --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("url", ["localhost:6379", "http://localhost", "redis://", "redis+cluster://", "cluster://a:1"])
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(ValueError, match=r"REDIS_URL is redis://.*redis\+cluster://"):
        open_kv(url, clock)


def test_a_port_that_is_none() -> None:
    with pytest.raises(ValueError, match=r"[Pp]ort"):
        open_kv("redis+cluster://a:1,b:x", clock)


@pytest.mark.parametrize("engine", ["server", "cluster"])
async def test_an_address_with_a_password(engine: str, request: pytest.FixtureRequest) -> None:
    shared: RedisServer | RedisCluster = request.getfixturevalue(f"redis_{engine}")
    password = "s/e@c:r,e?t"
    for node in nodes_of(shared):
        node.tell("ACL", "SETUSER", "shop", "on", f">{password}", "~*", "+@all")
    scheme, _, rest = shared.url.partition("://")
    async with opened(f"{scheme}://shop:{quote(password, safe='')}@{rest}") as kv:
        written = await kv.write(KEY, b"1", LIFE)
        assert written is not None
        assert await kv.get(KEY) == Record(b"1", written.version)
    async with opened(f"{scheme}://shop:wrong@{rest}") as kv:
        await refused(kv)


async def test_one_node_of_a_cluster_is_enough(redis_cluster: RedisCluster) -> None:
    for number, node in enumerate(redis_cluster.nodes):
        async with opened(f"redis+cluster://{urlsplit(node.url).netloc}/0?socket_timeout=2") as kv:
            for partner in range(10):
                assert await kv.write(f"test:{{p{partner}}}:{number}", b"", LIFE, when=When.ABSENT)
    counts = [node.tell("DBSIZE") for node in redis_cluster.nodes]
    assert sum(counts) == 30
    assert all(counts)

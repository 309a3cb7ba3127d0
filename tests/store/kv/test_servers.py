"""What only a store on a server can get into: outages, lost scripts, changed roles, addresses."""

import asyncio
import contextlib
import datetime as dt
from urllib.parse import quote, urlsplit

import pytest

from schema.cart.cart import CartItem
from schema.core.errors import Unavailable
from store.cart.carts import Carts, IdempotentSave, SavedCart
from store.checkout.sessions import Sessions
from store.core.clock import clock
from store.core.session_ids import new_session_id
from store.kv import KeyValueStore, Record, WriteMode, open_kv
from tests.servers.redis_servers import ENGINES, RedisCluster, RedisServer, until
from tests.store.kv.operations import KEY, LIFE, OPERATIONS, an_answer, open_store

pytestmark = pytest.mark.redis


@pytest.fixture
def nodes(kv_url: str, request: pytest.FixtureRequest) -> list[RedisServer]:
    """The servers behind `kv`."""
    return nodes_of(request.getfixturevalue("redis_cluster" if "+cluster" in kv_url else "redis_server"))


def nodes_of(shared: RedisServer | RedisCluster) -> list[RedisServer]:
    """The servers of a cluster, or the one there is."""
    return shared.nodes if isinstance(shared, RedisCluster) else [shared]


@pytest.fixture
def short_timeout(monkeypatch: pytest.MonkeyPatch) -> None:
    """Give up soon, so that tests need not wait."""
    monkeypatch.setattr("store.kv.clients.TIMEOUT", dt.timedelta(milliseconds=150))


async def assert_unavailable(kv: KeyValueStore) -> None:
    """All operations must say that the store is out of reach."""
    for operation in OPERATIONS.values():
        with pytest.raises(Unavailable) as caught:
            await operation(kv)
        assert str(caught.value) == "The cart store cannot be reached at the moment. Try again shortly."


# ---- outages ----------------------------------------------------------------------------------------------------------


async def test_a_server_that_is_down_and_comes_back(own_server: RedisServer) -> None:
    async with open_store(own_server.url) as kv:
        await asyncio.gather(*(kv.write(f"{KEY}:{n}", b"", LIFE) for n in range(20)))
        own_server.kill()
        await assert_unavailable(kv)
        own_server.start()
        results = await asyncio.gather(*(kv.write(f"{KEY}:{n}", b"", LIFE, when=WriteMode.ABSENT) for n in range(20)))
        assert None not in results


async def test_a_server_that_was_never_there(own_server: RedisServer) -> None:
    own_server.kill()
    async with open_store(own_server.url) as kv:
        await assert_unavailable(kv)
    async with open_store(f"redis+cluster://127.0.0.1:{own_server.port}") as kv:
        await assert_unavailable(kv)
        own_server.start()
        with pytest.raises(Unavailable):
            await kv.ping()


@pytest.mark.usefixtures("short_timeout")
async def test_a_server_that_hangs(own_server: RedisServer) -> None:
    async with open_store(own_server.url) as kv:
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
    async with open_store(redis_server.url) as kv:
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
    async with open_store(redis_server.url) as kv:
        counts = await asyncio.gather(*(kv.increment(KEY, LIFE) for _ in range(500)))
    assert sorted(count.times for count in counts) == list(range(1, 501))


async def test_a_server_that_became_a_replica(own_server: RedisServer) -> None:
    async with open_store(own_server.url) as kv:
        await kv.write(KEY, b"1", LIFE)
        own_server.tell("REPLICAOF", "127.0.0.1", 1)
        for name in ("write", "write if", "write once", "write noted", "touch", "delete", "increment"):
            with pytest.raises(Unavailable):
                await OPERATIONS[name](kv)
        own_server.tell("REPLICAOF", "NO", "ONE")
        for operation in OPERATIONS.values():
            await operation(kv)


async def test_a_server_whose_memory_is_full(own_server: RedisServer) -> None:
    async with open_store(own_server.url) as kv:
        written = await kv.write(KEY, b"1", LIFE)
        assert written is not None
        own_server.tell("CONFIG", "SET", "maxmemory", 1)
        for when in (WriteMode.ALWAYS, WriteMode.PRESENT):
            with pytest.raises(Unavailable):
                await kv.write(KEY, b"2", LIFE, when=when)
        assert await kv.get(KEY) == Record(b"1", written.version)


async def test_a_cluster_whose_master_dies(own_cluster: RedisCluster) -> None:
    master, replica = own_cluster.nodes
    async with open_store(own_cluster.url) as kv:
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
            unexpected = [result for result in replaced if not isinstance(result, SavedCart)]
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
    async with open_store(own_cluster.url) as kv:
        first = await kv.write(KEY, b"0", LIFE)
        assert first is not None
        versions: list[int] = []

        async def keep_writing() -> None:
            for _ in range(500):
                written = await kv.write(KEY, b"1", LIFE, when=WriteMode.PRESENT)
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
async def test_scripts_that_a_server_forgot(kv: KeyValueStore, nodes: list[RedisServer]) -> None:
    await kv.write(KEY, b"1", LIFE)
    for name, operation in OPERATIONS.items():
        for node in nodes:
            node.tell("SCRIPT", "FLUSH")
        assert await operation(kv) is not None or name in {"ping", "cross off"}


# ---- what the server is left with -------------------------------------------------------------------------------------


@pytest.mark.parametrize("kv_url", ENGINES[1:], indirect=True)
async def test_no_key_stays_for_ever(kv: KeyValueStore, nodes: list[RedisServer]) -> None:
    for operation in OPERATIONS.values():
        await operation(kv)
        await operation(kv)
    cart = (await Carts(kv).create(7, [], "", idempotent=IdempotentSave(1, "k", b"f", an_answer))).cart
    await Carts(kv).replace(7, cart.id, [], "")
    session_id = new_session_id()
    await Sessions(kv).save(7, session_id, b"{}")
    await Sessions(kv).load(7, session_id)
    ttls = {key: node.tell("PTTL", key) for node in nodes for key in node.tell("KEYS", "*")}
    assert sorted(round(ttl / 1_800_000) / 2 for ttl in ttls.values()) == [2, 2, 2, 2.5, 4, 24, 24, 72, 72]


@pytest.mark.parametrize("kv_url", ENGINES[1:2], indirect=True)
async def test_a_longer_life_reaches_the_server(kv: KeyValueStore, redis_server: RedisServer) -> None:
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
    async with open_store(f"{scheme}://shop:{quote(password, safe='')}@{rest}") as kv:
        written = await kv.write(KEY, b"1", LIFE)
        assert written is not None
        assert await kv.get(KEY) == Record(b"1", written.version)
    async with open_store(f"{scheme}://shop:wrong@{rest}") as kv:
        await assert_unavailable(kv)


async def test_one_node_of_a_cluster_is_enough(redis_cluster: RedisCluster) -> None:
    for number, node in enumerate(redis_cluster.nodes):
        async with open_store(f"redis+cluster://{urlsplit(node.url).netloc}/0?socket_timeout=2") as kv:
            for partner in range(10):
                assert await kv.write(f"test:{{p{partner}}}:{number}", b"", LIFE, when=WriteMode.ABSENT)
    counts = [node.tell("DBSIZE") for node in redis_cluster.nodes]
    assert sum(counts) == 30
    assert all(counts)

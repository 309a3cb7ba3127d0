"""Real Redis servers and clusters for tests, on free ports, gone when the tests end."""

import contextlib
import math
import pathlib
import shutil
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Any

import pytest
import redis
from redis.backoff import NoBackoff
from redis.retry import Retry

from store.core.clock import clock
from store.kv import KeyValueStore, open_kv
from tests.servers.ports import free_port
from tests.servers.programs import needed

SLOTS = 16_384
STARTS_WITHIN = 180.0
MEETS_AGAIN_AFTER = 2.0
CLUSTERED = ["--cluster-enabled", "yes", "--repl-diskless-sync-delay", "0", "--repl-ping-replica-period", "1"]


class RedisServer:
    """One `redis-server` process, which a test may kill, pause and start again."""

    def __init__(self, folder: pathlib.Path, *options: str) -> None:
        self.port = free_port()
        self._folder = folder / str(self.port)
        self._folder.mkdir(parents=True)
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def url(self) -> str:
        """Its address."""
        return f"redis://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start and wait until it answers. RuntimeError, with its log, when it ends instead."""
        with (self._folder / "log").open("ab") as log:
            self._process = subprocess.Popen(
                ["redis-server", "--port", str(self.port), "--bind", "127.0.0.1", "--save", "", *self._options],
                cwd=self._folder,
                stdout=log,
                stderr=log,
            )
        until(self._answers, redis.ConnectionError)

    def kill(self) -> None:
        """End it at once, as a crash would."""
        if self._process:
            self._process.kill()
            self._process.wait()
            self._process = None

    def pause(self) -> None:
        """Keep its connections but answer nothing."""
        self._signal(signal.SIGSTOP)

    def resume(self) -> None:
        """Go on after `pause`."""
        self._signal(signal.SIGCONT)

    def tell(self, *command: str | bytes | int) -> Any:
        """Send a command on a connection of its own, and return the answer."""
        with redis.Redis(port=self.port, retry=Retry(NoBackoff(), 0)) as client:
            return client.execute_command(*command)

    def _answers(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise RuntimeError((self._folder / "log").read_text())
        answering: int = self.tell("INFO", "server")["process_id"]
        return answering == self._process.pid

    def _signal(self, number: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(number)


class RedisCluster:
    """A Redis Cluster of processes on this machine."""

    def __init__(self, folder: pathlib.Path, *options: str, masters: int, replicas: int = 0) -> None:
        self._buses = [free_port() for _ in range(masters + replicas)]
        self.nodes = [RedisServer(folder, *CLUSTERED, *options, "--cluster-port", str(bus)) for bus in self._buses]
        self._masters = masters

    @property
    def url(self) -> str:
        """Its address, of which all nodes are part."""
        return "redis+cluster://" + ",".join(f"127.0.0.1:{node.port}" for node in self.nodes)

    def start(self) -> None:
        """Start the nodes, share the slots out and wait until all agree."""
        for node in self.nodes:
            node.start()
        self.share_slots()
        self.meet()
        for node in self.nodes[self._masters :]:
            node.tell("CLUSTER", "REPLICATE", self.nodes[0].tell("CLUSTER", "MYID"))
        until(lambda: all(self._lists_all(node) for node in self.nodes))

    def share_slots(self) -> None:
        """Give each master its part of the slots."""
        for number, node in enumerate(self.nodes[: self._masters]):
            node.tell("CLUSTER", "SET-CONFIG-EPOCH", number + 1)
            start, end = number * SLOTS // self._masters, (number + 1) * SLOTS // self._masters - 1
            node.tell("CLUSTER", "ADDSLOTSRANGE", start, end)

    def meet(self) -> None:
        """Introduce all nodes to the first, until each knows all.

        A node forgets an introduction that is not answered within its timeout, so it is repeated.
        """
        first, bus = self.nodes[0], self._buses[0]
        introduced = -math.inf

        def met() -> bool:
            nonlocal introduced
            if time.monotonic() - introduced >= MEETS_AGAIN_AFTER:
                for node in self.nodes[1:]:
                    node.tell("CLUSTER", "MEET", "127.0.0.1", first.port, bus)
                introduced = time.monotonic()
            return all(self._knows_all(node) for node in self.nodes)

        until(met)

    def kill(self) -> None:
        """End all nodes."""
        for node in self.nodes:
            node.kill()

    def _knows_all(self, node: RedisServer) -> bool:
        info: list[bytes] = node.tell("CLUSTER", "INFO").split()
        wanted = f"cluster_known_nodes:{len(self.nodes)}", f"cluster_size:{self._masters}", "cluster_state:ok"
        return all(fact.encode() in info for fact in wanted)

    def _lists_all(self, node: RedisServer) -> bool:
        listed = [node for _, _, *nodes in node.tell("CLUSTER", "SLOTS") for node in nodes]
        role = node.tell("ROLE")
        return len(listed) == len(self.nodes) and (role[0] == b"master" or role[3] == b"connected")


def until(true: Callable[[], bool], *passing: type[Exception]) -> None:
    """Wait until something is so; some exceptions mean that it is not so yet."""
    deadline = time.monotonic() + STARTS_WITHIN
    while time.monotonic() < deadline:
        with contextlib.suppress(*passing):
            if true():
                return
        time.sleep(0.02)
    raise TimeoutError(f"Not so within {STARTS_WITHIN} s.")


@pytest.fixture(scope="session")
def redis_folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Where servers may be started; a test that asks for it is skipped where there is no `redis-server`."""
    needed(shutil.which("redis-server"), "redis-server")
    return tmp_path_factory.mktemp("redis")


@pytest.fixture(scope="session")
def shared_server(redis_folder: pathlib.Path) -> Iterator[RedisServer]:
    """A server for all tests that leave it running."""
    server = RedisServer(redis_folder)
    server.start()
    yield server
    server.kill()


@pytest.fixture(scope="session")
def shared_cluster(redis_folder: pathlib.Path) -> Iterator[RedisCluster]:
    """Three masters for all tests that leave them running."""
    cluster = RedisCluster(redis_folder, masters=3)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.kill()


@pytest.fixture
def redis_server(shared_server: RedisServer) -> RedisServer:
    """An empty Redis server."""
    shared_server.tell("FLUSHALL")
    shared_server.tell("SCRIPT", "FLUSH")
    return shared_server


@pytest.fixture
def redis_cluster(shared_cluster: RedisCluster) -> RedisCluster:
    """An empty Redis Cluster of three masters."""
    for node in shared_cluster.nodes:
        node.tell("FLUSHALL")
        node.tell("SCRIPT", "FLUSH")
    return shared_cluster


@pytest.fixture
def own_server(redis_folder: pathlib.Path) -> Iterator[RedisServer]:
    """A server that the test may kill, pause and start again."""
    server = RedisServer(redis_folder)
    server.start()
    yield server
    server.kill()


@pytest.fixture
def own_cluster(redis_folder: pathlib.Path) -> Iterator[RedisCluster]:
    """A master and its replica, in that order, either of which the test may kill."""
    cluster = RedisCluster(redis_folder, masters=1, replicas=1)
    try:
        cluster.start()
        yield cluster
    finally:
        cluster.kill()


ENGINES = ("memory", pytest.param("server", marks=pytest.mark.redis), pytest.param("cluster", marks=pytest.mark.redis))


@pytest.fixture(params=ENGINES)
def kv_url(request: pytest.FixtureRequest) -> str:
    """The address of an empty store, once for each engine."""
    if request.param == "memory":
        return ""
    address: str = request.getfixturevalue(f"redis_{request.param}").url
    return address


@pytest.fixture
async def kv(kv_url: str) -> AsyncIterator[KeyValueStore]:
    """An empty store, once for each engine."""
    store = open_kv(kv_url, clock)
    yield store
    await store.aclose()

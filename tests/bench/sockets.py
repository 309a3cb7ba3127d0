"""The same requests over sockets: `coffret serve` and uvicorn with the floors, asked in turns."""

import contextlib
import http.client
import multiprocessing
import os
import pathlib
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import asyncpg
import uvicorn
import uvloop
from redis.asyncio import Redis
from starlette.types import ASGIApp, Receive, Scope, Send

from coffret.commands.gc_tuning import collect_rarely
from coffret.services import dsn_of
from tests.bench.cases import Case
from tests.bench.drive import share
from tests.bench.floors import CONNECTIONS, Bare, Floor, Means
from tests.bench.installation import Installation
from tests.bench.load import Load, ask
from tests.bench.measure import Beside, Measured
from tests.servers.ports import free_port
from tests.servers.redis_servers import until

AT_ONCE = 16
ROUNDS = 3
SECONDS = 2
TAIL_SECONDS = 7
"""Longer than a token is believed, so that reading it again is a part of what is measured."""
TAILS = {64: 5, 500: 10}
"""For so many connections, how many times the median the 99th percentile should take at most."""
BARE = "/bare"


@dataclass(frozen=True)
class Tail:
    """How much longer than the middle one the slowest requests take, beside a bare application with the same answer."""

    case: Case
    connections: int
    own: Sequence[Load]
    bare: Sequence[Load]

    @property
    def aim(self) -> int:
        """The ratio that there should be at most."""
        return TAILS[self.connections]


def ratio(loads: Sequence[Load]) -> float:
    """The 99th percentile in medians: of the rounds that were measured, that of the middle one."""
    return statistics.median(load.percentile(99) / load.percentile(50) for load in loads)


def measured(
    cases: Sequence[Case], installation: Installation, folder: pathlib.Path
) -> tuple[list[Measured], list[Tail]]:
    """Measure the cases that have an aim beside the floor that it is aimed at, and tails of those that are to have none."""
    beside_floors = [case for case in cases if case.over_sockets]
    aimed = [(case, floor) for case in beside_floors if (floor := case.aimed_at(installation))]
    pairs = {f"/floor-{at}": pair for at, pair in enumerate(aimed)}
    even = {f"{BARE}-{at}": case for at, case in enumerate(cases) if case.even}
    floors = {path: floor for path, (_, floor) in pairs.items()}
    bare = {path: next(floor for floor in case.floors if isinstance(floor, Bare)) for path, case in even.items()}
    if not floors | bare:
        return [], []
    with serving(installation, folder) as port, serving_floors(floors | bare, installation) as floor_port:
        beside = [_measured(case, floor, port, floor_port, path) for path, (case, floor) in pairs.items()]
        tails = [_tail(case, at_once, port, floor_port, path) for path, case in even.items() for at_once in TAILS]
    return beside, tails


def _measured(case: Case, floor: Floor, port: int, floor_port: int, path: str) -> Measured:
    own, lowest = [], []
    for _ in range(ROUNDS):
        own.append(ask(case.call.as_sent(), port, connections=AT_ONCE, seconds=SECONDS).microseconds)
        lowest.append(ask(case.call.as_sent(path), floor_port, connections=AT_ONCE, seconds=SECONDS).microseconds)
    return Measured(case, statistics.median(own), {floor: Beside(statistics.median(lowest), share(lowest, own))})


def _tail(case: Case, at_once: int, port: int, floor_port: int, path: str) -> Tail:
    own, bare = [], []
    for _ in range(ROUNDS):
        own.append(ask(case.call.as_sent(), port, connections=at_once, seconds=TAIL_SECONDS))
        bare.append(ask(case.call.as_sent(path), floor_port, connections=at_once, seconds=TAIL_SECONDS))
    return Tail(case, at_once, own, bare)


@contextlib.contextmanager
def serving(installation: Installation, folder: pathlib.Path) -> Iterator[int]:
    """`coffret serve` as it is in production, one process: its port."""
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COFFRET_")}
    environment |= {
        "ENVIRONMENT": "development",  # production has no sandbox
        "COFFRET_LOG_JSON": "true",
        "COFFRET_DATA_DIR": str(folder),
        "COFFRET_DEMO": "false",
        "COFFRET_RATE_LIMIT": installation.settings.rate_limit,
        "DATABASE_URL": installation.settings.database_url,
        "REDIS_URL": installation.settings.redis_url,
        "PORT": str(port),
    }
    with (folder / "serve.log").open("wb") as log:
        process = subprocess.Popen(
            [sys.executable, "-m", "coffret.cli", "serve"],
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            env=environment,
        )
    try:
        until(lambda: _answers(port, "/readyz"), OSError)
        yield port
    finally:
        process.terminate()
        process.wait()


@contextlib.contextmanager
def serving_floors(floors: Mapping[str, Floor], installation: Installation) -> Iterator[int]:
    """uvicorn with a floor at each path: its port."""
    port = free_port()
    arguments = floors, dsn_of(installation.settings), installation.settings.redis_url, port
    process = multiprocessing.get_context("spawn").Process(target=_serve_floors, args=arguments, daemon=True)
    process.start()
    try:
        until(lambda: _answers(port, next(iter(floors))), OSError)
        yield port
    finally:
        process.terminate()
        process.join()


def _answers(port: int, path: str) -> bool:
    with contextlib.closing(http.client.HTTPConnection("127.0.0.1", port, timeout=5)) as connection:
        connection.request("GET", path)
        return connection.getresponse().status < http.client.INTERNAL_SERVER_ERROR


def _serve_floors(floors: Mapping[str, Floor], database: str, redis_url: str, port: int) -> None:
    collect_rarely()

    async def serve() -> None:
        pool = await asyncpg.create_pool(database, min_size=CONNECTIONS, max_size=CONNECTIONS)
        means = Means(pool, Redis.from_url(redis_url) if redis_url else None)
        apps: dict[str, ASGIApp] = {path: floor.app(means, path) for path, floor in floors.items()}

        async def chosen(scope: Scope, receive: Receive, send: Send) -> None:
            await apps[scope["path"]](scope, receive, send)

        config = uvicorn.Config(
            chosen, port=port, loop="uvloop", http="httptools", ws="none", lifespan="off", log_level="warning", server_header=False
        )  # fmt: skip
        await uvicorn.Server(config).serve()

    uvloop.run(serve())

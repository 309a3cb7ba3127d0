"""The same requests over sockets: `coffret serve` and uvicorn with the floors, asked by wrk in turns."""

import contextlib
import http.client
import multiprocessing
import os
import pathlib
import re
import statistics
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence

import asyncpg
import orjson
import uvicorn
import uvloop
from redis.asyncio import Redis
from starlette.types import ASGIApp, Receive, Scope, Send

from coffret.garbage import collect_seldom
from coffret.services import dsn_of
from tests.bench.cases import Case
from tests.bench.drive import Call, share
from tests.bench.floors import CONNECTIONS, Floor, Means
from tests.bench.measure import Beside, Measured
from tests.bench.world import World
from tests.redis_servers import free_port, until

AT_ONCE = 16
ROUNDS = 3
SECONDS = 2


def measured(cases: Sequence[Case], world: World, folder: pathlib.Path) -> list[Measured]:
    """Measure the cases that have an aim, each beside the floor that it is aimed at."""
    pairs = {f"/floor-{at}": (case, floor) for at, case in enumerate(cases) if (floor := case.aimed_at(world))}
    with (
        serving(world, folder) as port,
        serving_floors({path: floor for path, (_, floor) in pairs.items()}, world) as floor_port,
    ):
        return [_measured(case, floor, port, floor_port, path, folder) for path, (case, floor) in pairs.items()]


def _measured(case: Case, floor: Floor, port: int, floor_port: int, path: str, folder: pathlib.Path) -> Measured:
    own, lowest = [], []
    for _ in range(ROUNDS):
        own.append(_wrk(case.call, case.call.path, port, folder))
        lowest.append(_wrk(case.call, path, floor_port, folder))
    return Measured(case, statistics.median(own), {floor: Beside(statistics.median(lowest), share(lowest, own))})


def _wrk(call: Call, path: str, port: int, folder: pathlib.Path) -> float:
    """Microseconds a request. Raises RuntimeError when one is refused."""
    script = folder / "request.lua"
    script.write_text(f'wrk.method = "{call.method}"\nwrk.body = {orjson.dumps(call.body.decode()).decode()}\n')
    headers = [part for name, value in call.headers.items() for part in ("-H", f"{name}: {value}")]
    address = f"http://127.0.0.1:{port}{path}" + (f"?{call.query}" if call.query else "")
    command = ["wrk", "-t1", f"-c{AT_ONCE}", f"-d{SECONDS}s", "-s", str(script), *headers, address]
    told = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    found = re.search(r"Requests/sec:\s+([\d.]+)", told)
    if found is None or "Non-2xx" in told or "Socket errors" in told:
        raise RuntimeError(f"{call.method} {address}: {told}")
    return 1e6 / float(found[1])


@contextlib.contextmanager
def serving(world: World, folder: pathlib.Path) -> Iterator[int]:
    """`coffret serve` as it is in production, one process: its port."""
    port = free_port()
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COFFRET_")}
    environment |= {
        "ENVIRONMENT": "development",  # production has no sandbox
        "COFFRET_LOG_JSON": "true",
        "COFFRET_DATA_DIR": str(folder),
        "COFFRET_DEMO": "false",
        "COFFRET_RATE_LIMIT": world.settings.rate_limit,
        "DATABASE_URL": world.settings.database_url,
        "REDIS_URL": world.settings.redis_url,
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
def serving_floors(floors: Mapping[str, Floor], world: World) -> Iterator[int]:
    """uvicorn with a floor at each path: its port."""
    port = free_port()
    arguments = floors, dsn_of(world.settings), world.settings.redis_url, port
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
    collect_seldom()

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

"""Real `coffret worker` processes, killed and stopped: no job is lost, and each effect is there once."""

import asyncio
import contextlib
import os
import pathlib
import random
import signal
import socket
import time
from collections.abc import AsyncIterator, Callable
from typing import Any

import asyncpg
import httpx
import pytest

from store.database.db import Database, dsn
from store.job.jobs import JobKind, enqueue_job
from tests.servers.fork_server import ForkedProcess, fork_server
from tests.servers.ports import free_port
from tests.servers.redis_servers import RedisServer

JOBS = 300
KILLS = 4


class Workers:
    """The processes of a test, what they wrote, and what they work on."""

    def __init__(self, database: Database, connection: asyncpg.Connection, environment: dict[str, str]) -> None:
        self.database = database
        self.connection = connection
        self.environment = environment
        self.processes: list[ForkedProcess] = []
        self.log = pathlib.Path(environment["COFFRET_DATA_DIR"]).with_name("workers.log")

    def start(self, **environment: str) -> ForkedProcess:
        """Start one."""
        with self.log.open("ab") as log:
            process = fork_server.start(
                "tests.coffret.serving.worker_under_test",
                environment=self.environment | environment,
                stdout=log,
                stderr=log,
            )
        self.processes.append(process)
        return process

    async def put(self, number: int, *, before: Callable[[], float], after: Callable[[], float]) -> None:
        """Enqueue jobs, of which each takes a while before its effect and after it."""
        async with self.database.sessions() as db, db.begin():
            for key in range(number):
                await enqueue_job(db, JobKind.DROP_CART, {"key": key, "before": before(), "after": after()})

    async def one(self, statement: str) -> Any:
        """What the database says."""
        return await self.connection.fetchval(statement)

    async def until(self, statement: str, seconds: float = 60) -> None:
        """Wait until something is true in the database."""
        try:
            async with asyncio.timeout(seconds):
                while not await self.one(statement):
                    await asyncio.sleep(0.05)
        except TimeoutError:
            pytest.fail(f"not so: {statement}\n{self.log.read_text()}")


@pytest.fixture
async def workers(
    database: Database, database_url: str, redis_server: RedisServer, tmp_path: pathlib.Path
) -> AsyncIterator[Workers]:
    """No workers yet, and nothing counted."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("COFFRET_")}
    data = tmp_path / "data"
    own = {"DATABASE_URL": database_url, "REDIS_URL": redis_server.url, "COFFRET_DATA_DIR": str(data)}
    connection = await asyncpg.connect(dsn(database_url))
    await connection.execute("CREATE TABLE effect (key int PRIMARY KEY)")
    await connection.execute("CREATE TABLE total AS SELECT 0 AS amount")
    made = Workers(database, connection, {**kept, **own, "DEAD_AFTER": "2", "GRACE": "2"})
    try:
        yield made
    finally:
        for process in made.processes:
            with contextlib.suppress(ProcessLookupError):
                process.kill()
            process.wait()
        await connection.close()


@pytest.mark.redis
async def test_a_port_that_is_taken_is_told_in_a_sentence(workers: Workers) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        process = workers.start(COFFRET_WORKER_PORT=str(port))
        assert await asyncio.to_thread(process.wait, 40) == 1
    assert f"Cannot listen on 127.0.0.1 port {port}" in workers.log.read_text()


@pytest.mark.redis
async def test_workers_are_killed_at_random_and_every_effect_is_there_once(workers: Workers) -> None:
    chance = random.Random(os.environ.get("SEED"))
    await workers.put(JOBS, before=lambda: chance.uniform(0, 0.4), after=lambda: chance.uniform(0, 0.4))
    alive = [workers.start()]  # the first to be killed is alone: it is at work
    await workers.until("SELECT amount > 0 FROM total")
    for _ in range(KILLS):
        await asyncio.sleep(chance.uniform(0.1, 0.9))
        victim = alive.pop(chance.randrange(len(alive)))
        victim.kill()
        alive += [workers.start() for _ in range(2 - len(alive))]
    await workers.until("SELECT count(*) = 0 FROM pgqueuer")
    assert await workers.one("SELECT amount FROM total") == JOBS
    assert await workers.one("SELECT count(*) FROM effect") == JOBS
    assert await workers.one("SELECT count(*) FROM pgqueuer_log WHERE status = 'successful'") == JOBS
    assert await workers.one("SELECT count(*) FROM pgqueuer_log WHERE status = 'picked'") > JOBS, "no kill hit a job"


@pytest.mark.redis
async def test_a_worker_that_is_told_to_stop_ends_its_jobs_or_puts_them_back_and_ends_in_seconds(
    workers: Workers,
) -> None:
    port = free_port()
    process = workers.start(COFFRET_WORKER_PORT=str(port))
    await workers.put(1, before=lambda: 1, after=lambda: 0)
    async with workers.database.sessions() as db, db.begin():
        await enqueue_job(db, JobKind.DROP_CART, {"key": 100, "before": 60, "after": 0})
    await workers.until("SELECT count(*) = 2 FROM pgqueuer WHERE status = 'picked'")
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}") as client:
        assert (await client.get("/readyz")).status_code == 200
        told = (await client.get("/metrics")).text
    assert 'coffret_jobs{kind="drop_cart",state="running"} 2.0' in told
    begun = time.monotonic()
    process.send_signal(signal.SIGTERM)
    assert await asyncio.to_thread(process.wait, 20) == 0, workers.log.read_text()
    assert time.monotonic() - begun < 10
    assert await workers.one("SELECT amount FROM total") == 1
    left = await workers.connection.fetch("SELECT status::text, attempts, queue_manager_id FROM pgqueuer")
    assert [tuple(row) for row in left] == [("queued", 0, None)]

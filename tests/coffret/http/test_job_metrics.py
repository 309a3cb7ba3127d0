"""What is told of the job queue at `/metrics`, by whichever process is asked."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from typing import Any

import httpx
import pytest
from prometheus_client import REGISTRY
from sqlalchemy import text

from resolvers.core.services import Services
from resolvers.job import metrics
from resolvers.job.registry import Payload
from schema.core.errors import Unavailable
from store.core.retries import RetryPolicy
from store.database.db import Database
from store.job.jobs import JobKind, enqueue_job
from tests.resolvers.job.workers import AT_ONCE, THRICE, Queued, queued

__all__ = ["queued"]


async def scraped(client: httpx.AsyncClient) -> dict[str, float]:
    """What `/metrics` tells, by name and labels."""
    answer = await client.get("/metrics")
    assert answer.status_code == 200
    lines = (line.rpartition(" ") for line in answer.text.splitlines() if not line.startswith("#"))
    return {re.sub('"', "", name): float(value) for name, _, value in lines}


@pytest.fixture(autouse=True)
def fresh(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ask the database each time."""
    monkeypatch.setattr(metrics, "CACHE_SECONDS", 0)


async def test_depth_and_age_are_those_of_the_database(application: Any, client: httpx.AsyncClient) -> None:
    empty = await scraped(client)
    assert empty["coffret_job_queue_read"] == 1
    assert {
        empty[f"coffret_jobs{{kind={job},state={state}}}"] for job in JobKind for state in ("queued", "failed")
    } == {0}
    db: Database = application[0].state.container.services.db
    async with db.sessions() as session, session.begin():
        for _ in range(5):
            await enqueue_job(session, JobKind.DROP_CART, {})
        await session.exec(text("UPDATE pgqueuer SET execute_after = now() - interval '90 s' WHERE id % 5 = 0"))  # type: ignore[call-overload]
        await session.exec(text("UPDATE pgqueuer SET execute_after = now() + interval '1 h' WHERE id % 5 = 1"))  # type: ignore[call-overload]
        await session.exec(text("UPDATE pgqueuer SET status = 'picked' WHERE id % 5 = 2"))  # type: ignore[call-overload]
        await session.exec(text("UPDATE pgqueuer SET status = 'failed' WHERE id % 5 = 3"))  # type: ignore[call-overload]
        await session.exec(text("UPDATE pgqueuer SET entrypoint = 'of_another_release' WHERE id % 5 = 4"))  # type: ignore[call-overload]
    told = await scraped(client)
    states = {state: told[f"coffret_jobs{{kind=drop_cart,state={state}}}"] for state in ("queued", "running", "failed")}
    assert states == {"queued": 2, "running": 1, "failed": 1}
    assert told["coffret_jobs{kind=of_another_release,state=queued}"] == 1
    assert 90 <= told["coffret_job_oldest_due_seconds{kind=drop_cart}"] < 150
    assert told["coffret_job_oldest_due_seconds{kind=send_mail}"] == 0


async def test_a_database_that_is_away_or_slow_breaks_nothing(
    application: Any, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(_db: Database, _statement: Any) -> None:
        raise Unavailable(what="The database")

    async def slow(_db: Database, _statement: Any) -> None:
        await asyncio.sleep(60)

    for rows in (away, slow):
        with monkeypatch.context() as patched:
            patched.setattr(metrics, "READ_TIMEOUT", 0.1)
            patched.setattr(Database, "rows", rows)
            told = await scraped(client)
        assert told["coffret_job_queue_read"] == 0
        assert not [name for name in told if name.startswith(("coffret_jobs", "coffret_job_oldest"))]
        assert "process_cpu_seconds_total" in told
    assert (await scraped(client))["coffret_job_queue_read"] == 1


async def test_the_database_is_asked_once_for_many_scrapes(
    application: Any, client: httpx.AsyncClient, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked, rows = [], Database.rows

    async def record_statement(db: Database, statement: Any) -> Any:
        asked.append(statement)
        return await rows(db, statement)

    monkeypatch.setattr(metrics, "CACHE_SECONDS", 60)
    monkeypatch.setattr(Database, "rows", record_statement)
    for _ in range(5):
        await scraped(client)
    assert len([statement for statement in asked if "pgqueuer" in str(statement)]) == 1


@pytest.mark.parametrize(
    ("retries", "outcomes"), [(AT_ONCE, {"failed": 1}), (THRICE, {"retried": THRICE.max_tries - 1, "failed": 1})]
)
async def test_runs_and_failures_are_counted_by_kind_and_outcome(
    queued: Queued, retries: RetryPolicy, outcomes: dict[str, int]
) -> None:
    async def wrong(services: Services, payload: Payload) -> None:
        raise ValueError("no")

    def sample(name: str, **labels: str) -> float:
        return REGISTRY.get_sample_value(name, labels) or 0

    def counts() -> dict[str, float]:
        found = {
            outcome: sample("coffret_job_seconds_count", kind="drop_cart", outcome=outcome)
            for outcome in ("done", "retried", "failed", "again", "released")
        }
        return found | {"failures": sample("coffret_job_failures_total", kind="drop_cart")}

    async def changes(begin: Callable[[], Awaitable[None]]) -> dict[str, float]:
        before = counts()
        await begin()
        return {name: value - before[name] for name, value in counts().items() if value != before[name]}

    async def run() -> None:
        await queued.put({})
        async with queued.workers():
            await queued.until("SELECT status::text FROM pgqueuer", "failed")

    queued.does(wrong, retries)
    assert await changes(run) == {**outcomes, "failures": retries.max_tries}

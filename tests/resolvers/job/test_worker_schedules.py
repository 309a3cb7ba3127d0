"""What is on a schedule is done once, however many workers there are."""

import asyncio
import datetime as dt

from prometheus_client import REGISTRY
from structlog.testing import capture_logs

from resolvers.core.services import Services
from resolvers.job.registry import ScheduledTask
from tests.resolvers.job.workers import Queued, queued, waited

__all__ = ["queued"]
YEARLY = "0 0 1 1 *"
EACH_SECOND = "* * * * * *"
DUE = "UPDATE pgqueuer_schedules SET next_run = now() - interval '1 minute', status = 'queued' RETURNING 1"


def counting(*, fails: bool = False) -> tuple[list[int], ScheduledTask]:
    """A yearly task, and the list of its runs."""
    runs: list[int] = []

    async def run(services: Services) -> None:
        runs.append(1)
        await asyncio.sleep(0.1)
        if fails:
            raise ValueError("not today")

    return runs, ScheduledTask(YEARLY, run)


async def test_of_three_workers_one_runs_what_is_due_also_what_fell_due_while_there_were_none(queued: Queued) -> None:
    runs, task = counting()
    queued.schedules(yearly=task)
    async with queued.workers():
        await queued.until("SELECT count(*) FROM pgqueuer_schedules", 1)
    assert runs == []
    for times in (1, 2, 3):
        await queued.rows(DUE)
        async with queued.workers(3):
            await waited(lambda times=times: len(runs) >= times)  # type: ignore[misc]
            await asyncio.sleep(0.5)
        assert len(runs) == times
        [(next_run, last_run)] = await queued.rows("SELECT next_run, last_run FROM pgqueuer_schedules")
        assert next_run - last_run > dt.timedelta(hours=1) or next_run.month == 1


async def test_three_workers_run_it_once_each_time(queued: Queued) -> None:
    at: list[float] = []

    async def run(services: Services) -> None:
        at.append(asyncio.get_running_loop().time())

    queued.schedules(often=ScheduledTask(EACH_SECOND, run))
    async with queued.workers(3):
        await waited(lambda: len(at) >= 1)
        begun, first = asyncio.get_running_loop().time(), len(at)
        await asyncio.sleep(5)
        seconds = asyncio.get_running_loop().time() - begun
    assert 2 <= len(at) - first <= seconds + 2


async def test_what_fails_is_told_and_run_again_the_next_time(queued: Queued) -> None:
    runs, task = counting(fails=True)
    queued.schedules(yearly=task)
    async with queued.workers():
        await queued.until("SELECT count(*) FROM pgqueuer_schedules", 1)

    def seconds_failed() -> float:
        labels = {"schedule": "yearly", "outcome": "failed"}
        return REGISTRY.get_sample_value("coffret_schedule_seconds_sum", labels) or 0

    before = seconds_failed()
    for times in (1, 2):
        await queued.rows(DUE)
        async with queued.workers():
            await waited(lambda times=times: len(runs) == times)  # type: ignore[misc]
            await queued.until("SELECT status::text FROM pgqueuer_schedules", "queued")
    assert seconds_failed() > before


async def test_what_the_code_no_longer_has_is_removed_and_comes_back_with_it(queued: Queued) -> None:
    names = "SELECT string_agg(entrypoint, ',' ORDER BY entrypoint) FROM pgqueuer_schedules"
    _, task = counting()
    queued.schedules(new=task, old=task)
    async with queued.workers():
        await queued.until(names, "new,old")
        queued.schedules(new=task)
        async with queued.workers():
            await queued.until(names, "new")


async def test_a_worker_puts_back_what_another_release_has_removed(queued: Queued) -> None:
    _, task = counting()
    queued.schedules(ours=task, often=ScheduledTask(EACH_SECOND, counting()[1].run))
    async with queued.workers():
        await queued.until("SELECT count(*) FROM pgqueuer_schedules", 2)
        await queued.rows("DELETE FROM pgqueuer_schedules WHERE entrypoint = 'ours' RETURNING 1")
        await queued.until("SELECT count(*) FROM pgqueuer_schedules", 2)


async def test_a_schedule_may_end_when_the_worker_stops(queued: Queued) -> None:
    runs, task = counting()
    queued.schedules(yearly=task)
    async with queued.workers():
        await queued.until("SELECT count(*) FROM pgqueuer_schedules", 1)
    await queued.rows(DUE)
    with capture_logs() as lines:
        async with queued.workers():
            await waited(lambda: runs == [1])
    assert await queued.rows("SELECT status::text FROM pgqueuer_schedules WHERE last_run > created") == [("queued",)]
    assert lines == []

"""Workers that stop, die, lose their database or share their work: every job is done, and none twice at once."""

import asyncio
import datetime as dt
from collections import Counter

import asyncpg
import pytest
from pgqueuer.core.qm import QueueManager
from pgqueuer.domain.errors import FailingListenerError
from structlog.testing import capture_logs

from resolvers.core.services import Services
from resolvers.job.registry import Payload
from tests.resolvers.job.workers import AT_ONCE, Queued, queued, waited

__all__ = ["queued"]


async def test_two_workers_share_the_work_and_never_run_one_job_twice(queued: Queued) -> None:
    running: Counter[int] = Counter()
    done: Counter[int] = Counter()

    async def watch(services: Services, payload: Payload) -> None:
        running[payload["id"]] += 1
        assert running[payload["id"]] == 1
        await asyncio.sleep(0.01)
        running[payload["id"]] -= 1
        done[payload["id"]] += 1

    queued.does(watch, AT_ONCE)
    async with queued.workers(2):
        await queued.put(*({"id": number} for number in range(300)))
        await queued.until_empty()
    assert done == Counter(range(300))


async def test_running_jobs_may_end_when_the_worker_stops_and_no_other_is_begun(queued: Queued) -> None:
    began: list[int] = []
    ended: list[int] = []

    async def slow(services: Services, payload: Payload) -> None:
        began.append(payload["id"])
        await asyncio.sleep(0.5)
        ended.append(payload["id"])

    queued.does(slow)
    queued.sets(MAX_CONCURRENT_JOBS=4)
    await queued.put(*({"id": number} for number in range(10)))
    async with queued.workers():
        await waited(lambda: len(began) == 4)
    assert ended == began
    assert len(ended) == 4
    assert await queued.rows("SELECT status::text, attempts FROM pgqueuer") == [("queued", 0)] * 6


async def test_what_takes_too_long_is_put_back_and_run_by_the_next_worker(queued: Queued) -> None:
    began: list[int] = []

    async def long(services: Services, payload: Payload) -> None:
        began.append(1)
        if len(began) == 1:
            await asyncio.sleep(60)

    queued.does(long, AT_ONCE)
    queued.sets(SHUTDOWN_GRACE=0.2)
    await queued.put({})
    async with queued.workers():
        await waited(lambda: bool(began))
    assert await queued.rows("SELECT status::text, attempts, queue_manager_id FROM pgqueuer") == [("queued", 0, None)]
    async with queued.workers():
        await queued.until_empty()
    assert len(began) == 2


async def test_a_worker_that_is_stopped_twice_ends_at_once_and_loses_nothing(queued: Queued) -> None:
    began = asyncio.Event()

    async def long(services: Services, payload: Payload) -> None:
        began.set()
        await asyncio.sleep(60)

    queued.does(long)
    await queued.put({})
    async with asyncio.timeout(45), queued.workers() as tasks:
        await asyncio.wait_for(began.wait(), 60)
        tasks[0].cancel()
        await asyncio.sleep(0.1)
    assert await queued.rows("SELECT count(*) FROM pgqueuer") == [(1,)]


async def test_jobs_of_a_worker_that_is_not_heard_of_are_run_by_others(queued: Queued) -> None:
    ran: list[dt.datetime] = []
    silence = dt.timedelta(seconds=2)

    async def handle(services: Services, payload: Payload) -> None:
        ran.append(dt.datetime.now(dt.UTC))

    queued.does(handle)
    queued.sets(HEARTBEAT_TIMEOUT=silence)
    await queued.put({})
    picked = "UPDATE pgqueuer SET status = 'picked', queue_manager_id = gen_random_uuid(), heartbeat = now()"
    ((heard,),) = await queued.rows(f"{picked} RETURNING heartbeat")
    async with queued.workers():
        await queued.until_empty()
    assert len(ran) == 1
    assert ran[0] - heard >= silence


async def test_a_worker_that_was_taken_for_dead_does_not_put_its_job_back_a_second_time(queued: Queued) -> None:
    began = asyncio.Event()

    async def wrong(services: Services, payload: Payload) -> None:
        began.set()
        await asyncio.sleep(0.5)
        raise ValueError("late")

    queued.does(wrong)
    await queued.put({})
    async with queued.workers():
        await asyncio.wait_for(began.wait(), 60)
        await queued.rows("UPDATE pgqueuer SET queue_manager_id = gen_random_uuid() RETURNING 1")
    assert await queued.rows("SELECT status::text, attempts FROM pgqueuer") == [("picked", 0)]


async def test_a_retry_that_cannot_be_written_is_no_failure_for_good(
    queued: Queued, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs: list[int] = []

    async def wrong_at_first(services: Services, payload: Payload) -> None:
        runs.append(1)
        if len(runs) == 1:
            monkeypatch.setattr("store.job.queue.RETURN_JOB", "SELECT 1 / 0, $1, $2, $3, $4, $5")
            raise ValueError("no")

    queued.does(wrong_at_first)
    queued.sets(HEARTBEAT_TIMEOUT=dt.timedelta(seconds=1))
    await queued.put({})
    async with queued.workers():
        await queued.until_empty()
    assert len(runs) == 2


async def test_a_worker_comes_back_with_its_database_and_does_not_ask_all_the_time(queued: Queued) -> None:
    """The database takes no connections for some seconds, and cuts those there are, as when it is restarted."""
    done: list[int] = []
    began = asyncio.Event()

    async def handle(services: Services, payload: Payload) -> None:
        began.set()
        await asyncio.sleep(payload["seconds"])
        done.append(payload["id"])

    queued.does(handle)
    queued.sets(HEARTBEAT_TIMEOUT=dt.timedelta(seconds=2))
    await queued.put({"id": 1, "seconds": 1})
    name = (await queued.rows("SELECT current_database()"))[0][0]
    head, _, tail = queued.dsn.partition("?")
    other = await asyncpg.connect(head.rsplit("/", 1)[0] + "/postgres" + (f"?{tail}" if tail else ""))
    with capture_logs() as lines:
        async with queued.workers():
            await asyncio.wait_for(began.wait(), 60)
            await other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
            await other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1", name)
            await asyncio.sleep(5)
            await other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")
            await queued.put({"id": 2, "seconds": 0})
            await queued.until_empty()
    await other.close()
    assert set(done) == {1, 2}
    begun = [line for line in lines if line["event"] == "the worker restarts"]
    assert 1 <= len(begun) <= 6, "pauses grow: about 1, 2, 4 seconds"
    assert await queued.rows("SELECT count(*) FROM pgqueuer_log WHERE status IN ('failed', 'canceled')") == [(0,)]


async def test_the_queue_listens_before_it_asks_itself_whether_it_hears(
    queued: Queued, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise it would end ten seconds after it began, now and then."""
    healthy = QueueManager.listener_healthy
    heard: list[object] = []

    async def record_health(queue: QueueManager, **_options: object) -> object:
        try:
            heard.append(await healthy(queue, timeout=dt.timedelta(seconds=30)))
        except FailingListenerError:
            heard.append(None)
            raise
        return heard[-1]

    async def nothing(services: Services, payload: Payload) -> None:
        """Do nothing."""

    monkeypatch.setattr(QueueManager, "listener_healthy", record_health)
    queued.does(nothing)
    for _ in range(5):
        heard.clear()
        async with queued.workers():
            await waited(lambda: bool(heard), 60)
        assert None not in heard

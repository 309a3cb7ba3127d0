"""What becomes of a job that fails: it is tried again, wishes to be run again, gives up, or is kept."""

import asyncio
import datetime as dt
import itertools
from typing import Any

import structlog
from structlog.testing import capture_logs

from resolvers.core.services import Services
from resolvers.job.registry import DAY_RETRIES, SHORT_RETRIES, Payload
from store.core.retries import PermanentFailure, RetryPolicy, RunAgain
from store.job.jobs import JobKind, enqueue_job
from tests.resolvers.job.workers import AT_ONCE, THRICE, Queued, queued

__all__ = ["queued"]
JOB_STATES = "SELECT status::text, attempts, headers ->> 'error' FROM pgqueuer"


def test_pauses_grow_up_to_the_longest_and_last_about_as_long_as_promised() -> None:
    minute, hour = dt.timedelta(minutes=1), dt.timedelta(hours=1)
    retries = RetryPolicy(first_pause=minute, longest_pause=4 * minute, total_duration=hour)
    pauses = [retries.pause(failures) for failures in range(1, retries.max_tries)]
    assert [pause / minute for pause in pauses[:5]] == [1, 2, 4, 4, 4]
    assert hour <= sum(pauses, dt.timedelta()) < hour + 4 * minute
    assert retries.pause(10_000) == 4 * minute
    assert AT_ONCE.max_tries == 1
    for policy in (SHORT_RETRIES, DAY_RETRIES):
        total = sum(map(policy.pause, range(1, policy.max_tries)), dt.timedelta())
        assert policy.total_duration <= total < policy.total_duration + policy.longest_pause


async def test_a_job_that_fails_is_tried_again_and_is_gone_when_it_is_done(queued: Queued) -> None:
    tries = itertools.count(1)

    async def twice_wrong(services: Services, payload: Payload) -> None:
        assert payload == {"id": 7}
        if next(tries) < 3:
            raise ValueError("not yet")

    queued.does(twice_wrong)
    await queued.put({"id": 7})
    async with queued.workers():
        await queued.until_empty()
    assert next(tries) == 4


async def test_a_job_is_kept_after_its_last_try_with_the_error_and_without_secrets(queued: Queued) -> None:
    runs: list[int] = []

    async def wrong(services: Services, payload: Payload) -> None:
        runs.append(1)
        raise ValueError("GET https://user:hunter2@shop.example failed with token=abcdef")

    queued.does(wrong)
    await queued.put({"id": 7})
    async with queued.workers():
        await queued.until("SELECT status::text FROM pgqueuer", "failed")
    assert len(runs) == THRICE.max_tries
    [(_, attempts, error)] = await queued.rows(JOB_STATES)
    assert attempts == THRICE.max_tries
    assert error.startswith("ValueError: GET https://")
    [(told,)] = await queued.rows("SELECT string_agg(traceback::text, ' ') FROM pgqueuer_log")
    for text in (error, told):
        assert "hunter2" not in text
        assert "abcdef" not in text


async def test_after_the_last_try_only_what_follows_a_failure_is_done(queued: Queued) -> None:
    steps: list[str] = []

    async def wrong(services: Services, payload: Payload) -> None:
        steps.append("run")
        if len(steps) == 1:
            raise RunAgain(dt.timedelta())
        raise ValueError("not today")

    async def give_up(services: Services, payload: Payload) -> None:
        steps.append(f"give up {payload['id']}")

    queued.does(wrong, give_up=give_up)
    await queued.put({"id": 7})
    async with queued.workers():
        await queued.until("SELECT status::text FROM pgqueuer", "failed")
    assert steps == ["run"] * (THRICE.max_tries + 1) + ["give up 7"]


async def test_a_job_that_gives_up_is_not_tried_again(queued: Queued) -> None:
    runs: list[int] = []

    async def useless(services: Services, payload: Payload) -> None:
        runs.append(1)
        raise PermanentFailure("the shop is closed for good")

    queued.does(useless)
    await queued.put({})
    async with queued.workers():
        await queued.until("SELECT status::text FROM pgqueuer", "failed")
        await asyncio.sleep(0.5)
    assert len(runs) == 1
    assert await queued.rows(JOB_STATES) == [("failed", 1, "the shop is closed for good")]


async def test_a_job_that_interrupts_itself_has_failed_like_any_other(queued: Queued) -> None:
    runs: list[int] = []

    async def interrupted(services: Services, payload: Payload) -> None:
        runs.append(1)
        raise asyncio.CancelledError

    queued.does(interrupted)
    await queued.put({})
    async with queued.workers():
        await queued.until("SELECT status::text FROM pgqueuer", "failed")
    assert len(runs) == THRICE.max_tries
    assert await queued.rows(JOB_STATES) == [("failed", THRICE.max_tries, "CancelledError: ")]


async def test_a_job_says_itself_when_it_is_run_again_and_that_is_no_try(queued: Queued) -> None:
    runs: list[float] = []

    async def run_again(services: Services, payload: Payload) -> None:
        runs.append(asyncio.get_running_loop().time())
        if len(runs) < 5:
            raise RunAgain(dt.timedelta(milliseconds=300))
        raise ValueError("a failure at last")

    queued.does(run_again, AT_ONCE)
    await queued.put({})
    async with queued.workers():
        await queued.until("SELECT status::text FROM pgqueuer", "failed")
    assert len(runs) == 5
    assert min(later - earlier for earlier, later in itertools.pairwise(runs)) >= 0.29
    assert await queued.rows(JOB_STATES) == [("failed", 1, "ValueError: a failure at last")]


async def test_a_failed_job_is_in_nobodys_way(queued: Queued) -> None:
    async def wrong(services: Services, payload: Payload) -> None:
        raise PermanentFailure("no")

    queued.does(wrong)
    async with queued.workers():
        for kept in (1, 2):
            await queued.put({}, {}, once="the same")
            await queued.until("SELECT count(*) FROM pgqueuer WHERE status = 'failed'", kept)
            await queued.until("SELECT count(*) FROM pgqueuer", kept)


async def test_log_lines_name_the_request_that_wanted_the_job_also_of_a_job_of_a_job(queued: Queued) -> None:
    seen: list[dict[str, Any]] = []

    async def follow(services: Services, payload: Payload) -> None:
        seen.append(structlog.contextvars.get_contextvars())
        if payload["left"]:
            async with services.db.sessions() as db, db.begin():
                await enqueue_job(db, JobKind.DROP_CART, {"left": payload["left"] - 1})

    queued.does(follow)
    with structlog.contextvars.bound_contextvars(request_id="req-1", address="10.0.0.1"):
        await queued.put({"left": 2})
    await queued.put({"left": 0})
    async with queued.workers():
        await queued.until_empty()
    asked = [found for found in seen if found.get("request_id") == "req-1"]
    assert len(asked) == 3
    assert len({found["job_id"] for found in asked}) == 3
    assert all(set(found) == {"job", "job_id", "request_id"} and found["job"] == "drop_cart" for found in asked)
    assert [set(found) for found in seen if found not in asked] == [{"job", "job_id"}]


async def test_each_failure_is_told(queued: Queued) -> None:
    async def wrong(services: Services, payload: Payload) -> None:
        raise ValueError("no")

    queued.does(wrong)
    await queued.put({})
    with capture_logs(processors=[structlog.contextvars.merge_contextvars]) as lines:
        async with queued.workers():
            await queued.until("SELECT status::text FROM pgqueuer", "failed")
    told = [line for line in lines if line["event"] == "a job failed and will be retried"]
    assert [line["failures"] for line in told] == list(range(1, THRICE.max_tries))
    assert all(line["job"] == "drop_cart" and line["job_id"] for line in told)


async def test_a_job_that_kills_worker_after_worker_is_not_run_any_more(queued: Queued) -> None:
    ran = asyncio.Event()

    async def deadly(services: Services, payload: Payload) -> None:
        ran.set()

    queued.does(deadly)
    await queued.put({})
    await queued.rows(
        "INSERT INTO pgqueuer_log (job_id, status, entrypoint, priority) "
        "SELECT id, 'picked', entrypoint, 0 FROM pgqueuer, generate_series(1, 5) RETURNING 1"
    )
    await queued.rows("UPDATE pgqueuer SET status = 'picked', heartbeat = now() - interval '1 hour' RETURNING 1")
    async with queued.workers():
        await queued.until("SELECT status::text FROM pgqueuer", "failed")
    assert not ran.is_set()
    [(_, _, error)] = await queued.rows(JOB_STATES)
    assert error.startswith("5 workers in a row died while they ran it.")


async def test_pauses_are_kept_to_by_workers_that_have_nothing_else_to_do(queued: Queued) -> None:
    """An idle worker looks once in some seconds; what is put back must not wait for that."""
    runs: list[float] = []

    async def wrong_at_first(services: Services, payload: Payload) -> None:
        runs.append(asyncio.get_running_loop().time())
        if len(runs) == 1:
            raise RunAgain(dt.timedelta(seconds=0.5))

    queued.does(wrong_at_first)
    queued.sets(POLL_INTERVAL=dt.timedelta(seconds=30))
    await queued.put({})
    async with queued.workers():
        await queued.until_empty()
    assert 0.5 <= runs[1] - runs[0] < 10

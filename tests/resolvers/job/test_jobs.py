"""The job queue as the master sees it, and what it may do about failed jobs."""

import datetime as dt
from typing import Any

import pytest

from resolvers.job import jobs
from store.core.clock import clock
from store.job.jobs import JobKind, enqueue_job
from tests.fixtures.tenants import EVERYBODY, Tenants

LIST = """
query Jobs($first: Int, $after: String, $filter: JobFilter, $orderBy: JobSort) {
  jobs(first: $first, after: $after, filter: $filter, orderBy: $orderBy) {
    nodes { id kind state attempts createdOn runAfter lastError requestId payload }
    pageInfo { hasNextPage endCursor }
    totalCount
  }
}
"""
ONE = "query One($id: Int!) { job(id: $id) { id state payload } }"
RETRY = "mutation R($input: RetryJobInput!) { retryJob(input: $input) { job { id state attempts lastError } userErrors { code } } }"
DISCARD = "mutation D($input: DiscardJobInput!) { discardJob(input: $input) { job { id state } userErrors { code } } }"
OTHERS = [who for who in (*EVERYBODY, None) if who != "master"]
QUEUE = "SELECT coalesce(jsonb_agg(to_jsonb(q) ORDER BY id), '[]') FROM pgqueuer q"


async def put(tenants: Tenants, status: str = "queued", once: str | None = None, **payload: Any) -> int:
    """A job in a state; answers its id."""
    async with tenants.services.db.sessions() as db, db.begin():
        await enqueue_job(db, JobKind.DROP_CART, payload, unique_key=once)
    id: int = await tenants.one("SELECT max(id) FROM pgqueuer")
    error = '{"error": "ValueError: no", "request_id": "req-1"}' if status == "failed" else "{}"
    await tenants.execute(
        "UPDATE pgqueuer SET status = CAST(:status AS pgqueuer_status), attempts = CASE :status WHEN 'failed' THEN 33 ELSE 0 END,"
        " headers = CAST(:error AS jsonb) WHERE id = :id",
        status=status,
        error=error,
        id=id,
    )
    return id


async def list_jobs(tenants: Tenants, **asked: Any) -> Any:
    """A page of jobs."""
    answer = await tenants.graphql("master", LIST, **asked)
    assert "errors" not in answer, answer
    return answer["data"]["jobs"]


async def changed(tenants: Tenants, document: str, id: int) -> Any:
    """The payload of a mutation."""
    answer = await tenants.graphql("master", document, input={"id": id})
    assert "errors" not in answer, answer
    return next(iter(answer["data"].values()))


async def test_jobs_are_listed_with_what_they_are_about_and_without_secrets(tenants: Tenants) -> None:
    waiting = await put(tenants, id=7, password="hunter2")
    running = await put(tenants, "picked")
    failed = await put(tenants, "failed")
    page = await list_jobs(tenants)
    assert page["totalCount"] == 3
    assert [job["id"] for job in page["nodes"]] == [failed, running, waiting]
    assert [job["state"] for job in page["nodes"]] == ["FAILED", "RUNNING", "QUEUED"]
    kept, _, queued = page["nodes"]
    told = [kept[name] for name in ("kind", "attempts", "lastError", "requestId", "payload")]
    assert told == ["drop_cart", 33, "ValueError: no", "req-1", {}]
    assert (queued["lastError"], queued["requestId"]) == (None, None)
    assert queued["payload"] == {"id": 7, "password": "***"}
    assert queued["createdOn"].endswith("Z")
    assert queued["runAfter"].endswith("Z")
    assert (await tenants.graphql("master", ONE, id=waiting))["data"]["job"]["payload"] == {"id": 7, "password": "***"}


async def test_jobs_are_found_by_state_kind_age_and_request_and_read_page_by_page(tenants: Tenants) -> None:
    ids = [await put(tenants, status) for status in ("queued", "failed", "queued", "failed")]
    await tenants.execute("UPDATE pgqueuer SET created = created - interval '2 days' WHERE id = :id", id=ids[0])
    day = (clock.now() - dt.timedelta(days=1)).isoformat()

    async def filter_jobs(**filter: Any) -> list[int]:
        return [ids.index(job["id"]) for job in (await list_jobs(tenants, filter=filter))["nodes"]]

    assert await filter_jobs(state="FAILED") == [3, 1]
    assert await filter_jobs(state="RUNNING") == []
    assert await filter_jobs(kind="drop_cart") == [3, 2, 1, 0]
    assert await filter_jobs(kind="settle_attempt") == []
    assert await filter_jobs(createdUntil=day) == [0]
    assert await filter_jobs(createdFrom=day, state="QUEUED") == [2]
    assert await filter_jobs(requestId="req-1") == [3, 1]
    first = await list_jobs(tenants, first=3, orderBy="OLDEST")
    assert [job["id"] for job in first["nodes"]] == ids[:3]
    rest = await list_jobs(tenants, first=3, orderBy="OLDEST", after=first["pageInfo"]["endCursor"])
    assert [job["id"] for job in rest["nodes"]] == ids[3:]


async def test_a_failed_job_is_run_again_at_once_with_all_its_tries(tenants: Tenants) -> None:
    id = await put(tenants, "failed")
    await tenants.execute("UPDATE pgqueuer SET execute_after = now() + interval '1 day'")
    payload = await changed(tenants, RETRY, id)
    assert payload == {
        "job": {"id": id, "state": "QUEUED", "attempts": 0, "lastError": "ValueError: no"},
        "userErrors": [],
    }
    assert await tenants.one("SELECT status = 'queued' AND execute_after <= now() FROM pgqueuer")


@pytest.mark.parametrize("status", ["queued", "picked"])
async def test_only_a_failed_job_is_run_again(tenants: Tenants, status: str) -> None:
    id = await put(tenants, status)
    before = await tenants.one(QUEUE)
    assert await changed(tenants, RETRY, id) == {"job": None, "userErrors": [{"code": "INVALID_TRANSITION"}]}
    assert await tenants.one(QUEUE) == before


async def test_a_failed_job_is_kept_while_another_does_the_same(tenants: Tenants) -> None:
    failed = await put(tenants, "failed", once="x")
    other = await put(tenants, once="x")
    assert other != failed
    before = await tenants.one(QUEUE)
    assert await changed(tenants, RETRY, failed) == {"job": None, "userErrors": [{"code": "ALREADY_QUEUED"}]}
    assert await tenants.one(QUEUE) == before
    await tenants.execute("DELETE FROM pgqueuer WHERE id = :id", id=other)
    assert (await changed(tenants, RETRY, failed))["userErrors"] == []


@pytest.mark.parametrize("status", ["queued", "failed"])
async def test_a_job_is_discarded(tenants: Tenants, status: str) -> None:
    id, stays = await put(tenants, status), await put(tenants, status)
    payload = await changed(tenants, DISCARD, id)
    assert payload == {"job": {"id": id, "state": status.upper()}, "userErrors": []}
    assert [job["id"] for job in (await list_jobs(tenants))["nodes"]] == [stays]
    assert await changed(tenants, DISCARD, id) == {"job": None, "userErrors": [{"code": "NOT_FOUND"}]}


async def test_a_running_job_is_not_discarded(tenants: Tenants) -> None:
    id = await put(tenants, "picked")
    assert await changed(tenants, DISCARD, id) == {"job": None, "userErrors": [{"code": "INVALID_TRANSITION"}]}
    assert (await list_jobs(tenants))["totalCount"] == 1


@pytest.mark.parametrize("who", OTHERS)
async def test_nobody_but_the_master_sees_or_touches_jobs(tenants: Tenants, who: str | None) -> None:
    id = await put(tenants, "failed")
    before = await tenants.one(QUEUE)
    for document, variables in (
        (LIST, {}),
        (ONE, {"id": id}),
        (RETRY, {"input": {"id": id}}),
        (DISCARD, {"input": {"id": id}}),
    ):
        answer = await tenants.graphql(who, document, **variables)
        assert answer["errors"][0]["extensions"]["code"] in {"FORBIDDEN", "UNAUTHENTICATED"}, answer
    assert await tenants.one(QUEUE) == before


async def test_failed_jobs_and_the_queues_log_are_kept_for_a_while(tenants: Tenants) -> None:
    await put(tenants, "failed")
    await put(tenants)
    await tenants.execute(
        "INSERT INTO pgqueuer_statistics (count, priority, status, entrypoint) VALUES (1, 0, 'queued', 'x')"
    )
    tables = ("pgqueuer", "pgqueuer_log", "pgqueuer_statistics")

    async def counts() -> list[int]:
        return [await tenants.one(f"SELECT count(*) FROM {table}") for table in tables]  # noqa: S608 - a test's words

    before = await counts()
    assert before == [2, 2, 1]
    clock.advance(dt.timedelta(days=6))
    assert await jobs.prune(tenants.services) == 0
    assert await counts() == before
    clock.advance(dt.timedelta(days=2))
    assert await jobs.prune(tenants.services) == 3
    assert await counts() == [2, 0, 0]
    clock.advance(dt.timedelta(days=83))
    assert await jobs.prune(tenants.services) == 1
    assert [job["state"] for job in (await list_jobs(tenants))["nodes"]] == ["QUEUED"]

"""Requests with an Idempotency-Key, over both transports: what is kept, for whom, how long, and what of it a crash leaves."""

import asyncio
import datetime as dt
import json
import os
import pathlib
import signal
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from sqlalchemy import MetaData, text

from resolvers.core.idempotency import prune
from store import idempotency
from store.core.clock import clock
from store.database.db import Database
from tests.resolvers.core import idempotent_operations
from tests.resolvers.core.application import (
    LAMP,
    OPERATIONS,
    Application,
    Asker,
    build_application,
    open_application,
    replayed,
    services_over,
)
from tests.resolvers.core.idempotent_operations import METADATA, provider, ran
from tests.servers.fork_server import fork_server


@pytest.fixture
def more_tables() -> MetaData:
    """The tables of the operations of these tests."""
    return METADATA


@pytest.fixture(params=["rest", "graphql"])
async def application(
    request: pytest.FixtureRequest, database: Database, database_url: str
) -> AsyncIterator[Application]:
    """Two partners, asking over a transport."""
    async with open_application(request.param, database, database_url) as found:
        yield found


# ---- again


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_the_first_answer_is_given_again_unchanged(application: Application, operation: str) -> None:
    sent, _ = OPERATIONS[operation]
    first = await application.ask(operation, sent, "key")
    assert application.code(first) == "DONE"
    assert not replayed(first)
    before = await application.count()
    clock.advance(dt.timedelta(hours=23, minutes=59))
    again = await application.ask(operation, sent, "key")
    assert replayed(again)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["content-type"] == first.headers["content-type"]
    assert len(ran) == 1
    assert await application.count() == before


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_an_answer_with_a_key_is_the_one_without(application: Application, operation: str) -> None:
    sent, _ = OPERATIONS[operation]
    with_key, without = await application.ask(operation, sent, "key"), await application.ask(operation, sent)
    assert with_key.status_code == without.status_code
    assert with_key.headers["content-type"] == without.headers["content-type"]
    assert _shape(with_key.json()) == _shape(without.json())


async def test_an_answer_tells_what_was_written_but_not_yet_committed(application: Application) -> None:
    answer = await application.ask("make", LAMP, "key")
    for value in ("red", "blue"):
        assert f'"value":"{value}"' in answer.text


async def test_after_24_hours_a_key_is_new(application: Application) -> None:
    first = await application.ask("make", LAMP, "key")
    clock.advance(dt.timedelta(hours=24, seconds=1))
    other = await application.ask("make", {"name": "Chair"}, "key")
    assert (application.code(other), replayed(other)) == ("DONE", False)
    assert other.content != first.content
    assert (await application.ask("make", {"name": "Chair"}, "key")).content == other.content
    assert ran == ["make Lamp", "make Chair"]


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_another_request_with_the_same_key_is_refused(application: Application, operation: str) -> None:
    sent, other = OPERATIONS[operation]
    await application.ask(operation, sent, "key")
    before = await application.count()
    refused = [await application.ask(operation, other, "key")]
    refused += [
        await application.ask(another, OPERATIONS[another][0], "key") for another in OPERATIONS if another != operation
    ]
    for answer in refused:
        assert application.code(answer) == "IDEMPOTENCY_MISMATCH"
        assert not replayed(answer)
    assert len(ran) == 1
    assert await application.count() == before


async def test_keys_of_another_token_are_other_keys(application: Application) -> None:
    first = await application.ask("make", LAMP, "key")
    theirs = await application.ask("make", {"name": "Chair"}, "key", application.other_token)
    assert (application.code(theirs), replayed(theirs)) == ("DONE", False)
    assert (await application.ask("make", LAMP, "key")).content == first.content


async def test_without_a_key_nothing_is_kept(application: Application) -> None:
    for operation, (sent, _) in OPERATIONS.items():
        await application.ask(operation, sent)
        await application.ask(operation, sent)
    assert len(ran) == 2 * len(OPERATIONS)
    assert (await application.count())["kept_answer"] == 0


async def test_who_may_no_longer_do_it_is_refused_also_again(application: Application) -> None:
    await application.ask("make", LAMP, "key")
    async with application.db.engine.begin() as connection:
        await connection.execute(text("UPDATE app_user SET permissions = '{}'"))
    other_app = build_application(services_over(application.db))  # one that does not remember the caller
    async with httpx.AsyncClient(transport=httpx.ASGITransport(other_app), base_url="http://api.test") as client:
        assert (
            application.code(await Asker(application.ask.transport, client, application.ask.token)("make", LAMP, "key"))
            == "FORBIDDEN"
        )


# ---- refused, failed, declined


@pytest.mark.parametrize(
    ("operation", "values", "code"),
    [
        ("make", {"name": "Lamp", "outcome": "refused"}, "OUT_OF_STOCK"),
        ("make", {"name": "Lamp", "outcome": "missing"}, "NOT_FOUND"),
        ("make", {"name": "Lamp", "outcome": "bug"}, "INTERNAL_ERROR"),
        ("make", {"name": "Lamp", "outcome": "unwritable"}, "INTERNAL_ERROR"),
        ("make", {"name": ""}, "INVALID"),
        ("greet", {"name": "Ada", "outcome": "refused"}, "OUT_OF_STOCK"),
        ("greet", {"name": "Ada", "outcome": "missing"}, "NOT_FOUND"),
    ],
)
async def test_a_refusal_changes_nothing_and_leaves_the_key_free(
    application: Application, operation: str, values: dict[str, Any], code: str
) -> None:
    before = await application.count()
    for _ in range(2):
        answer = await application.ask(operation, values, "key")
        assert application.code(answer) == code
        assert not replayed(answer)
        assert await application.count() == before
    put_right = await application.ask(operation, OPERATIONS[operation][0], "key")
    assert (application.code(put_right), replayed(put_right)) == ("DONE", False)


@pytest.mark.parametrize("outcome", ["bug", "unwritable"])
async def test_where_it_is_unknown_what_was_done_the_key_is_for_this_request_only(
    application: Application, outcome: str
) -> None:
    broken = {"name": "Ada", "outcome": outcome}
    assert application.code(await application.ask("greet", broken, "key")) == "INTERNAL_ERROR"
    assert application.code(await application.ask("greet", {"name": "Ada"}, "key")) == "IDEMPOTENCY_MISMATCH"
    assert application.code(await application.ask("greet", broken, "key")) == "INTERNAL_ERROR"
    assert len(ran) == 2


async def test_a_declined_payment_is_kept_and_its_effect_rolled_back(application: Application) -> None:
    sent = {"name": "Lamp", "outcome": "declined"}
    first, again = await application.ask("make", sent, "key"), await application.ask("make", sent, "key")
    assert application.code(first) == "PAYMENT_DECLINED"
    assert first.status_code == (402 if application.ask.transport == "rest" else 200)
    assert (again.status_code, again.content, replayed(again)) == (first.status_code, first.content, True)
    assert len(ran) == 1
    count = await application.count()
    assert (count["product"], count["kept_answer"]) == (0, 1)


async def test_a_declined_payment_is_kept_and_what_was_written_down_of_it_stands(application: Application) -> None:
    first, again = (
        await application.ask("send", {"cents": 13}, "key"),
        await application.ask("send", {"cents": 13}, "key"),
    )
    assert application.code(first) == "PAYMENT_DECLINED"
    assert (again.content, replayed(again), provider.calls) == (first.content, True, 1)
    assert (await application.db.rows(text("SELECT state FROM test_remittance"))) == [("declined",)]


async def test_a_request_whose_end_is_unknown_goes_on_where_it_stopped(application: Application) -> None:
    provider.lose_answers = 2
    for _ in range(2):
        assert application.code(await application.ask("send", {"cents": 500}, "key")) == "PROVIDER_TIMED_OUT"
    assert application.code(await application.ask("send", {"cents": 600}, "key")) == "IDEMPOTENCY_MISMATCH"
    done = await application.ask("send", {"cents": 500}, "key")
    assert application.code(done) == "DONE"
    assert (provider.calls, list(provider.payments.values())) == (3, [500])
    assert (await application.count())["test_remittance"] == 1
    assert (await application.ask("send", {"cents": 500}, "key")).content == done.content


# ---- at once


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_twenty_at_once_have_one_effect(application: Application, operation: str) -> None:
    sent, _ = OPERATIONS[operation]
    other = Database(application.url)  # as in another process
    app = build_application(services_over(other))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://api.test") as client:
        askers = [application.ask, Asker(application.ask.transport, client, application.ask.token)] * 10
        answers = await asyncio.gather(*(ask(operation, sent, "key") for ask in askers))
    await other.aclose()
    done = [answer for answer in answers if application.code(answer) == "DONE"]
    assert {application.code(answer) for answer in answers} <= {"DONE", "IDEMPOTENCY_IN_PROGRESS"}
    assert len(ran) == 1
    assert sum(not replayed(answer) for answer in done) == 1
    assert len({answer.content for answer in done}) == 1
    last = await application.ask(operation, sent, "key")
    assert (last.content, replayed(last)) == (done[0].content, True)


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_while_it_runs_a_repetition_is_told_to_wait(application: Application, operation: str) -> None:
    sent = OPERATIONS[operation][0] | {"outcome": "wait"}
    running = asyncio.create_task(application.ask(operation, sent, "key"))
    await idempotent_operations.turns.here.wait()
    early = await application.ask(operation, sent, "key")
    assert application.code(early) == "IDEMPOTENCY_IN_PROGRESS"
    if application.ask.transport == "rest":
        assert (early.status_code, early.headers["retry-after"]) == (409, "1")
    else:
        assert early.json()["errors"][0]["extensions"]["retryAfter"] == 1
    idempotent_operations.turns.go.set()
    first = await running
    assert (await application.ask(operation, sent, "key")).content == first.content
    assert len(ran) == 1


# ---- crashes


@pytest.mark.parametrize(
    ("application", "operation"), [("rest", "make"), ("graphql", "send"), ("rest", "greet")], indirect=["application"]
)
async def test_a_request_whose_process_was_killed_is_done_once(
    application: Application, operation: str, tmp_path: pathlib.Path
) -> None:
    sent = OPERATIONS[operation][0] | {"outcome": "wait"}
    told = tmp_path / "told"
    with told.open("wb") as output:
        process = fork_server.start(
            "tests.resolvers.core.application", application.url, application.ask.token, application.ask.transport,
            operation, json.dumps(sent), "key", environment=os.environ, stdout=output, stderr=output,
        )  # fmt: skip
    async with asyncio.timeout(60):
        while told.read_text() != "waiting\n":
            assert process.poll() is None, told.read_text()
            await asyncio.sleep(0.02)
    process.kill()
    assert process.wait(60) == -signal.SIGKILL
    idempotent_operations.turns.go.set()
    if operation != "make":  # nobody can tell at once that it has died
        assert application.code(await application.ask(operation, sent, "key")) == "IDEMPOTENCY_IN_PROGRESS"
        clock.advance(idempotency.CLAIM_LIFE)
    answer = await _until_free(application, operation, sent)
    assert (application.code(answer), replayed(answer)) == ("DONE", False)
    assert (await application.ask(operation, sent, "key")).content == answer.content
    count = await application.count()
    assert (count["product"], count["test_remittance"]) == (operation == "make", operation == "send")


async def test_a_lost_connection_rolls_back_and_the_repetition_does_it(application: Application) -> None:
    sent = {"name": "Lamp", "outcome": "wait"}
    running = asyncio.create_task(application.ask("make", sent, "key"))
    await idempotent_operations.turns.here.wait()
    waits = "FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"
    await application.db.rows(text(f"SELECT pg_terminate_backend(pid) {waits}"))
    while await application.db.rows(text(f"SELECT 1 {waits}")):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)  # until the driver has read it
    idempotent_operations.turns.go.set()
    assert application.code(await running) == "UNAVAILABLE"
    assert (await application.count())["product"] == 0
    assert application.code(await application.ask("make", sent, "key")) == "DONE"
    assert (await application.count())["product"] == 1


async def test_who_lost_its_right_to_a_slower_one_commits_nothing(application: Application) -> None:
    sent = {"cents": 500, "outcome": "wait"}
    slow = asyncio.create_task(application.ask("send", sent, "key"))
    await idempotent_operations.turns.here.wait()
    clock.advance(idempotency.CLAIM_LIFE)
    idempotent_operations.turns.here.clear()
    quick = asyncio.create_task(application.ask("send", sent, "key"))
    await idempotent_operations.turns.here.wait()
    idempotent_operations.turns.go.set()
    answers = await asyncio.gather(slow, quick)
    assert [application.code(answer) for answer in answers] == ["IDEMPOTENCY_IN_PROGRESS", "DONE"]
    assert len(provider.payments) == 1
    assert (await application.ask("send", sent, "key")).content == answers[1].content


# ---- upkeep


async def test_answers_older_than_a_day_are_forgotten(
    application: Application, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idempotency, "PRUNE_BATCH_SIZE", 2)
    for number in range(5):
        await application.ask("greet", {"name": "Ada"}, f"key {number}")
    clock.advance(dt.timedelta(hours=23))
    await application.ask("greet", {"name": "Ada"}, "later")
    clock.advance(dt.timedelta(hours=1, seconds=1))
    await prune(services_over(application.db))
    assert await application.db.rows(text("SELECT key FROM kept_answer")) == [("later",)]


async def _until_free(application: Application, operation: str, values: dict[str, Any]) -> httpx.Response:
    """The answer once PostgreSQL has noticed that a process is gone."""
    async with asyncio.timeout(60):
        while application.code(answer := await application.ask(operation, values, "key")) == "IDEMPOTENCY_IN_PROGRESS":
            await asyncio.sleep(0.05)
    return answer


def _shape(value: Any) -> Any:
    """The keys and kinds of an answer, without what differs from one to the next."""
    if isinstance(value, dict):
        return {key: _shape(inner) for key, inner in value.items()}
    return [_shape(inner) for inner in value] if isinstance(value, list) else type(value).__name__

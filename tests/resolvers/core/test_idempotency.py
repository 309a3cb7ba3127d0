"""Requests with an Idempotency-Key, over both transports: what is kept, for whom, how long, and what of it a crash leaves."""

import asyncio
import datetime as dt
import json
import os
import signal
import sys
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from resolvers.core.idempotency import prune
from store import idempotency
from store.core.clock import clock
from store.database.db import Database
from tests.resolvers.core import idempotent_operations
from tests.resolvers.core.idempotency_world import (
    LAMP,
    OPERATIONS,
    Asker,
    World,
    application,
    open_world,
    replayed,
    services_over,
)
from tests.resolvers.core.idempotent_operations import provider, ran


@pytest.fixture(params=["rest", "graphql"])
async def world(request: pytest.FixtureRequest, database: Database, database_url: str) -> AsyncIterator[World]:
    """Two partners, asking over a transport."""
    async with open_world(request.param, database, database_url) as found:
        yield found


# ---- again


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_the_first_answer_is_given_again_to_the_letter(world: World, operation: str) -> None:
    sent, _ = OPERATIONS[operation]
    first = await world.ask(operation, sent, "key")
    assert world.code(first) == "DONE"
    assert not replayed(first)
    before = await world.count()
    clock.advance(dt.timedelta(hours=23, minutes=59))
    again = await world.ask(operation, sent, "key")
    assert replayed(again)
    assert (again.status_code, again.content) == (first.status_code, first.content)
    assert again.headers["content-type"] == first.headers["content-type"]
    assert len(ran) == 1
    assert await world.count() == before


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_an_answer_with_a_key_is_the_one_without(world: World, operation: str) -> None:
    sent, _ = OPERATIONS[operation]
    with_key, without = await world.ask(operation, sent, "key"), await world.ask(operation, sent)
    assert with_key.status_code == without.status_code
    assert with_key.headers["content-type"] == without.headers["content-type"]
    assert _shape(with_key.json()) == _shape(without.json())


async def test_an_answer_tells_what_was_written_but_not_yet_committed(world: World) -> None:
    answer = await world.ask("make", LAMP, "key")
    for value in ("red", "blue"):
        assert f'"value":"{value}"' in answer.text


async def test_after_24_hours_a_key_is_new(world: World) -> None:
    first = await world.ask("make", LAMP, "key")
    clock.advance(dt.timedelta(hours=24, seconds=1))
    other = await world.ask("make", {"name": "Chair"}, "key")
    assert (world.code(other), replayed(other)) == ("DONE", False)
    assert other.content != first.content
    assert (await world.ask("make", {"name": "Chair"}, "key")).content == other.content
    assert ran == ["make Lamp", "make Chair"]


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_another_request_with_the_same_key_is_refused(world: World, operation: str) -> None:
    sent, other = OPERATIONS[operation]
    await world.ask(operation, sent, "key")
    before = await world.count()
    refused = [await world.ask(operation, other, "key")]
    refused += [
        await world.ask(another, OPERATIONS[another][0], "key") for another in OPERATIONS if another != operation
    ]
    for answer in refused:
        assert world.code(answer) == "IDEMPOTENCY_MISMATCH"
        assert not replayed(answer)
    assert len(ran) == 1
    assert await world.count() == before


async def test_keys_of_another_token_are_other_keys(world: World) -> None:
    first = await world.ask("make", LAMP, "key")
    theirs = await world.ask("make", {"name": "Chair"}, "key", world.other_token)
    assert (world.code(theirs), replayed(theirs)) == ("DONE", False)
    assert (await world.ask("make", LAMP, "key")).content == first.content


async def test_without_a_key_nothing_is_kept(world: World) -> None:
    for operation, (sent, _) in OPERATIONS.items():
        await world.ask(operation, sent)
        await world.ask(operation, sent)
    assert len(ran) == 2 * len(OPERATIONS)
    assert (await world.count())["kept_answer"] == 0


async def test_who_may_no_longer_do_it_is_refused_also_again(world: World) -> None:
    await world.ask("make", LAMP, "key")
    async with world.db.engine.begin() as connection:
        await connection.execute(text("UPDATE app_user SET permissions = '{}'"))
    once_world_app = application(services_over(world.db))  # one that does not remember the caller
    async with httpx.AsyncClient(transport=httpx.ASGITransport(once_world_app), base_url="http://api.test") as client:
        assert world.code(await Asker(world.ask.transport, client, world.ask.token)("make", LAMP, "key")) == "FORBIDDEN"


# ---- refused, failed, declined


@pytest.mark.parametrize(
    ("operation", "sent", "code"),
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
    world: World, operation: str, sent: dict[str, Any], code: str
) -> None:
    before = await world.count()
    for _ in range(2):
        answer = await world.ask(operation, sent, "key")
        assert world.code(answer) == code
        assert not replayed(answer)
        assert await world.count() == before
    put_right = await world.ask(operation, OPERATIONS[operation][0], "key")
    assert (world.code(put_right), replayed(put_right)) == ("DONE", False)


@pytest.mark.parametrize("outcome", ["bug", "unwritable"])
async def test_where_it_is_unknown_what_was_done_the_key_is_for_this_request_only(world: World, outcome: str) -> None:
    broken = {"name": "Ada", "outcome": outcome}
    assert world.code(await world.ask("greet", broken, "key")) == "INTERNAL_ERROR"
    assert world.code(await world.ask("greet", {"name": "Ada"}, "key")) == "IDEMPOTENCY_MISMATCH"
    assert world.code(await world.ask("greet", broken, "key")) == "INTERNAL_ERROR"
    assert len(ran) == 2


async def test_a_declined_payment_is_kept_and_its_effect_rolled_back(world: World) -> None:
    sent = {"name": "Lamp", "outcome": "declined"}
    first, again = await world.ask("make", sent, "key"), await world.ask("make", sent, "key")
    assert world.code(first) == "PAYMENT_DECLINED"
    assert first.status_code == (402 if world.ask.transport == "rest" else 200)
    assert (again.status_code, again.content, replayed(again)) == (first.status_code, first.content, True)
    assert len(ran) == 1
    count = await world.count()
    assert (count["product"], count["kept_answer"]) == (0, 1)


async def test_a_declined_payment_is_kept_and_what_was_written_down_of_it_stands(world: World) -> None:
    first, again = await world.ask("send", {"cents": 13}, "key"), await world.ask("send", {"cents": 13}, "key")
    assert world.code(first) == "PAYMENT_DECLINED"
    assert (again.content, replayed(again), provider.calls) == (first.content, True, 1)
    assert (await world.db.rows(text("SELECT state FROM test_transfer"))) == [("declined",)]


async def test_a_request_whose_end_is_unknown_goes_on_where_it_stopped(world: World) -> None:
    provider.lose_answers = 2
    for _ in range(2):
        assert world.code(await world.ask("send", {"cents": 500}, "key")) == "PROVIDER_TIMED_OUT"
    assert world.code(await world.ask("send", {"cents": 600}, "key")) == "IDEMPOTENCY_MISMATCH"
    done = await world.ask("send", {"cents": 500}, "key")
    assert world.code(done) == "DONE"
    assert (provider.calls, list(provider.sent.values())) == (3, [500])
    assert (await world.count())["test_transfer"] == 1
    assert (await world.ask("send", {"cents": 500}, "key")).content == done.content


# ---- at once


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_twenty_at_once_have_one_effect(world: World, operation: str) -> None:
    sent, _ = OPERATIONS[operation]
    other = Database(world.url)  # as in another process
    app = application(services_over(other))
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://api.test") as client:
        askers = [world.ask, Asker(world.ask.transport, client, world.ask.token)] * 10
        answers = await asyncio.gather(*(ask(operation, sent, "key") for ask in askers))
    await other.aclose()
    done = [answer for answer in answers if world.code(answer) == "DONE"]
    assert {world.code(answer) for answer in answers} <= {"DONE", "IDEMPOTENCY_IN_PROGRESS"}
    assert len(ran) == 1
    assert sum(not replayed(answer) for answer in done) == 1
    assert len({answer.content for answer in done}) == 1
    last = await world.ask(operation, sent, "key")
    assert (last.content, replayed(last)) == (done[0].content, True)


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_while_it_runs_a_repetition_is_told_to_wait(world: World, operation: str) -> None:
    sent = OPERATIONS[operation][0] | {"outcome": "wait"}
    running = asyncio.create_task(world.ask(operation, sent, "key"))
    await idempotent_operations.turns.here.wait()
    early = await world.ask(operation, sent, "key")
    assert world.code(early) == "IDEMPOTENCY_IN_PROGRESS"
    if world.ask.transport == "rest":
        assert (early.status_code, early.headers["retry-after"]) == (409, "1")
    else:
        assert early.json()["errors"][0]["extensions"]["retryAfter"] == 1
    idempotent_operations.turns.go.set()
    first = await running
    assert (await world.ask(operation, sent, "key")).content == first.content
    assert len(ran) == 1


# ---- crashes


@pytest.mark.parametrize("operation", OPERATIONS)
async def test_a_request_whose_process_was_killed_is_done_once(world: World, operation: str) -> None:
    sent = OPERATIONS[operation][0] | {"outcome": "wait"}
    program = [sys.executable, "-m", "tests.resolvers.core.idempotency_world", world.url, world.ask.token]
    process = await asyncio.create_subprocess_exec(
        *program, world.ask.transport, operation, json.dumps(sent), "key", stdout=asyncio.subprocess.PIPE
    )
    assert process.stdout is not None
    assert await process.stdout.readline() == b"waiting\n"
    os.kill(process.pid, signal.SIGKILL)
    await process.wait()
    idempotent_operations.turns.go.set()
    if operation != "make":  # nobody can tell at once that it has died
        assert world.code(await world.ask(operation, sent, "key")) == "IDEMPOTENCY_IN_PROGRESS"
        clock.advance(idempotency.HELD_FOR)
    answer = await _until_free(world, operation, sent)
    assert (world.code(answer), replayed(answer)) == ("DONE", False)
    assert (await world.ask(operation, sent, "key")).content == answer.content
    count = await world.count()
    assert (count["product"], count["test_transfer"]) == (operation == "make", operation == "send")


async def test_a_lost_connection_rolls_back_and_the_repetition_does_it(world: World) -> None:
    sent = {"name": "Lamp", "outcome": "wait"}
    running = asyncio.create_task(world.ask("make", sent, "key"))
    await idempotent_operations.turns.here.wait()
    waits = "FROM pg_stat_activity WHERE datname = current_database() AND state = 'idle in transaction'"
    await world.db.rows(text(f"SELECT pg_terminate_backend(pid) {waits}"))
    while await world.db.rows(text(f"SELECT 1 {waits}")):
        await asyncio.sleep(0.01)
    await asyncio.sleep(0.1)  # until the driver has read it
    idempotent_operations.turns.go.set()
    assert world.code(await running) == "UNAVAILABLE"
    assert (await world.count())["product"] == 0
    assert world.code(await world.ask("make", sent, "key")) == "DONE"
    assert (await world.count())["product"] == 1


async def test_who_lost_its_right_to_a_slower_one_commits_nothing(world: World) -> None:
    sent = {"cents": 500, "outcome": "wait"}
    slow = asyncio.create_task(world.ask("send", sent, "key"))
    await idempotent_operations.turns.here.wait()
    clock.advance(idempotency.HELD_FOR)
    idempotent_operations.turns.here.clear()
    quick = asyncio.create_task(world.ask("send", sent, "key"))
    await idempotent_operations.turns.here.wait()
    idempotent_operations.turns.go.set()
    answers = await asyncio.gather(slow, quick)
    assert [world.code(answer) for answer in answers] == ["IDEMPOTENCY_IN_PROGRESS", "DONE"]
    assert len(provider.sent) == 1
    assert (await world.ask("send", sent, "key")).content == answers[1].content


# ---- upkeep


async def test_answers_older_than_a_day_are_forgotten(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(idempotency, "PRUNED_AT_ONCE", 2)
    for number in range(5):
        await world.ask("greet", {"name": "Ada"}, f"key {number}")
    clock.advance(dt.timedelta(hours=23))
    await world.ask("greet", {"name": "Ada"}, "later")
    clock.advance(dt.timedelta(hours=1, seconds=1))
    await prune(services_over(world.db))
    assert await world.db.rows(text("SELECT key FROM kept_answer")) == [("later",)]


async def _until_free(world: World, operation: str, sent: dict[str, Any]) -> httpx.Response:
    """The answer once PostgreSQL has noticed that a process is gone."""
    async with asyncio.timeout(60):
        while world.code(answer := await world.ask(operation, sent, "key")) == "IDEMPOTENCY_IN_PROGRESS":
            await asyncio.sleep(0.05)
    return answer


def _shape(value: Any) -> Any:
    """The keys and kinds of an answer, without what differs from one to the next."""
    if isinstance(value, dict):
        return {key: _shape(inner) for key, inner in value.items()}
    return [_shape(inner) for inner in value] if isinstance(value, list) else type(value).__name__

"""Whatever is sent in whatever order, answers are those of a model with nothing but a dictionary."""

import asyncio
import datetime as dt
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import MetaData, text

from store.core.clock import clock
from store.database.db import Database
from tests.resolvers.core.application import Asker, build_application, prepared, replayed, services_over
from tests.resolvers.core.idempotent_operations import METADATA, ran

CODES = {"": "DONE", "refused": "OUT_OF_STOCK", "missing": "NOT_FOUND", "declined": "PAYMENT_DECLINED"}
ENDED = {"DONE", "PAYMENT_DECLINED"}
DAY = dt.timedelta(hours=24)
REQUESTS = st.tuples(
    st.sampled_from(["rest", "graphql"]),
    st.booleans(),
    st.sampled_from([None, "a", "b"]),
    st.sampled_from(["make", "greet"]),
    st.sampled_from(["Ada", "Eve"]),
    st.sampled_from(list(CODES)),
    st.sampled_from([0, 0, 0, 9, 25]),
)
"""Over what, by whose token, with which key, for what of whom, to end how, after how many hours."""


class Model:
    """What is kept: for a token and a key the request, its answer, and when it was given."""

    def __init__(self) -> None:
        self.answers: dict[tuple[bool, str], tuple[Any, bytes, dt.datetime]] = {}

    def expects(self, mine: bool, key: str | None, request: Any, outcome: str) -> tuple[str, bytes | None]:
        """The code of the next answer; and its bytes, where it was given before."""
        found = None if key is None else self.answers.get((mine, key))
        if found is None or found[2] <= clock.now() - DAY:
            return CODES[outcome], None
        return (CODES[outcome], found[1]) if found[0] == request else ("IDEMPOTENCY_MISMATCH", None)


@pytest.fixture
def more_tables() -> MetaData:
    """The tables of the operations of these tests."""
    return METADATA


@pytest.fixture
def runner() -> Iterator[asyncio.Runner]:
    """One loop for all examples."""
    with asyncio.Runner() as found:
        yield found


@pytest.fixture
def askers(runner: asyncio.Runner, database_url: str) -> Iterator[dict[tuple[str, bool], Asker]]:
    """Who asks: over each transport, with each of two tokens."""
    db = runner.run(_open(database_url))
    found = runner.run(prepared(db))
    client = httpx.AsyncClient(
        transport=httpx.ASGITransport(build_application(services_over(db))), base_url="http://api.test"
    )
    tokens = {True: found["token"], False: found["other_token"]}
    made = {(t, mine): Asker(t, client, token) for t in ("rest", "graphql") for mine, token in tokens.items()}
    yield made
    runner.run(client.aclose())
    runner.run(db.aclose())


async def _open(url: str) -> Database:
    return Database(url)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(requests=st.lists(REQUESTS, max_size=12))
def test_answers_are_those_of_the_model(
    runner: asyncio.Runner, askers: dict[tuple[str, bool], Asker], database_url: str, requests: list[Any]
) -> None:
    runner.run(_forget(database_url))
    runner.run(_compared(askers, requests))


async def _forget(url: str) -> None:
    db = Database(url)
    async with db.engine.begin() as connection:
        await connection.execute(text("DELETE FROM kept_answer"))
    await db.aclose()


async def _compared(askers: dict[tuple[str, bool], Asker], requests: list[Any]) -> None:
    model = Model()
    for transport, mine, key, operation, name, outcome, hours in requests:
        clock.advance(dt.timedelta(hours=hours))
        ask, request, before = askers[transport, mine], (transport, operation, name, outcome), len(ran)
        code, again = model.expects(mine, key, request, outcome)
        answer = await ask(operation, {"name": name, "outcome": outcome}, key)
        assert ask.code(answer) == code
        assert replayed(answer) is (again is not None)
        assert len(ran) - before == (again is None and code != "IDEMPOTENCY_MISMATCH")
        if again is not None:
            assert answer.content == again
        elif key is not None and code in ENDED:
            model.answers[mine, key] = (request, answer.content, clock.now())

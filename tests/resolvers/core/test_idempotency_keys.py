"""Idempotency keys: what is one, which requests count as the same, what a key costs."""

from collections.abc import AsyncIterator

import httpx
import pytest
from sqlalchemy import MetaData

from store.database.db import Database
from tests.resolvers.core.application import (
    LAMP,
    OPERATIONS,
    Application,
    build_application,
    count_rows,
    open_application,
    prepared,
    replayed,
    services_over,
)
from tests.resolvers.core.idempotent_operations import METADATA, ran
from tests.statements import executed


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


@pytest.mark.parametrize("key", ["", "x" * 256, "tab\there", "clé", "\x7f"])
async def test_a_key_that_is_none_is_refused(application: Application, key: str) -> None:
    before = await application.count()
    answer = await application.ask("make", LAMP, key.encode())  # type: ignore[arg-type]  # httpx sends bytes as they are
    assert answer.status_code == 400
    assert ran == []
    assert await application.count() == before


async def test_of_two_keys_neither_counts(application: Application) -> None:
    async def with_another(request: httpx.Request) -> None:
        request.headers = httpx.Headers([*request.headers.raw, (b"Idempotency-Key", b"another")])

    application.ask.client.event_hooks["request"].append(with_another)
    before = await application.count()
    assert (await application.ask("make", LAMP, "key")).status_code == 400
    assert ran == []
    assert await application.count() == before


@pytest.mark.parametrize("key", ["x" * 255, " ", 'it\'s "mine"; DROP TABLE token', "a" * 254 + "~"])
async def test_a_key_has_up_to_255_printable_characters(application: Application, key: str) -> None:
    first = await application.ask("make", LAMP, key)
    assert (await application.ask("make", LAMP, key)).content == first.content
    assert len(ran) == 1


async def test_uploads_are_compared_by_their_parts(application: Application) -> None:
    first = await application.ask.picture("cat", b"meow", "key")
    assert application.code(first) == "DONE"
    assert '"weight":4' in first.text or '"weightGrams":4' in first.text
    again = await application.ask.picture("cat", b"meow", "key")  # with another boundary between the parts
    assert (again.content, replayed(again)) == (first.content, True)
    for other in (
        application.ask.picture("cat", b"woof", "key"),
        application.ask.picture("dog", b"meow", "key"),
        application.ask.picture("cat", b"meow", "key", filename="b.png"),
        application.ask.picture("cat", b"meow", "key", kind="image/jpeg"),
    ):
        assert application.code(await other) == "IDEMPOTENCY_MISMATCH"
    assert ran == ["picture cat"]


async def test_bodies_are_compared_by_what_they_say(database: Database) -> None:
    found = await prepared(database)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(build_application(services_over(database))), base_url="http://api.test"
    ) as client:
        headers = {"Authorization": f"Token {found['token']}", "Idempotency-Key": "key"}

        async def post(path: str, body: str, method: str = "POST") -> httpx.Response:
            return await client.request(method, path, content=body, headers=headers)

        first = await post("/api/things/", '{"name": "Lamp", "outcome": ""}')
        assert first.status_code == 201
        assert replayed(await post("/api/things", '{ "outcome":"",\n"name":"\\u004camp"}'))
        for path, body, method in (
            ("/api/things/", '{"name": "Lamp"}', "POST"),
            ("/api/things/Lamp/", '{"name": "Lamp", "outcome": ""}', "PUT"),
            ("/api/things/Lamp/", '{"name": "Lamp", "outcome": ""}', "PATCH"),
        ):
            assert (await post(path, body, method)).json()["code"] == "idempotency_mismatch"
        deep = '{"name": "Lamp", "unknown": ' + "[" * 1000 + "]" * 1000 + "}"
        assert (await post("/api/things/", deep)).status_code == 400
        assert (await post("/api/things/", '{"name": "Lamp", "unknown": "\\ud800"}')).status_code == 409
        assert ran == ["make Lamp"]


async def test_a_query_needs_no_key_and_ignores_one(database: Database) -> None:
    found = await prepared(database)
    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(build_application(services_over(database))), base_url="http://api.test"
    ) as client:
        headers = {"Authorization": f"Token {found['token']}", "Idempotency-Key": "key"}
        for number in range(3):
            response = await client.post("/graphql/", json={"query": "{ howMany }"}, headers=headers)
            assert response.json()["data"] == {"howMany": number}
            ran.append("something")
    assert (await count_rows(database))["kept_answer"] == 0


@pytest.mark.parametrize(("operation", "more"), [("make", 2), ("send", 3), ("greet", 3)])
async def test_a_key_costs_few_statements(application: Application, operation: str, more: int) -> None:
    sent, _ = OPERATIONS[operation]
    counts = []
    for key in ("warm", None, "key"):
        with executed(application.db) as seen:
            await application.ask(operation, sent, key)
        counts.append(_but_for_the_audit_log(seen))
    assert counts[2] - counts[1] == more
    with executed(application.db) as seen:
        assert replayed(await application.ask(operation, sent, "key"))
    assert _but_for_the_audit_log(seen) == 1


def _but_for_the_audit_log(statements: list[str]) -> int:
    return sum("audit_entry" not in statement for statement in statements)

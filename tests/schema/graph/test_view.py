"""The endpoint beyond the specification: sizes, bounds, uploads, keys, GraphiQL."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from schema.graph import graphiql
from schema.graph.bounds import QueryLimits
from schema.graph.requests import BODY_LIMIT, UPLOAD_LIMIT
from store.database.db import Database
from tests.schema.graph.clients import JSON, Client, application

MUTATION = 'mutation($file: Upload!) { setPicture(input: { code: "C00002", picture: $file }) { card { message } userErrors { code } } }'


def code_of(response: httpx.Response) -> str:
    return str(response.json()["errors"][0]["extensions"]["code"])


# ---- sizes


async def test_a_large_body_is_refused_whether_or_not_it_says_so(client: Client) -> None:
    large = b'{"query": "{ __typename }", "x": "' + b"x" * BODY_LIMIT + b'"}'

    async def chunks() -> AsyncIterator[bytes]:
        for at in range(0, len(large), 65536):
            yield large[at : at + 65536]

    for content in (large, chunks()):
        response = await client.post("/graphql/", content=content, headers={"content-type": JSON})
        assert response.status_code == 413
        assert code_of(response) == "TOO_LARGE"


async def test_compressed_bodies_are_not_read(client: Client) -> None:
    headers = {"content-type": JSON, "content-encoding": "gzip"}
    assert (await client.post("/graphql/", content=b"x", headers=headers)).status_code == 415


@pytest.mark.parametrize("query", ['{ greeting(name: "a\\u0000b") }', '{ greeting(name: "a\\u{0}b") }'])
async def test_a_character_that_no_database_takes(client: Client, query: str) -> None:
    response = await client.ask(query)
    assert response.status_code == 400
    response = await client.ask("query($n: String!) { greeting(name: $n) }", n="a\0b")
    assert response.status_code == 400
    assert "NUL" in response.text
    response = await client.ask("query($n: String!) { greeting(name: $n) }", n="a\\u0000b")  # a backslash, not NUL
    assert response.json()["data"]["greeting"] == "Hello a\\u0000b"


# ---- bounds


TOO_MUCH = [
    (QueryLimits(depth=3), "{ cards { nodes { title { en } } } }", "DEPTH_LIMIT_EXCEEDED"),
    (
        QueryLimits(depth=3),
        "{ cards { ...P } } fragment P on CardConnection { nodes { ...T } } fragment T on Card { title { en } }",
        "DEPTH_LIMIT_EXCEEDED",
    ),
    (QueryLimits(aliases=2), "{ a: __typename b: __typename c: __typename }", "ALIASES_LIMIT_EXCEEDED"),
    (
        QueryLimits(repeated_fields=2),
        "{ __typename __typename ... { __typename __typename } }",
        "REPEATED_FIELDS_LIMIT_EXCEEDED",
    ),
    (QueryLimits(tokens=5), "{ __typename __typename __typename __typename }", "TOKENS_LIMIT_EXCEEDED"),
    (QueryLimits(tokens=5), "{ __typename }" + 120 * " ", "TOKENS_LIMIT_EXCEEDED"),
    (QueryLimits(cost=100), "{ cards(first: 100) { nodes { id } } }", "COST_LIMIT_EXCEEDED"),
    (QueryLimits(cost=100), "{ cards { nodes { uses { id } } } }", "COST_LIMIT_EXCEEDED"),
    (
        QueryLimits(cost=15),
        'mutation { a: shout(input: { label: "a", quantity: 1 }) { text } b: shout(input: { label: "a", quantity: 1 }) { text } }',
        "COST_LIMIT_EXCEEDED",
    ),
]


async def test_what_asks_for_too_much_is_not_run(db: Database, statements: list[str]) -> None:
    for limits, query, code in TOO_MUCH:
        async with Client(application(db, limits=limits)) as client:
            for _ in range(2):
                response = await client.ask(query)
                assert response.status_code == 400, query
                assert code_of(response) == code
                assert "data" not in response.json()
    assert statements == []


async def test_the_cost_is_told(cards_client: Client) -> None:
    for query, cost, variables in (
        ("{ __typename }", 1, {}),
        ("{ cards(first: 10) { nodes { id } } }", 11, {}),
        ("{ cards(last: 10) { edges { node { title { en } issuer { id } } } } }", 1 + 10 * (1 + 1), {}),
        ("{ basket { total { amount } lines { label } } }", 5, {}),
        ("{ cards { nodes { uses { issuer { id } } } } }", 1 + 20 * (1 + 5 * (1 + 1)), {}),
        ("query($n: Int) { cards(first: $n) { nodes { id } } }", 6, {"n": 5}),
        ("query($n: Int) { cards(first: $n) { nodes { id } } }", 8, {"n": 7}),
        ("query($n: Int = 3) { cards(first: $n) { nodes { id } } }", 4, {}),
        ("query($n: Int) { cards(first: $n) { nodes { id } } }", 101, {"n": 2_000_000_000}),
        (
            "{ cards(first: 10) { ...P } b: cards(first: 2) { ...P } } fragment P on CardConnection { nodes { id } }",
            14,
            {},
        ),
    ):
        response = await cards_client.post("/graphql/", json={"query": query, "variables": variables})
        answer = response.json()
        assert answer["extensions"]["cost"] == {"requested": cost, "limit": 10_000}, query


async def test_the_cost_of_a_refused_request_is_told(db: Database) -> None:
    async with Client(application(db, limits=QueryLimits(cost=50))) as client:
        answer = (await client.ask("{ cards(first: 100) { nodes { id } } }")).json()
    assert answer["extensions"]["cost"] == {"requested": 101, "limit": 50}
    assert answer["errors"][0]["extensions"] == {"code": "COST_LIMIT_EXCEEDED", "requested": 101, "limit": 50}


async def test_fragments_in_circles_and_bombs_end(client: Client) -> None:
    circle = "{ cards { ...A } } fragment A on CardConnection { ...B } fragment B on CardConnection { ...A }"
    assert code_of(await client.ask(circle)) == "GRAPHQL_VALIDATION_FAILED"
    bomb = "{ ...F0 } " + " ".join(
        f"fragment F{n} on Query {{ a{n}: cards {{ totalCount }} ...F{n + 1} b{n}: cards {{ totalCount }} ...F{n + 1} }}"
        for n in range(25)
    )
    response = await client.ask(bomb + " fragment F25 on Query { __typename }")
    assert response.status_code == 400
    doubling = "{ ...F0 } " + " ".join(f"fragment F{n} on Query {{ ...F{n + 1} ...F{n + 1} }}" for n in range(100))
    refused = await client.ask(doubling + " fragment F100 on Query { cards { totalCount } }")
    assert code_of(refused) == "COST_LIMIT_EXCEEDED"
    chain = "{ ...F0 } " + " ".join(f"fragment F{n} on Query {{ ...F{n + 1} }}" for n in range(180))
    assert (await client.ask(chain + " fragment F180 on Query { __typename }")).status_code in {200, 400}


async def test_introspection_is_free_of_the_depth_bound_and_can_be_switched_off(db: Database) -> None:
    from graphql import get_introspection_query

    async with Client(application(db, limits=QueryLimits(depth=4))) as client:
        answer = (await client.ask(get_introspection_query())).json()
        assert answer["data"]["__schema"]["queryType"]["name"] == "Query"
    async with Client(application(db, introspection=False)) as client:
        for query in (get_introspection_query(), '{ __type(name: "Card") { name } }'):
            response = await client.ask(query)
            assert response.status_code == 400
            assert code_of(response) == "INTROSPECTION_DISABLED"
        assert (await client.ask("{ __typename }")).json()["data"] == {"__typename": "Query"}
        assert "Did you mean" not in (await client.ask("{ card(id: 1) { cod } }")).text


# ---- keys


async def test_a_key_has_printable_characters(client: Client) -> None:
    for bad in ("", "x" * 256, "tab\there"):
        response = await client.ask("{ __typename }", headers={"idempotency-key": bad})
        assert response.status_code == 400, bad
        assert code_of(response) == "BAD_REQUEST"
    response = await client.post(
        "/graphql/", json={"query": "{ __typename }"}, headers=[(b"idempotency-key", "clé".encode())]
    )
    assert response.status_code == 400
    for good in ("k" * 255, "a b"):
        assert (await client.ask("{ __typename }", headers={"idempotency-key": good})).status_code == 200


@pytest.mark.parametrize(
    "several",
    [
        "mutation { a: SHOUT { text } b: SHOUT { text } }",
        "mutation { ...both } fragment both on Mutation { a: SHOUT { text } ... { b: SHOUT { text } } }",
        "mutation ($no: Boolean = false) { a: SHOUT { text } b: SHOUT @include(if: $no) { text } }",
    ],
)
async def test_a_key_is_for_one_mutation(client: Client, several: str) -> None:
    query = several.replace("SHOUT", 'shout(input: { label: "a", quantity: 1 })')
    response = await client.ask(query, headers={"idempotency-key": "k"})
    assert response.status_code == 400
    assert code_of(response) == "BAD_REQUEST"
    assert (await client.ask(query)).status_code == 200


# ---- uploads


def form(operations: Any, places: Any) -> dict[str, str]:
    return {"operations": json.dumps(operations), "map": json.dumps(places)}


async def upload(client: Client, places: Any, content: bytes = b"12345", variables: Any = None) -> httpx.Response:
    operations = {"query": MUTATION, "variables": {"file": None} if variables is None else variables}
    return await client.post("/graphql/", data=form(operations, places), files={"0": ("b.png", content, "image/png")})


async def test_uploads(cards_client: Client, db: Database) -> None:
    response = await upload(cards_client, {"0": ["variables.file"]})
    assert response.json()["data"]["setPicture"] == {"card": {"message": "b.png:5"}, "userErrors": []}
    async with db.engine.connect() as connection:
        found = await connection.execute(text("SELECT message FROM example_card WHERE code = 'C00002'"))
        assert found.scalar_one() == "b.png:5"


@pytest.mark.parametrize(
    "places",
    [
        [],
        {"1": ["variables.file"]},
        {"0": "variables.file"},
        {"0": ["variables.other"]},
        {"0": ["query"]},
        {"0": ["variables.file.deeper"]},
        {"0": ["variables.file", "variables.file"]},
    ],
)
async def test_uploads_that_lead_nowhere(client: Client, places: Any) -> None:
    response = await upload(client, places)
    assert response.status_code == 400
    assert code_of(response) == "BAD_REQUEST"


async def test_uploads_have_a_size_too(cards_client: Client) -> None:
    response = await upload(cards_client, {"0": ["variables.file"]}, b"x" * UPLOAD_LIMIT)
    assert response.status_code == 413
    response = await upload(cards_client, {"0": ["variables.file"]}, b"x" * (UPLOAD_LIMIT - 4096))
    assert response.status_code == 200


async def test_forms_that_are_no_uploads(client: Client) -> None:
    for data in ({}, {"operations": "{}"}, form([], {}), {"operations": "{", "map": "{}"}):
        response = await client.post("/graphql/", data=data, files={"0": ("a", b"1", "text/plain")})
        assert response.status_code == 400
    headers = {"content-type": "multipart/form-data"}
    assert (await client.post("/graphql/", content=b"--x", headers=headers)).status_code == 400


@pytest.mark.parametrize("level", ["[{}]", '{{"a":{}}}'], ids=["lists", "objects"])
async def test_variables_nest_as_deep_as_json_may(client: Client, level: str) -> None:
    deep, nul = "1", '"\\u0000"'
    for _ in range(900):
        deep, nul = level.format(deep), level.format(nul)
    for variable, status in ((deep, 200), (nul, 400)):
        operations = f'{{"query": "{{ __typename }}", "variables": {{"a": {variable}}}}}'
        files = {"0": ("a", b"1", "text/plain")}
        response = await client.post("/graphql/", data={"operations": operations, "map": "{}"}, files=files)
        assert response.status_code == status, response.text


# ---- GraphiQL


async def test_graphiql_is_served_by_ourselves() -> None:
    async with Client(application(None, ide=True)) as client:
        for path in ("/graphql", "/graphql/"):
            page = await client.get(path, headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
            assert page.status_code == 200
            assert page.headers["content-type"].startswith("text/html")
            policy = page.headers["content-security-policy"]
            assert "default-src 'none'" in policy
            assert "unsafe" not in policy
            assert "http" not in policy
            assert "http" not in page.text
        for name in graphiql.assets().values():
            assert f"/graphql/static/{name}" in page.text
            asset = await client.get(f"/graphql/static/{name}")
            assert asset.status_code == 200
            assert "immutable" in asset.headers["cache-control"]
        for name in ("LICENSES.txt", "../view.py", "graphiql.js"):
            assert (await client.get(f"/graphql/static/{name}")).status_code == 404
        answer = await client.get("/graphql/", params={"query": "{ __typename }"}, headers={"accept": "text/html, */*"})
        assert answer.json()["data"] == {"__typename": "Query"}


async def test_graphiql_can_be_switched_off() -> None:
    async with Client(application(None)) as client:
        assert (await client.get("/graphql/", headers={"accept": "text/html"})).status_code == 406
        assert (await client.get("/graphql/static/x")).status_code == 404


def test_the_bundle_is_small_and_names_its_licences() -> None:
    assert set(graphiql.assets()) == {"js", "css"}
    assert sum(path.stat().st_size for path in graphiql.STATIC.iterdir()) < 3_000_000
    licences = (graphiql.STATIC / "LICENSES.txt").read_text()
    for name in ("graphiql 4", "react 18", "graphql 16", "codemirror 5"):
        assert name in licences

"""The compiled executor answers what graphql-core answers, in few statements, and tells when it cannot."""

import gc
from collections.abc import Iterator
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from prometheus_client import REGISTRY

from resolvers.core.lists.listing import PageArguments
from schema.core.permission import Permission
from schema.graph.server import GraphQLRequest, GraphQLServer
from store.database.db import Database
from tests.example_cards import cards, context
from tests.schema.graph.documents import documents
from tests.schema.graph.example_schema import schema

# graphql-core cancels the siblings of a failed field that may not be null, some of them before they have begun.
pytestmark = pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")

FAST = GraphQLServer(schema)
PLAIN = GraphQLServer(schema, compiled=False)
EVERYTHING = """
{ cards(first: 50) {
    nodes { __typename id uuid code status title { en it __typename } message nights gifted weight rate issuedOn createdAt
            expiresAt balance { amount currency } issuer { id name { fr } } uses { label issuer { slug } } }
    edges { cursor node { id } }
    pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    totalCount
} }
"""


@pytest.fixture(autouse=True)
def cancelled() -> Iterator[None]:
    """What was cancelled is told here rather than in a later test."""
    yield
    gc.collect()


async def ask(graph: GraphQLServer, db: Database, query: str, **variables: Any) -> Any:
    """The answer as it would be sent, and read again."""
    asking = context(db, 1, *Permission)
    asking.request_id = "r"
    answer = await graph.execute(GraphQLRequest(query, variables), asking)
    return orjson.loads(orjson.dumps(answer.body))


async def same(db: Database, query: str, **variables: Any) -> Any:
    """The answer, once both executors have given it; compiled twice, the second time out of the kept plans."""
    plain = await ask(PLAIN, db, query, **variables)
    for _ in range(2):
        fast = await ask(FAST, db, query, **variables)
        assert orjson.dumps(fast["data"]) == orjson.dumps(plain["data"]) if "data" in plain else fast == plain, query
        assert by_place(fast) == by_place(plain), query
    return plain


def by_place(answer: Any) -> list[Any]:
    """The errors, each by what it made null: of several that null one place, any may be told beside the first."""
    told = {(place(answer.get("data"), error.get("path", [])), error["message"]) for error in answer.get("errors", ())}
    return sorted(told, key=str)


def place(data: Any, path: list[Any]) -> tuple[Any, ...]:
    """What of a path is still there: the rest is within a null."""
    for depth, step in enumerate(path):
        if data is None:
            return tuple(path[:depth])
        data = data[step]
    return tuple(path)


async def cursor(db: Database) -> str:
    rows = (await cards(context(db), PageArguments(20))).rows
    return rows.order.cursor(*(await rows.page(()))[12][:2])


async def check(db: Database, document: str) -> None:
    at = await cursor(db)
    for yes, no in ((True, False), (False, True)):
        given = {"yes": yes, "no": no, "cursor": at}
        await same(db, document, **{name: value for name, value in given.items() if f"${name}" in document})


SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))


@SETTINGS
@given(document=documents())
async def test_any_document_is_answered_alike(db: Database, document: str) -> None:
    await check(db, document)


@SETTINGS
@given(document=documents(slow=False))
async def test_any_document_of_columns_is_answered_alike(db: Database, document: str) -> None:
    await check(db, document)


@SETTINGS
@given(document=documents())
async def test_nulls_where_there_should_be_none_are_told_alike(holed: Database, document: str) -> None:
    await check(holed, document)


async def test_everything_at_once(db: Database) -> None:
    answer = await same(db, EVERYTHING)
    page = answer["data"]["cards"]
    assert len(page["nodes"]) == 50
    assert page["totalCount"] == 60
    node = page["nodes"][0]
    assert node["status"] == "BLOCKED"
    assert node["createdAt"] == "2026-01-01T00:19:00.000000Z"
    assert node["balance"] == {"amount": "10.00", "currency": "EUR"}
    assert node["issuer"]["name"] == {"fr": "Émetteur 4"}


@pytest.mark.parametrize("size", [2, 50])
async def test_statements_do_not_grow_with_rows(db: Database, statements: list[str], size: int) -> None:
    await ask(FAST, db, EVERYTHING.replace("first: 50", f"first: {size}, orderBy: OLDEST"))
    assert len(statements) == 4, statements  # the page with issuers, its count, uses, issuers of uses
    assert not any(private in sql for sql in statements for private in ("pin_hash", "secret_note"))


@pytest.mark.parametrize("graph", [FAST, PLAIN])
async def test_statements_do_not_grow_without_the_compiler_either(
    db: Database, statements: list[str], graph: GraphQLServer
) -> None:
    counts = []
    for size in (2, 50):
        statements.clear()
        answer = await ask(graph, db, "query($n: Int) { cards(first: $n, orderBy: OLDEST) { nodes { echo issuer { slug loud name { en } } uses { label issuer { slug } } } } }", n=size)  # fmt: skip
        assert len(answer["data"]["cards"]["nodes"]) == size
        counts.append(len(statements))
    assert counts[0] == counts[1]


async def test_the_count_is_only_taken_when_asked_for(db: Database, statements: list[str]) -> None:
    await ask(FAST, db, "{ cards { nodes { id } pageInfo { endCursor hasNextPage } } }")
    assert len(statements) == 1
    assert "count(" not in statements[0]
    statements.clear()
    assert (await ask(FAST, db, "{ cards { totalCount } }"))["data"]["cards"] == {"totalCount": 60}
    assert len(statements) == 1


async def test_one_row_is_one_statement_of_its_columns(db: Database, statements: list[str]) -> None:
    answer = await ask(FAST, db, "{ card(id: 3) { code status } }")
    assert answer["data"] == {"card": {"code": "C00002", "status": "ACTIVE"}}
    assert len(statements) == 1
    assert "message" not in statements[0]


def fallbacks(kind: str, reason: str) -> float:
    return REGISTRY.get_sample_value("coffret_graphql_fallbacks_total", {"type": kind, "reason": reason}) or 0.0


async def test_fallbacks_are_counted_and_logged(db: Database, logs: list[Any]) -> None:
    before = fallbacks("CardConnection", "selection")
    graph = GraphQLServer(schema)
    for _ in range(3):
        await ask(graph, db, "{ cards { nodes { echo } } }")
    assert fallbacks("CardConnection", "selection") == before + 3
    told = [line for line in logs if line.get("type") == "CardConnection"]
    assert [line["because"] for line in told] == ["Card.echo: takes arguments"]  # compiled, and told, once


async def test_a_failing_compiled_part_is_counted_and_told_with_its_path(holed: Database, logs: list[Any]) -> None:
    before = fallbacks("CardConnection", "failure")
    answer = await same(holed, "{ cards(orderBy: ID) { nodes { id balance { amount } } } }")
    assert fallbacks("CardConnection", "failure") == before + 2
    assert answer["errors"][0]["path"] == ["cards", "nodes", 16, "balance"]
    assert any(line["event"] == "a compiled selection failed" for line in logs)


async def test_plans_are_kept_and_bounded(db: Database) -> None:
    graph = GraphQLServer(schema)
    query = "query($yes: Boolean!) { cards { nodes { id code @include(if: $yes) } } }"
    for yes in (True, False, True):
        answer = await ask(graph, db, query, yes=yes)
        assert ("code" in answer["data"]["cards"]["nodes"][0]) is yes
    assert len(graph.documents.get(query).plans) == 2


async def test_a_mutation_answers_through_the_same_plans(db: Database) -> None:
    query = (
        "mutation($input: IssueCardInput!) { issueCard(input: $input) {"
        " __typename card { code status balance { amount } issuer { slug } uses { label } } userErrors { field code message } } }"
    )
    answer = await ask(FAST, db, query, input={"code": "NEW", "price": "12.50"})
    assert answer["data"]["issueCard"] == {
        "__typename": "IssueCardPayload",
        "card": {
            "code": "NEW",
            "status": "ACTIVE",
            "balance": {"amount": "12.50"},
            "issuer": {"slug": "i0"},
            "uses": [],
        },
        "userErrors": [],
    }

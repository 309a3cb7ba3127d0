"""Documents that are named instead of sent, and servers that answer no others."""

import hashlib
import json
import pathlib
from typing import Any

import httpx
import pytest

from schema.graph.bounds import QueryLimits
from schema.graph.trusted import ManifestError, read_manifest
from tests.schema.graph.clients import JSON, RESPONSE, Client, application

GREET = "query Greet($name: String!) { greeting(name: $name) }"
DIGEST = hashlib.sha256(GREET.encode()).hexdigest()
REMOVE = 'mutation { removeCard(input: { code: "C", price: "1.00" }) { userErrors { code } } }'
CARDS = "{ cards { nodes { id } } }"
KNOWN = {DIGEST: GREET, "cards": CARDS, "remove": REMOVE}
INTROSPECTION = "{ __schema { queryType { name } } __typename }"


def client(**options: Any) -> Client:
    return Client(application(None, **{"trusted": KNOWN, **options}))


async def post(asking: Client, **body: Any) -> httpx.Response:
    return await asking.post("/graphql/", json=body, headers={"accept": RESPONSE})


def code_of(response: httpx.Response) -> str:
    (error,) = response.json()["errors"]
    assert response.status_code == 400
    assert "data" not in response.json()
    return str(error["extensions"]["code"])


@pytest.mark.parametrize(
    "named",
    [
        {"documentId": DIGEST},
        {"documentId": f"sha256:{DIGEST}"},
        {"extensions": {"persistedQuery": {"version": 1, "sha256Hash": DIGEST}}},
        {"documentId": DIGEST, "query": None},
    ],
)
@pytest.mark.parametrize("trusted_only", [False, True])
async def test_a_document_is_named_by_its_id(named: dict[str, Any], *, trusted_only: bool) -> None:
    async with client(trusted_only=trusted_only) as asking:
        response = await post(asking, variables={"name": "Ada"}, operationName="Greet", **named)
        assert response.json()["data"] == {"greeting": "Hello Ada"}
        assert response.json()["extensions"]["cost"]["requested"] == 1


async def test_a_document_is_named_in_an_address() -> None:
    async with client() as asking:
        for named in (
            {"documentId": f"sha256:{DIGEST}"},
            {"extensions": json.dumps({"persistedQuery": {"sha256Hash": DIGEST}})},
        ):
            asked = {"variables": '{"name": "Ada"}', **named}
            response = await asking.get("/graphql/", params=asked, headers={"accept": JSON})
            assert response.json()["data"] == {"greeting": "Hello Ada"}
        changes = await asking.get("/graphql/", params={"documentId": "remove"}, headers={"accept": JSON})
        assert changes.status_code == 405


async def test_an_id_that_nobody_knows() -> None:
    async with client() as asking:
        assert code_of(await post(asking, documentId="another")) == "PERSISTED_QUERY_NOT_FOUND"
    async with Client(application(None)) as asking:
        assert code_of(await post(asking, documentId=DIGEST)) == "PERSISTED_QUERY_NOT_SUPPORTED"


@pytest.mark.parametrize("id", [5, {"a": 1}, ["x"], False])
async def test_an_id_is_a_text(id: Any) -> None:
    async with client() as asking:
        assert code_of(await post(asking, documentId=id)) == "BAD_REQUEST"
        assert code_of(await post(asking, extensions={"persistedQuery": {"sha256Hash": id}})) == "BAD_REQUEST"
        assert code_of(await post(asking, documentId="")) == "BAD_REQUEST"


@pytest.mark.parametrize(
    "query", ['{ greeting(name: "x") }', f"{GREET} ", "{ nonsense", "{ noSuchField }", INTROSPECTION]
)
async def test_others_are_not_answered_where_only_trusted_ones_are(query: str) -> None:
    async with client(trusted_only=True, introspection=False) as asking:
        assert code_of(await post(asking, query=query)) == "DOCUMENT_NOT_TRUSTED"
        persisted = {"persistedQuery": {"version": 1, "sha256Hash": hashlib.sha256(query.encode()).hexdigest()}}
        assert code_of(await post(asking, query=query, extensions=persisted)) == "DOCUMENT_NOT_TRUSTED"
        assert (await post(asking, query=GREET, variables={"name": "Ada"})).json()["data"]
    async with client() as asking:
        if "no" not in query:
            assert "data" in (await post(asking, query=query, variables={"name": "Ada"})).json()


async def test_development_may_read_the_schema_beside_trusted_documents() -> None:
    async with client(trusted_only=True) as asking:
        answer = await post(asking, query=INTROSPECTION)
        assert answer.json()["data"]["__schema"] == {"queryType": {"name": "Query"}}
        for more in ('{ __typename greeting(name: "x") }', "{ ...F } fragment F on Query { basket { id } }"):
            assert code_of(await post(asking, query=more)) == "DOCUMENT_NOT_TRUSTED"


async def test_trusted_documents_keep_to_costs_and_permissions() -> None:
    async with client(trusted_only=True, limits=QueryLimits(cost=20)) as asking:
        assert code_of(await post(asking, documentId="cards")) == "COST_LIMIT_EXCEEDED"
    async with client(trusted_only=True) as asking:
        response = await asking.post(
            "/graphql/", json={"documentId": "remove"}, headers={"accept": RESPONSE, "authorization": "Token reader"}
        )
        assert response.json()["errors"][0]["extensions"]["code"] == "FORBIDDEN"


async def test_a_broken_document_breaks_no_other() -> None:
    known = {**KNOWN, "old": "{ noSuchField }", "worse": "{"}
    async with client(trusted=known, trusted_only=True, introspection=False) as asking:
        assert code_of(await post(asking, documentId="old")) == "GRAPHQL_VALIDATION_FAILED"
        assert code_of(await post(asking, documentId="worse")) == "GRAPHQL_PARSE_FAILED"
        assert (await post(asking, documentId=DIGEST, variables={"name": "Ada"})).json()["data"]


# ---- the file


@pytest.mark.parametrize(
    "written",
    [
        {"one": "{ a }", "two": "{ b }"},
        {"sha256:one": "{ a }", "two": "{ b }"},
        {
            "format": "apollo-persisted-query-manifest",
            "version": 1,
            "operations": [
                {"id": "one", "name": "A", "type": "query", "body": "{ a }"},
                {"id": "two", "name": "B", "type": "query", "body": "{ b }"},
            ],
        },
    ],
)
def test_the_files_of_common_tools_are_read(tmp_path: pathlib.Path, written: Any) -> None:
    path = tmp_path / "documents.json"
    path.write_text(json.dumps(written))
    assert read_manifest(path) == {"one": "{ a }", "two": "{ b }"}


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (None, "cannot be read"),
        ("{", "cannot be read"),
        ("[]", "holds no documents"),
        ("{}", "holds no documents"),
        ('{"one": 1}', "holds no documents"),
        ('{"": "{ a }"}', "holds no documents"),
        ('{"operations": []}', "holds no documents"),
        ('{"operations": ["{ a }"]}', "holds no documents"),
        ('{"operations": [{"id": "one"}]}', "holds no documents"),
    ],
)
def test_a_file_that_is_none_says_so(tmp_path: pathlib.Path, content: str | None, said: str) -> None:
    path = tmp_path / "documents.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(ManifestError, match=said):
        read_manifest(path)

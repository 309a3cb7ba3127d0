"""The words of the documentation: every route has them, and their GraphQL is that of the schema."""

import csv
import re
from collections.abc import AsyncIterator, Mapping

import httpx
import pytest
from graphql import FieldNode, OperationDefinitionNode, parse, validate

from rest_compat.openapi.reference import OPERATIONS, Reference, reference_of
from rest_compat.routes import ROUTES
from schema.root import schema
from tests.documents import demo_installation
from tests.rest_compat.clients import made_up_words
from tests.servers.databases import Databases

NO_FIELD = "-"
REFERENCES = {reference.id: reference for reference in map(reference_of, ROUTES)}
CORE = schema._schema
NOBODYS = re.compile("[Nn]o such|No partner of yours|has no |with provided credentials")
"""How a mutation refuses what names nothing of this installation."""


def documented() -> Mapping[str, tuple[str, str]]:
    """Id -> kind and field of the graph."""
    with OPERATIONS.open(newline="") as file:
        return {row["id"]: (row["graphql_kind"], row["graphql_field"]) for row in csv.DictReader(file)}


def test_each_route_has_the_words_of_one_operation() -> None:
    assert len(REFERENCES) == len(ROUTES)
    assert len({reference.title for reference in REFERENCES.values()}) == len(ROUTES)
    for reference in REFERENCES.values():
        assert documented()[reference.id] == (reference.kind, reference.field)
        assert not reference.title.endswith(".")
        assert reference.text.endswith(".")


def test_a_route_without_words_is_refused() -> None:
    unknown = next(route for route in ROUTES if route.path == "/api/permissions/")
    with pytest.raises(TypeError, match="POST /api/permissions/ needs a title and a text"):
        reference_of(type(unknown)("POST", unknown.path, unknown.operation, unknown.shape))
    assert made_up_words(unknown).id == "get_api_permissions"


@pytest.mark.parametrize("reference", REFERENCES.values(), ids=lambda reference: reference.id)
def test_the_document_fits_the_schema_and_is_about_the_field(reference: Reference) -> None:
    document = parse(reference.graphql)
    assert validate(CORE, document) == []
    (operation,) = document.definitions
    assert isinstance(operation, OperationDefinitionNode)
    assert operation.operation.value == reference.kind
    names = [name.partition("(") for name in reference.field.split(".") if name != NO_FIELD]
    node: OperationDefinitionNode | FieldNode = operation
    for name, _, argument in names:
        assert node.selection_set is not None
        fields = [field for field in node.selection_set.selections if isinstance(field, FieldNode)]
        (node,) = (field for field in fields if field.name.value == name)
        if argument:
            assert argument.rstrip(")") in {sent.name.value for sent in node.arguments or ()}


@pytest.fixture
async def client(databases: Databases, tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a demo installation, logged in as a partner."""
    async with databases.one() as url, demo_installation(url, tmp_path_factory.mktemp("demo")) as installation:
        log_in = {"username": "partner@demo.localhost", "password": "coffret-demo"}
        token = (await installation.client.post("/api-token-auth/", json=log_in)).json()["token"]
        installation.client.headers["Authorization"] = f"Token {token}"
        yield installation.client


async def test_the_documents_run(client: httpx.AsyncClient) -> None:
    """With ids that are nobody's they find nothing, or are refused as data: none is misunderstood."""
    run = 0
    for reference in REFERENCES.values():
        if "Upload!" in reference.graphql:
            continue
        body = (await client.post("/graphql/", json={"query": reference.graphql})).json()
        codes = {error["extensions"]["code"] for error in body.get("errors", ())}
        assert codes <= {"NOT_FOUND", "FORBIDDEN"}, f"{reference.id}: {body}"
        for payload in (body["data"] or {}).values() if reference.kind == "mutation" else ():
            problems = payload["userErrors"] if payload else []
            assert all(NOBODYS.search(problem["message"]) for problem in problems), f"{reference.id}: {problems}"
        run += 1
    assert run > 30

"""What the GraphQL over HTTP specification asks of a server, the optional parts included."""

import asyncio
import os
import pathlib
import shutil
import socket
from collections.abc import AsyncIterator
from typing import Any

import httpx
import orjson
import pytest
import uvicorn

from tests.schema.graph.clients import JSON, RESPONSE, Client, application

PATH = "/graphql/"
NAMED = "query Type($name: String!) { __type(name: $name) { name } }"


@pytest.fixture
async def client() -> AsyncIterator[Client]:
    async with Client(application(None)) as made:
        yield made


async def post(client: Client, body: Any, accept: str | None = JSON, content_type: str | None = JSON) -> httpx.Response:
    """POST exactly these headers."""
    content = body if isinstance(body, bytes) else orjson.dumps(body)
    request = client.build_request("POST", PATH, content=content)
    del request.headers["accept"]
    request.headers.update({k: v for k, v in (("accept", accept), ("content-type", content_type)) if v is not None})
    return await client.send(request)


async def get(client: Client, accept: str = JSON, **parameters: str) -> httpx.Response:
    return await client.get(PATH, params=parameters, headers={"accept": accept})


def kind_of(response: httpx.Response) -> str:
    kind, _, charset = response.headers["content-type"].partition("; charset=")
    assert charset == "utf-8"
    return str(kind)


# ---- media types of the answer


@pytest.mark.parametrize(
    ("accept", "kind"),
    [
        (RESPONSE, RESPONSE),
        (JSON, JSON),
        ("*/*", JSON),
        ("application/*", JSON),
        (None, JSON),
        ("", JSON),
        (f"{RESPONSE}, {JSON};q=0.9", RESPONSE),
        (f"{RESPONSE};q=0.5, {JSON}", JSON),
        (f"text/html, {RESPONSE};q=0.1", RESPONSE),
        (f"{JSON};q=0, */*", RESPONSE),
        (f"{RESPONSE.upper()}; charset=utf-8", RESPONSE),
    ],
)
async def test_the_answer_is_in_a_media_type_that_is_accepted(client: Client, accept: str | None, kind: str) -> None:
    response = await post(client, {"query": "{ __typename }"}, accept)
    assert response.status_code == 200
    assert kind_of(response) == kind
    assert response.json()["data"] == {"__typename": "Query"}


@pytest.mark.parametrize("accept", ["text/html", "image/png, application/xml;q=0.2", f"{JSON};q=0"])
async def test_no_answer_in_other_media_types(client: Client, accept: str) -> None:
    response = await post(client, {"query": "{ __typename }"}, accept)
    assert response.status_code == 406
    assert response.json()["errors"][0]["extensions"]["code"] == "NOT_ACCEPTABLE"


# ---- the request


@pytest.mark.parametrize("content_type", [JSON, f"{JSON}; charset=utf-8", f'{JSON};charset="UTF-8"'])
async def test_json_in_utf_8_is_read(client: Client, content_type: str) -> None:
    response = await post(client, {"query": '{ __type(name: "Run🏃Swim🏊") { name } }'}, content_type=content_type)
    assert response.status_code == 200
    assert response.json()["data"] == {"__type": None}
    response.content.decode("utf-8")


@pytest.mark.parametrize("content_type", [None, "text/plain", "application/xml", f"{JSON}; charset=latin-1", "application/x-www-form-urlencoded"])  # fmt: skip
async def test_other_bodies_are_not_read(client: Client, content_type: str | None) -> None:
    response = await post(client, {"query": "{ __typename }"}, content_type=content_type)
    assert response.status_code == 415
    assert response.json()["errors"][0]["extensions"]["code"] == "UNSUPPORTED_MEDIA_TYPE"


async def test_get_asks_queries(client: Client) -> None:
    for accept in (JSON, RESPONSE):
        response = await get(
            client, accept, query=NAMED, variables='{"name":"Card"}', operationName="Type", extensions=""
        )
        assert response.status_code == 200
        assert response.json()["data"] == {"__type": {"name": "Card"}}


@pytest.mark.parametrize("query", ["{ __typename }", "mutation { __typename }", "{", ""])
async def test_head_says_what_get_says(client: Client, query: str) -> None:
    asked = await get(client, RESPONSE, query=query)
    head = await client.head(PATH, params={"query": query}, headers={"Accept": RESPONSE})
    for answer in (asked, head):
        answer.headers.pop("x-request-id", None)
    assert (head.status_code, head.headers) == (asked.status_code, asked.headers)


async def test_get_changes_nothing(client: Client) -> None:
    response = await get(client, RESPONSE, query="mutation { __typename }")
    assert response.status_code == 405
    assert response.headers["allow"] == "POST"
    assert "data" not in response.json()


@pytest.mark.parametrize("method", ["PUT", "PATCH", "DELETE", "OPTIONS"])
async def test_other_methods(client: Client, method: str) -> None:
    response = await client.request(method, PATH)
    assert response.status_code == 405
    assert response.headers["allow"] == "GET, HEAD, POST"


@pytest.mark.parametrize("accept", [JSON, RESPONSE])
@pytest.mark.parametrize(
    "body",
    [
        b"",
        b'{ "not JSON',
        b"\xff\xfe",
        b"[]",
        b"[1]",
        b'"text"',
        b"null",
        b'[{"query": "{ __typename }"}]',
        {},
        {"qeury": "{ __typename }"},
        *({"query": bad} for bad in ({"an": "object"}, 0, False, ["a list"], None, "")),
        *({"query": "{ __typename }", "operationName": bad} for bad in ({"an": "object"}, 0, False, ["a list"])),
        *({"query": "{ __typename }", "variables": bad} for bad in ("a text", 0, False, ["a list"])),
        *({"query": "{ __typename }", "extensions": bad} for bad in ("a text", 0, False, ["a list"])),
    ],
)
async def test_what_is_no_graphql_request(client: Client, body: Any, accept: str) -> None:
    response = await post(client, body, accept)
    assert response.status_code == 400
    assert kind_of(response) == accept
    (error,) = response.json()["errors"]
    assert error["extensions"]["code"] == "BAD_REQUEST"
    assert "data" not in response.json()


@pytest.mark.parametrize("parameters", [{}, {"query": ""}, {"query": "{a}", "variables": "{"}, {"query": "{a}", "variables": "[]"}])  # fmt: skip
async def test_what_is_no_graphql_request_in_an_address(client: Client, parameters: dict[str, str]) -> None:
    assert (await get(client, **parameters)).status_code == 400


@pytest.mark.parametrize("accept", [JSON, RESPONSE])
@pytest.mark.parametrize("parameter", ["variables", "operationName", "extensions"])
async def test_null_is_as_good_as_nothing(client: Client, parameter: str, accept: str) -> None:
    response = await post(client, {"query": "{ __typename }", parameter: None}, accept)
    assert response.status_code == 200
    assert "errors" not in response.json()


@pytest.mark.parametrize("accept", [JSON, RESPONSE])
async def test_parameters(client: Client, accept: str) -> None:
    body = {"query": NAMED, "operationName": "Type", "variables": {"name": "some"}, "extensions": {"some": "value"}}
    response = await post(client, body, accept)
    assert response.status_code == 200
    assert "errors" not in response.json()


# ---- requests that are refused before they run


@pytest.mark.parametrize(
    ("query", "variables", "code"),
    [
        ("{", {}, "GRAPHQL_PARSE_FAILED"),
        ("{ }", {}, "GRAPHQL_PARSE_FAILED"),
        ("{ nowhere }", {}, "GRAPHQL_VALIDATION_FAILED"),
        ("query Fails($id: ID!) { __typename }", {"id": None}, "GRAPHQL_VALIDATION_FAILED"),  # an unused variable
        (NAMED, {"name": None}, "BAD_USER_INPUT"),
        (NAMED, {"name": 1}, "BAD_USER_INPUT"),
        ("query A { __typename } query B { __typename }", {}, "OPERATION_RESOLUTION_FAILURE"),
    ],
)
async def test_what_does_not_run(client: Client, query: str, variables: dict[str, Any], code: str) -> None:
    for accept, status in ((JSON, 200), (RESPONSE, 400)):
        response = await post(client, {"query": query, "variables": variables}, accept)
        assert response.status_code == status
        assert "data" not in response.json()
        assert response.json()["errors"][0]["extensions"]["code"] == code


async def test_an_operation_that_is_not_there(client: Client) -> None:
    response = await post(client, {"query": "query A { __typename }", "operationName": "B"}, RESPONSE)
    assert response.status_code == 400
    assert "B" in response.json()["errors"][0]["message"]


async def test_an_answer_with_data_is_200_whatever_failed(client: Client) -> None:
    response = await client.ask('{ greeting(name: "Ada") broken }')
    assert response.status_code == 200
    assert kind_of(response) == RESPONSE


# ---- the audits of the graphql-http package themselves

AUDITS = """
import { createRequire } from "node:module";
const { serverAudits } = createRequire(process.argv[2] + "/")("graphql-http");
const failed = [];
const audits = serverAudits({ url: process.argv[3] });
for (const audit of audits) {
  const result = await audit.fn();
  if (result.status !== "ok") failed.push([result.id, result.name, result.reason]);
}
console.log(JSON.stringify({ audits: audits.length, failed }));
"""


NODE, PACKAGE = shutil.which("node"), os.environ.get("GRAPHQL_HTTP_PACKAGE")
"""Node.js, and a folder in which `npm install graphql-http graphql` was run; the tests above ask the same without them."""


async def audited(node: str, package: str, folder: pathlib.Path) -> Any:
    script = folder / "audits.mjs"
    script.write_text(AUDITS)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        server = uvicorn.Server(uvicorn.Config(application(None), log_level="error", lifespan="off"))
        serving = asyncio.create_task(server.serve([listening]))
        url = f"http://127.0.0.1:{listening.getsockname()[1]}{PATH}"
        told = await asyncio.create_subprocess_exec(node, str(script), package, url, stdout=asyncio.subprocess.PIPE)
        output, _ = await told.communicate()
        server.should_exit = True
        await serving
    return orjson.loads(output)


if NODE and PACKAGE:

    async def test_every_audit_of_graphql_http(tmp_path: pathlib.Path) -> None:
        assert NODE
        assert PACKAGE
        result = await audited(NODE, str(pathlib.Path(PACKAGE).absolute()), tmp_path)  # noqa: ASYNC240 - asks no disk
        assert result["audits"] > 50
        assert result["failed"] == []

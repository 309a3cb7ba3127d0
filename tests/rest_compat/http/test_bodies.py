"""What every route does with a body: its kind, its size, what is not JSON, uploads."""

import asyncio
import json
from collections.abc import AsyncIterator

import httpx
import pytest
from starlette.types import Message

from resolvers.core.context import Context
from rest_compat.http.body import BODY_LIMIT, UPLOAD_LIMIT
from tests.rest_compat.clients import made_up
from tests.rest_compat.things import CALLER, CREATED_THINGS, ROUTES, SERVICES


@pytest.mark.parametrize(
    "kind",
    [
        None,
        "application/json",
        "Application/JSON",
        "application/json; charset=UTF-8",
        'application/json;charset="utf-8"',
        ";",  # says nothing
    ],
)
async def test_a_body_is_json_unless_it_says_otherwise(client: httpx.AsyncClient, kind: str | None) -> None:
    headers = {} if kind is None else {"content-type": kind}
    response = await client.post("/api/things/make/", content=b'{"title": "no", "title": "x"}', headers=headers)
    assert response.status_code == 201
    assert response.json()["title"] == "x"


@pytest.mark.parametrize(
    "kind",
    [
        "text/plain",
        "application/xml",
        "application/x-www-form-urlencoded",
        "multipart/form-data; boundary=x",
        "application/json; charset=latin-1",
        "json",
    ],
)
async def test_another_media_type_is_415(client: httpx.AsyncClient, kind: str) -> None:
    response = await client.post("/api/things/make/", content=b'{"title": "x"}', headers={"content-type": kind})
    assert response.status_code == 415
    assert list(response.json()) == ["detail"]
    assert CREATED_THINGS == []


async def test_a_compressed_body_is_415(client: httpx.AsyncClient) -> None:
    response = await client.post("/api/things/make/", content=b"x", headers={"content-encoding": "gzip"})
    assert response.status_code == 415


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"nonsense",
        b'{"title": NaN}',
        b'{"title": 1e999}',
        b"\xff",
        b"[" * 100000,
        b'{"a":' * 5000,
        b'{"title": "\x00"}',
        b"\xef\xbb\xbf{}",
        b'{"title": "\\ud800", "x": NaN}',
        b'{"title": "\\ud800"' + b'{"a":' * 5000,
        b'{"a": "\\ud800", "b": ' + b"9" * 5000 + b"}",
    ],
)
async def test_what_is_not_json_is_a_400_with_a_detail(client: httpx.AsyncClient, body: bytes) -> None:
    response = await client.post("/api/things/make/", content=body)
    assert response.status_code == 400
    assert list(response.json()) == ["detail"]
    assert CREATED_THINGS == []


async def test_the_largest_body_is_taken_and_one_byte_more_is_not(client: httpx.AsyncClient) -> None:
    largest = json.dumps({"title": "x"}).ljust(BODY_LIMIT).encode()
    assert (await client.post("/api/things/make/", content=largest)).status_code == 201

    async def chunks(size: int) -> AsyncIterator[bytes]:
        for _ in range(size // 1024):
            yield b" " * 1024
        yield b" " * (size % 1024)

    for content in (largest + b" ", chunks(BODY_LIMIT + 1)):
        response = await client.post("/api/things/make/", content=content)
        assert response.status_code == 413
        assert response.json() == {"detail": "The request is larger than 1 MiB."}
    assert len(CREATED_THINGS) == 1


async def test_no_more_than_the_limit_is_read_of_an_endless_body() -> None:
    app, read, sent = made_up(ROUTES, lambda: Context(SERVICES, CALLER)), 0, list[Message]()

    async def receive() -> Message:
        nonlocal read
        read += 65536
        return {"type": "http.request", "body": b" " * 65536, "more_body": True}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/things/make/", "headers": [], "query_string": b""}
    await asyncio.wait_for(app(scope, receive, send), timeout=60)
    assert sent[0]["status"] == 413
    assert read <= BODY_LIMIT + 65536


async def test_a_client_that_leaves_gets_no_answer() -> None:
    app, sent = made_up(ROUTES, lambda: Context(SERVICES, CALLER)), list[Message]()

    async def receive() -> Message:
        return {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    scope = {"type": "http", "method": "POST", "path": "/api/things/make/", "headers": [], "query_string": b""}
    await app(scope, receive, send)
    assert sent == []


async def test_uploads_are_multipart_and_larger(client: httpx.AsyncClient) -> None:
    picture = b"x" * (BODY_LIMIT * 2)
    response = await client.post("/api/pictures/", data={"name": "a"}, files={"file": ("a.png", picture)})
    assert response.json() == {"id": len(picture), "title": "a", "price": 0.0}
    too_large = await client.post("/api/pictures/", data={"name": "a"}, files={"file": ("a.png", b"x" * UPLOAD_LIMIT)})
    assert too_large.status_code == 413
    assert (await client.post("/api/pictures/", json={"name": "a"})).status_code == 415
    assert list((await client.post("/api/pictures/", files={"other": b"x"})).json()) == ["name", "file"]
    no_file = await client.post("/api/pictures/", files={"name": (None, "a"), "file": (None, "text")})
    assert (no_file.status_code, no_file.json()) == (400, {"file": ["Send a file."]})
    broken = await client.post("/api/pictures/", content=b"x", headers={"content-type": "multipart/form-data"})
    assert (broken.status_code, list(broken.json())) == (400, ["detail"])

"""`HEAD` answers what `GET` would: the same status and headers, errors included, and no body."""

from typing import Any

import httpx
import pytest

from rest_compat.http.route import RestRoute
from rest_compat.routes import ROUTES
from schema.core.permission import AccessRule
from tests.rest_compat.rows import READS, Rows

ROUTES_READ = pytest.mark.parametrize("route", [route for route, _ in READS], ids=[route.path for route, _ in READS])
OWN = {"x-request-id", "ratelimit"}
"""Headers of one request."""


def status_and_headers(answer: httpx.Response) -> tuple[int, dict[str, str]]:
    """The status and the headers that say something of the answer."""
    return answer.status_code, {name: value for name, value in answer.headers.items() if name not in OWN}


def cases(rows: Rows, route: RestRoute) -> list[tuple[str, dict[str, Any]]]:
    """Addresses and headers: good ones, and those that are refused for each reason there is."""
    good = rows.address(route)
    who = "a1" if route.operation.permission is AccessRule.PARTNER else "master"
    known = {"headers": {"Authorization": f"Token {rows.tenants.tokens[who]}"}}
    asked: list[tuple[str, dict[str, Any]]] = [
        (good, known),
        (good.rstrip("/"), known),
        (f"{good}?page=0&page_size=x&ordering=x&siret_number=%00", known),
        (f"{good}?page=999&page_size=1", known),
        (good, {}),
        (good, {"headers": {"Authorization": "Token coffret_none"}}),
        (good, {"headers": {"Authorization": f"Token {rows.tenants.tokens['powerless']}"}}),
    ]
    strange = ("999999", "0b0d2cf4-6f0f-4c3c-9a51-3f4f0c6a7c11")
    asked += [(rows.address(route, id), known) for id in strange]
    return asked


@pytest.mark.asyncio(loop_scope="module")
@ROUTES_READ
async def test_head_says_what_get_says(rows: Rows, route: RestRoute) -> None:
    client = rows.tenants.client
    before, statuses = await rows.tenants.snapshot(), set[int]()
    for address, sent in cases(rows, route):
        head = await client.head(address, **sent)
        get = await client.get(address, **sent)
        assert status_and_headers(head) == status_and_headers(get), address
        assert head.content == b""
        assert get.content
        statuses.add(get.status_code)
    assert await rows.tenants.snapshot() == before
    assert statuses >= {401}
    assert statuses & {200, 400, 409}


@pytest.mark.asyncio(loop_scope="module")
async def test_head_is_refused_where_there_is_no_get(rows: Rows) -> None:
    for route in ROUTES:
        if not any(other.path == route.path and "GET" in other.verbs for other in ROUTES):
            answer = await rows.tenants.client.head(rows.address(route))
            assert (answer.status_code, answer.content) == (405, b"")
            assert int(answer.headers["content-length"]) > 0

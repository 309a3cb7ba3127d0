"""What every route does with a request: paths, methods, inputs, refusals in their order, errors, headers."""

import datetime as dt
from decimal import Decimal
from typing import Any

import httpx
import pytest
import strawberry

from resolvers.core.context import Context
from resolvers.core.operation import Call, operation
from rest_compat.http.body import BODY_LIMIT
from rest_compat.http.route import RestRoute
from schema.core.errors import AppError, NotFound, TooManyRequests
from schema.core.permission import Permission
from store.database.db import Database
from tests.rest_compat.clients import client_of, made_up, services_with
from tests.rest_compat.things import (
    CALLER,
    CREATED_THINGS,
    ERRORS,
    ROUTES,
    SERVICES,
    THING,
    MakeThing,
    Thing,
    make_thing,
    thing,
)

# ---- paths and methods


@pytest.mark.parametrize(
    "path", ["/api/things/a", "/api/things/a/", "/api/things/a%20b", "/api/things/made", "/api/things/é/"]
)
async def test_a_path_works_with_and_without_its_slash(client: httpx.AsyncClient, path: str) -> None:
    response = await client.get(path)
    assert response.status_code == 200
    assert list(response.json()) == ["id", "title", "price"]
    assert b'"price":10.00' in response.content


@pytest.mark.parametrize(
    "path",
    ["/api/", "/api/nothing/", "/api/things/", "/api/things//", "/api//things/a", "/api/things/a//", "/api/things/a/b"],
)
async def test_an_unknown_path_is_404_for_every_method(client: httpx.AsyncClient, path: str) -> None:
    for method in ("GET", "POST", "DELETE", "OPTIONS"):
        response = await client.request(method, path)
        assert response.status_code == 404
        assert response.json() == {"detail": "Not found."}


async def test_head_is_get_without_the_body(client: httpx.AsyncClient) -> None:
    get, head = await client.get("/api/things/a/"), await client.head("/api/things/a/")
    assert head.status_code == 200
    assert head.content == b""
    assert head.headers["content-length"] == str(len(get.content)) == get.headers["content-length"]
    assert (await client.head("/api/things/missing/")).status_code == 404


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("POST", "/api/things/a/", "GET, HEAD"),
        ("DELETE", "/api/numbered/1", "GET, HEAD, PATCH, PUT"),
        ("GET", "/api/things/make/", "POST"),
        ("HEAD", "/api/things/make", "POST"),
        ("OPTIONS", "/api/things/a", "GET, HEAD"),
    ],
)
async def test_another_method_is_405_with_what_is_allowed(
    client: httpx.AsyncClient, method: str, path: str, allowed: str
) -> None:
    response = await client.request(method, path)
    assert response.status_code == 405
    assert response.headers["allow"] == allowed
    assert response.content == b"" if method == "HEAD" else list(response.json()) == ["detail"]


@pytest.mark.parametrize(
    "id",
    [
        "x",
        "1.5",
        "true",
        "9223372036854775808",
        "2147483648",
        "-1",
        "0",
        "1e3",
        "%00",
        "9" * 300,
        "01",
        "+1",
        "1.0",
        "%201",
    ],
)
async def test_what_can_be_no_id_is_404(client: httpx.AsyncClient, stranger: httpx.AsyncClient, id: str) -> None:
    for send in (client.get, client.patch):
        response = await send(f"/api/numbered/{id}/")
        assert response.status_code == 404
        assert list(response.json()) == ["detail"]
    assert (await stranger.get(f"/api/numbered/{id}/")).status_code == 403
    assert CREATED_THINGS == []


async def test_a_nul_in_a_code_is_404(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/things/a%00b/")).status_code == 404


# ---- inputs


async def test_path_and_body_make_one_input_and_the_path_counts(client: httpx.AsyncClient) -> None:
    response = await client.patch("/api/numbered/5/", json={"id": 6, "title": "x", "label": "not a key", "price": 1.1})
    assert response.json() == {"id": 5, "title": "x", "price": 1.1}
    assert b'"price":1.10' in response.content


async def test_translated_texts_are_flat_at_every_depth(client: httpx.AsyncClient) -> None:
    sent = {
        "title": "x",
        "name_fr": "Bleu",
        "name_de": None,
        "details": {"title_en": "Big", "size": "2"},
        "name": {"en": "no key"},
    }
    assert (await client.post("/api/things/make/", json=sent)).status_code == 201
    (made,) = CREATED_THINGS
    assert made.name is not None
    assert made.name.value.fr == strawberry.Some("Bleu")
    assert made.name.value.de == strawberry.Some(None)
    assert made.name.value.en is None
    assert made.details is not None
    assert made.details.title.en == strawberry.Some("Big")
    assert made.details.size == 2


async def test_problems_are_named_as_the_keys_were(client: httpx.AsyncClient) -> None:
    sent = {"name_fr": 5, "price": "1.001", "details": {"title_de": [], "size": 1.5}}
    response = await client.post("/api/things/make/", json=sent)
    assert response.status_code == 400
    assert response.json() == {
        "title": ["This field is required."],
        "price": ["An amount has two decimals at most."],
        "name_fr": ["Send a text."],
        "details": {"title_de": ["Send a text."], "size": ["Send a whole number."]},
    }
    missing = await client.post("/api/things/make/", json={"title": "x", "details": {}})
    assert missing.json() == {"details": {"title_en": ["This field is required."]}}
    assert CREATED_THINGS == []


async def test_the_query_fills_what_the_path_does_not(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/numbered/5/?size=3&colour=red")).json() == {"id": 5, "title": "3", "price": 3.0}
    assert (await client.get("/api/numbered/5/")).json()["title"] == "0"
    refused = await client.get("/api/numbered/5/?size=big")
    assert (refused.status_code, refused.json()) == (400, {"size": ["Send a whole number."]})
    nul = await client.get("/api/numbered/5/?size=%00")
    assert (nul.status_code, list(nul.json())) == (400, ["size"])


# ---- refusals and errors


async def test_refusals_come_in_the_documented_order(stranger: httpx.AsyncClient, client: httpx.AsyncClient) -> None:
    large, wrong = b"x" * (BODY_LIMIT + 1), {"content-type": "text/plain"}
    path = "/api/things/make/"
    assert (await stranger.post(path, content=large, headers=wrong)).status_code == 413
    assert (await stranger.post(path, content=b"x", headers=wrong)).status_code == 415
    assert (await stranger.post(path, content=b"x")).status_code == 400
    assert (await stranger.post(path, content=b"{}")).status_code == 403
    assert (await stranger.patch("/api/numbered/0/", content=b"{}")).status_code == 403
    assert (await client.patch("/api/numbered/0/", content=b"{}")).status_code == 404
    assert (await client.patch("/api/numbered/1/", content=b"{}")).status_code == 400
    assert CREATED_THINGS == []


async def test_a_caller_that_is_refused_is_refused_before_its_body_is_read() -> None:
    def refuse() -> Context:
        raise TooManyRequests(12)

    for context, status in ((lambda: Context(SERVICES), 401), (refuse, 429)):
        async with client_of(made_up(ROUTES, context)) as client:
            response = await client.post("/api/things/make/", content=b"x" * (BODY_LIMIT + 1))
            assert response.status_code == status
            assert list(response.json()) == ["detail"]
            assert response.headers.get("retry-after") == ("12" if status == 429 else None)


@pytest.mark.parametrize(
    ("code", "status", "body"),
    [
        ("missing", 404, {"detail": "No such thing."}),
        ("declined", 402, {"detail": "The payment was declined.", "code": "payment_declined"}),
        ("balance", 409, {"detail": "The balance of the gift card is too low.", "code": "insufficient_balance"}),
        ("field", 400, {"lines": [{}, {"unit_price": ["Too dear."]}]}),
        ("whole", 400, {"non_field_errors": ["They do not agree."]}),
        ("both", 400, {"a": {"non_field_errors": ["One.", "3."], "b": ["Two."]}}),
        ("list", 400, {"a": ["One."]}),
    ],
)
async def test_an_error_of_the_catalogue_has_its_body(
    client: httpx.AsyncClient, code: str, status: int, body: dict[str, Any]
) -> None:
    response = await client.get(f"/api/things/{code}/")
    assert (response.status_code, response.json()) == (status, body)


@pytest.mark.parametrize(("code", "status"), [("running", 409), ("provider", 502), ("time", 504), ("away", 503)])
async def test_errors_that_a_program_acts_on_have_a_code(client: httpx.AsyncClient, code: str, status: int) -> None:
    response = await client.get(f"/api/things/{code}/")
    assert response.status_code == status
    error = ERRORS[code]()
    assert isinstance(error, AppError)
    assert response.json() == {"detail": str(error), "code": error.code().lower()}
    assert response.headers.get("retry-after") == {"running": "1", "away": "5"}.get(code)


async def test_a_bug_is_masked_and_told_with_the_id_of_the_request(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/things/bug/", headers={"X-Request-Id": "mine-1"})
    assert response.status_code == 500
    body = response.json()
    assert list(body) == ["detail", "request_id"]
    assert body["request_id"] == "mine-1" == response.headers["x-request-id"]
    assert "SQL" not in response.text
    assert "ZeroDivisionError" not in response.text


@pytest.mark.parametrize("path", ["/api/things/a/", "/api/things/bug/", "/api/nothing/", "/api/things/make/"])
async def test_every_answer_carries_one_request_id(client: httpx.AsyncClient, path: str) -> None:
    response = await client.get(path)
    assert len(response.headers.get_list("x-request-id")) == 1


async def test_an_old_form_names_its_successor(client: httpx.AsyncClient) -> None:
    response = await client.get("/api/old/a%20b/?x=1")
    assert response.status_code == 200
    assert response.headers["deprecation"] == f"@{int(dt.datetime(2030, 1, 1, tzinfo=dt.UTC).timestamp())}"
    assert response.headers["link"] == '<http://api.test/api/things/a%20b/>; rel="successor-version"'
    assert "deprecation" not in (await client.get("/api/things/a/")).headers


async def exists(call: Call, arguments: Any) -> None:
    """There are things 1 to 9."""
    if int(arguments["id"]) > 9:
        raise NotFound(thing="thing")


@operation(Permission.VIEW_ORDER, exists=exists)
async def change_thing(call: Call, input: MakeThing) -> Thing:
    """Change a thing."""
    return Thing(id=input.id, name=input.label, price=input.price)


@operation(Permission.VIEW_ORDER, exists=exists)
async def resize_thing(call: Call, id: int, size: int) -> Thing:
    """Resize a thing."""
    return Thing(id=id, name=str(size), price=Decimal(0))


async def test_a_row_there_is_not_is_told_before_wrong_fields(database: Database) -> None:
    routes = [
        RestRoute("PATCH", "/api/numbered/{id}/", change_thing, THING),
        RestRoute("POST", "/api/numbered/{id}/size/", resize_thing, THING),
    ]
    services = services_with(db=database)
    async with client_of(made_up(routes, lambda: Context(services, CALLER))) as client:
        assert (await client.patch("/api/numbered/10/", json={})).status_code == 404
        assert (await client.patch("/api/numbered/9/", json={})).json() == {"label": ["This field is required."]}
        assert (await client.post("/api/numbered/10/size/", json={"size": "x"})).status_code == 404
        assert (await client.post("/api/numbered/9/size/", json={"size": "x"})).json() == {
            "size": ["Send a whole number."]
        }
        assert (await client.post("/api/numbered/9/size/", json={"size": "3"})).json()["title"] == "3"


# ---- what stops the start


@pytest.mark.parametrize(
    ("routes", "message"),
    [
        ([*ROUTES, ROUTES[0]], "Two routes answer GET /api/things/{code}/"),
        ([RestRoute("GET", "/api/things/{number}/", thing, THING)], "takes no 'number'"),
        ([RestRoute("POST", "/api/things/{number}/", make_thing, THING)], "takes no 'number'"),
    ],
)
def test_a_wrong_route_stops_the_start(routes: list[RestRoute], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        made_up(routes, lambda: Context(SERVICES))

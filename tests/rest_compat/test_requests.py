"""What every route does with a request: paths, methods, bodies, refusals in their order, errors, headers."""

import asyncio
import datetime as dt
import json
from collections.abc import AsyncIterator, Callable
from decimal import Decimal
from typing import Any

import httpx
import pydantic
import pytest
import strawberry
from starlette.datastructures import UploadFile
from starlette.types import Message

from resolvers.context import Caller, Context, Role
from resolvers.operation import Call, operation
from rest_compat.body import BODY_LIMIT, UPLOAD_LIMIT, Accepts
from rest_compat.keys import number
from rest_compat.route import Deprecated, Route
from rest_compat.shapes import Shape
from schema.errors import (
    AppError,
    IdempotencyInProgress,
    InsufficientBalance,
    InvalidInput,
    NotFound,
    PaymentDeclined,
    Problem,
    ProviderFailed,
    ProviderTimedOut,
    TooManyRequests,
    Unavailable,
)
from schema.numbers import MoneyAmount, WholeNumber
from schema.permission import Permission
from schema.values import TextInput
from store.db import Database
from tests.rest_compat.conftest import client_of, made_up, services_with


@strawberry.type
class Thing:
    """Something that is made."""

    id: int
    name: str
    price: Decimal


class Details(pydantic.BaseModel):
    """Something inside."""

    title: TextInput
    size: WholeNumber = 1


class MakeThing(pydantic.BaseModel):
    """Something to make."""

    id: WholeNumber = 0
    label: str
    price: MoneyAmount = Decimal(1)
    name: strawberry.Maybe[TextInput]
    details: Details | None = None


class Picture(pydantic.BaseModel):
    """Something to upload."""

    model_config = {"arbitrary_types_allowed": True}
    name: str
    file: UploadFile


MADE: list[MakeThing] = []
ERRORS: dict[str, Callable[[], BaseException]] = {
    "missing": lambda: NotFound(thing="thing"),
    "declined": PaymentDeclined,
    "balance": InsufficientBalance,
    "running": IdempotencyInProgress,
    "provider": ProviderFailed,
    "time": ProviderTimedOut,
    "away": lambda: Unavailable(what="The cart store"),
    "often": lambda: TooManyRequests(30),
    "bug": lambda: ZeroDivisionError("secret SQL"),
    "field": lambda: InvalidInput.at(("lines", 1, "unitPrice"), "Too dear."),
    "whole": lambda: InvalidInput(Problem((), "INVALID", "They do not agree.")),
    "both": lambda: InvalidInput(
        Problem(("a",), "X", "One."), Problem(("a", "b"), "X", "Two."), Problem(("a",), "X", "3.")
    ),
    "list": lambda: InvalidInput(Problem(("a",), "X", "One."), Problem(("a", 2, "b"), "X", "Two.")),
}


@operation(Permission.VIEW_ORDER, transaction=False)
async def thing(call: Call, code: str) -> Thing:
    """Look a thing up."""
    failure = ERRORS.get(code)
    if failure is not None:
        error = failure()
        raise error
    return Thing(id=1, name=code, price=Decimal("10.00"))


@operation(Permission.VIEW_ORDER, transaction=False)
async def thing_by_id(call: Call, id: int, size: int = 0) -> Thing:
    """Look a thing up by its id."""
    return Thing(id=id, name=str(size), price=Decimal(size))


@operation(Permission.VIEW_ORDER, transaction=False)
async def make_thing(call: Call, input: MakeThing) -> Thing:
    """Make a thing."""
    MADE.append(input)
    return Thing(id=input.id, name=input.label, price=input.price)


@operation(Permission.VIEW_ORDER, transaction=False)
async def upload(call: Call, input: Picture) -> Thing:
    """Upload a picture."""
    return Thing(id=len(await input.file.read()), name=input.name, price=Decimal(0))


THING = Shape("Thing", Thing, {"id": "id", "title": "name", "price": number("price")})
ROUTES = [
    Route("GET", "/api/things/{code}/", thing, THING),
    Route("POST", "/api/things/make/", make_thing, THING, status=201, renamed={"title": "label"}),
    Route("PATCH|PUT", "/api/numbered/{id}/", make_thing, THING, renamed={"title": "label"}),
    Route("GET", "/api/numbered/{id}/", thing_by_id, THING),
    Route("GET", "/api/old/{code}/", thing, THING, deprecated=Deprecated(dt.date(2030, 1, 1), "/api/things/{code}/")),
    Route("POST", "/api/pictures/", upload, THING, accepts=Accepts.UPLOAD),
]
CALLER = Caller(Role.PARTNER, frozenset({Permission.VIEW_ORDER}), token_id=1, partner_id=1)
SERVICES = services_with()


@pytest.fixture
async def client(database: Database) -> AsyncIterator[httpx.AsyncClient]:
    MADE.clear()
    services = services_with(db=database)
    async with client_of(made_up(ROUTES, lambda: Context(services, CALLER))) as client:
        yield client


@pytest.fixture
async def stranger() -> AsyncIterator[httpx.AsyncClient]:
    """Someone with a token that may do nothing."""
    MADE.clear()
    nobody = Caller(Role.PARTNER, frozenset(), token_id=2, partner_id=2)
    async with client_of(made_up(ROUTES, lambda: Context(SERVICES, nobody))) as client:
        yield client


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
    "id", ["x", "1.5", "true", "9223372036854775808", "2147483648", "-1", "0", "1e3", "%00", "9" * 300]
)
async def test_what_can_be_no_id_is_404(client: httpx.AsyncClient, stranger: httpx.AsyncClient, id: str) -> None:
    for send in (client.get, client.patch):
        response = await send(f"/api/numbered/{id}/")
        assert response.status_code == 404
        assert list(response.json()) == ["detail"]
    assert (await stranger.get(f"/api/numbered/{id}/")).status_code == 403
    assert MADE == []


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
    (made,) = MADE
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
    assert MADE == []


async def test_the_query_fills_what_the_path_does_not(client: httpx.AsyncClient) -> None:
    assert (await client.get("/api/numbered/5/?size=3&colour=red")).json() == {"id": 5, "title": "3", "price": 3.0}
    assert (await client.get("/api/numbered/5/")).json()["title"] == "0"
    refused = await client.get("/api/numbered/5/?size=big")
    assert (refused.status_code, refused.json()) == (400, {"size": ["Send a whole number."]})
    nul = await client.get("/api/numbered/5/?size=%00")
    assert (nul.status_code, list(nul.json())) == (400, ["size"])


# ---- bodies


@pytest.mark.parametrize(
    "kind",
    [
        None,
        "application/json",
        "Application/JSON",
        "application/json; charset=UTF-8",
        'application/json;charset="utf-8"',
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
        ";",
    ],
)
async def test_another_media_type_is_415(client: httpx.AsyncClient, kind: str) -> None:
    response = await client.post("/api/things/make/", content=b'{"title": "x"}', headers={"content-type": kind})
    if kind == ";":  # says nothing
        assert response.status_code == 201
        return
    assert response.status_code == 415
    assert list(response.json()) == ["detail"]
    assert MADE == []


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
    assert MADE == []


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
    assert len(MADE) == 1


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
    assert MADE == []


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
        ("balance", 409, {"detail": "The card holds less than what is asked.", "code": "insufficient_balance"}),
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


async def exists(call: Call, given: Any) -> None:
    """There are things 1 to 9."""
    if int(given["id"]) > 9:
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
        Route("PATCH", "/api/numbered/{id}/", change_thing, THING),
        Route("POST", "/api/numbered/{id}/size/", resize_thing, THING),
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
        ([Route("GET", "/api/things/{number}/", thing, THING)], "takes no 'number'"),
        ([Route("POST", "/api/things/{number}/", make_thing, THING)], "takes no 'number'"),
    ],
)
def test_a_wrong_route_stops_the_start(routes: list[Route], message: str) -> None:
    with pytest.raises((TypeError, ValueError), match=message):
        made_up(routes, lambda: Context(SERVICES))

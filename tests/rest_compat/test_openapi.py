"""The description of the interface: valid, complete, true of the answers; and the page that shows it."""

import re
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from openapi_schema_validator import OAS31Validator
from openapi_spec_validator import validate

from rest_compat.docs import rendered
from rest_compat.openapi import document
from rest_compat.route import Route
from rest_compat.routes import GROUPS, ROUTES, endpoint
from rest_compat.schemas import rest_words, sample
from tests.rest_compat.conftest import World
from tests.rest_compat.served import client_of
from tests.rest_compat.test_lists import ROUTES as LISTS
from tests.rest_compat.things import ROUTES as THINGS
from tests.tenants import PASSWORD

CART = "/api/v2/ecommerce/cart/"


async def no_context(_: Any) -> Any:
    """Nothing is asked."""
    raise AssertionError


def described(groups: Mapping[str, Any]) -> Any:
    """The document of some routes."""
    return document({group: [(r, endpoint(r, no_context)) for r in routes] for group, routes in groups.items()})


DOCUMENT = described(GROUPS)
MADE_UP = described({"Things": THINGS, "Lists": LISTS})


@pytest.mark.parametrize("made", [DOCUMENT, MADE_UP], ids=["real", "made up"])
def test_it_is_valid_openapi(made: Any) -> None:
    assert made["openapi"].startswith("3.1")
    validate(made)


def test_every_method_of_every_route_is_described() -> None:
    shown = {(path, verb.upper()) for path, verbs in DOCUMENT["paths"].items() for verb in verbs}
    assert shown == {(route.path, verb) for route in ROUTES for verb in route.verbs}


def schema_of(made: Any, path: str, verb: str, status: str) -> OAS31Validator:
    """What checks an answer."""
    response = made["paths"][path][verb]["responses"][status]
    if "$ref" in response:
        response = made["components"]["responses"][response["$ref"].rpartition("/")[2]]
    return checker(made, response["content"]["application/json"]["schema"])


def checker(made: Any, schema: Any) -> OAS31Validator:
    """What checks a value against a schema of the document."""
    return OAS31Validator({**schema, "components": made["components"]})


@pytest.mark.parametrize("made", [DOCUMENT, MADE_UP], ids=["real", "made up"])
def test_every_example_fits_its_schema(made: Any) -> None:
    checked = 0
    contents = [response["content"] for response in made["components"]["responses"].values()]
    for verbs in made["paths"].values():
        for operation in verbs.values():
            contents += [r["content"] for r in operation["responses"].values() if "content" in r]
            contents += [operation["requestBody"]["content"]] if "requestBody" in operation else []
    for content in contents:
        for kind in content.values():
            checker(made, kind["schema"]).validate(kind["example"])
            checked += 1
    assert checked > 10


async def test_the_answers_are_as_described(world: World) -> None:
    async with client_of(world.app, world.token) as client:
        item = {"product_id": 1, "quantity": 2, "attribute_values": {"3": "red"}}
        created = await client.post(CART, json={"items": [item]})
        answers = {
            ("/api-token-auth/", "post"): await client.post(
                "/api-token-auth/", json={"username": world.user.username, "password": PASSWORD}
            ),
            ("/api/permissions/", "get"): await client.get("/api/permissions/"),
            (CART, "post"): created,
            (f"{CART}{{id}}/", "get"): await client.get(f"{CART}{created.json()['id']}/"),
        }
        refused = [await client.post(CART, json={}), await client.post(CART, content=b"[")]
        missing = await client.get(f"{CART}x/")
    here = [
        route for group in ("Log-in", "Carts") for route in GROUPS[group]
    ]  # of others, tests/behaviours/ looks at each answer
    assert set(answers) == {(route.path, route.verbs[0].lower()) for route in here}
    for (path, verb), response in answers.items():
        schema_of(DOCUMENT, path, verb, str(response.status_code)).validate(response.json())
    for response in refused:
        schema_of(DOCUMENT, CART, "post", "400").validate(response.json())
    schema_of(DOCUMENT, f"{CART}{{id}}/", "get", "404").validate(missing.json())


def test_what_the_cart_input_says_is_what_it_takes() -> None:
    body = DOCUMENT["paths"][CART]["post"]["requestBody"]["content"]["application/json"]["schema"]
    check = checker(DOCUMENT, body)
    assert set(body["properties"]) == {"id", "items", "return_url"}
    assert body["required"] == ["items"]
    item = {"product_id": 1, "quantity": 0, "variant_id": None}
    good: list[Any] = [{"items": []}, {"items": [item], "id": None}]
    bad: list[Any] = [{}, {"items": [{}]}, {"items": [item | {"product_id": 0}]}, {"items": [], "return_url": 5}]
    assert all(check.is_valid(cart) for cart in good)
    assert not any(check.is_valid(cart) for cart in bad)


def test_flat_texts_and_renamed_keys_are_shown_as_they_are_sent() -> None:
    body = MADE_UP["paths"]["/api/numbered/{id}/"]["patch"]["requestBody"]["content"]["application/json"]["schema"]
    keys = set(body["properties"])
    assert {"title", "name_en", "name_pt", "price", "details"} <= keys
    assert not {"id", "label", "name"} & keys
    assert "title_fr" in body["properties"]["details"]["anyOf"][0]["properties"]
    assert body["required"] == ["title"]


def test_old_forms_public_routes_and_uploads_are_marked() -> None:
    assert MADE_UP["paths"]["/api/old/{code}/"]["get"]["deprecated"] is True
    assert DOCUMENT["paths"]["/api-token-auth/"]["post"]["security"] == []
    upload = MADE_UP["paths"]["/api/pictures/"]["post"]["requestBody"]["content"]
    assert upload["multipart/form-data"]["schema"]["properties"]["file"]["format"] == "binary"


def test_the_parameters_of_a_list_are_shown() -> None:
    shown = {p["name"]: p["schema"] for p in MADE_UP["paths"]["/api/cards/"]["get"]["parameters"]}
    assert shown["status"]["enum"] == ["a", "b"]
    assert shown["ordering"]["enum"] == ["created_on", "-created_on", "status", "-rate"]
    assert shown["page_size"]["maximum"] == 100
    assert set(shown) >= {"created_on__gte", "created_on__lte", "created_on__range", "page"}


def test_the_parameters_of_an_array_that_can_be_cut_are_shown() -> None:
    shown = DOCUMENT["paths"]["/api/voucher_prototypes/{id}/options/"]["get"]["parameters"]
    assert [p["name"] for p in shown] == ["id", "page", "page_size"]
    assert "404" in DOCUMENT["paths"]["/api/medias/"]["get"]["responses"]  # a page beyond the last


def test_amounts_are_null_only_where_they_may_be() -> None:
    prototype = DOCUMENT["components"]["schemas"]["VoucherPrototype"]["properties"]
    option = DOCUMENT["components"]["schemas"]["VoucherOption"]["properties"]
    assert (prototype["stay_price"]["type"], option["selling_price"]["type"]) == ("number", "number")
    assert prototype["adults_price"]["type"] == ["number", "null"]


def test_names_of_the_graph_are_told_as_those_of_rest() -> None:
    assert rest_words("Send to `funnelUrl`, not `Token` or aB.") == "Send to `funnel_url`, not `Token` or aB."


@pytest.mark.parametrize(
    ("schema", "value"),
    [({"type": ["integer", "null"]}, 1), ({"enum": ["a"]}, "a"), ({"type": "array", "items": {}}, ["text"])],
)
def test_samples(schema: Any, value: Any) -> None:
    assert sample(schema) == value


# ---- as served


@pytest.fixture
async def anyone(world: World) -> httpx.AsyncClient:
    """Somebody without a token."""
    return client_of(world.app)


async def test_the_description_is_served_to_anyone(anyone: httpx.AsyncClient) -> None:
    response = await anyone.get("/openapi.json")
    assert response.status_code == 200
    assert response.json() == DOCUMENT


@pytest.mark.parametrize("path", ["/docs", "/docs/"])
async def test_the_page_needs_nobody_and_runs_nothing(anyone: httpx.AsyncClient, path: str) -> None:
    response = await anyone.get(path)
    assert response.status_code == 200
    assert response.headers["content-type"].startswith("text/html")
    assert "script" not in response.headers["content-security-policy"]
    assert "unsafe" not in response.headers["content-security-policy"]
    assert not re.search(
        r"<script|<style|style=|onclick|src=|https?://(?!127\.0\.0\.1|shop\.example|demo\.shops)", response.text
    )
    for address in re.findall(r'(?:href)="(/[^"]*)"', response.text):
        assert address == "/graphql/" or (await anyone.get(address)).status_code == 200


def test_the_page_shows_every_operation_and_key() -> None:
    page = rendered(DOCUMENT)
    for route in ROUTES:
        assert route.path in page
        for key in route.shape.keys:
            assert f"<code>{key}" in page or f"<code>[].{key}" in page
    links, targets = set(re.findall(r'href="#([^"]+)"', page)), re.findall(r' id="([^"]+)"', page)
    assert links <= set(targets)
    assert len(targets) == len(set(targets))


def test_what_is_shown_is_escaped() -> None:
    evil = Route("GET", "/api/<b>/", ROUTES[1].operation, ROUTES[1].shape)
    assert "<b>" not in rendered(described({"<b>": [evil]}))


@pytest.mark.parametrize("made", [DOCUMENT, MADE_UP], ids=["real", "made up"])
def test_the_limits_are_told_with_their_headers(made: Any) -> None:
    for methods in made["paths"].values():
        for described in methods.values():
            assert described["responses"]["429"] == {"$ref": "#/components/responses/TooManyRequests"}
            for status, answer in described["responses"].items():
                headers = (
                    answer.get("headers")
                    or made["components"]["responses"][answer["$ref"].rpartition("/")[2]]["headers"]
                )
                assert ("RateLimit" in headers) is ("RateLimit-Policy" in headers) is (status != "401")
                assert ("Retry-After" in headers) is (status == "429")
    assert made["components"]["headers"]["Retry-After"]["schema"]["type"] == "integer"

"""Whatever changes something is done once with one key: each mutation, and each REST route that writes but the log-in."""

import itertools
import json
import uuid
from collections.abc import Iterator, Mapping
from typing import Any

import httpx
import pytest
from graphql import (
    GraphQLEnumType,
    GraphQLInputObjectType,
    GraphQLList,
    GraphQLObjectType,
    get_named_type,
    get_nullable_type,
    is_leaf_type,
    is_non_null_type,
    is_required_input_field,
)

from rest_compat.routes import ROUTES
from schema.root import schema
from tests.fixtures.tenants import PASSWORD, Owned, Tenants

pytestmark = pytest.mark.asyncio(loop_scope="module")

GRAPH = schema._schema
NEVER_KEPT = {"obtainToken", "requestPasswordReset"}
"""Each log-in makes a new token."""
OF_MARKETPLACES = {
    "acceptOffer",
    "createBox",
    "createGiftCardDesign",
    "rejectOffer",
    "updateBox",
    "updateGiftCardDesign",
}
"""What no user of a partner may do."""
OF_COLLEAGUES = {"createToken", "createUserToken"}
"""What asks for a password, of which too many wrong ones in a row are followed by pauses."""
_numbers = itertools.count()


def mutations() -> Mapping[str, Any]:
    """Each mutation with its field."""
    kind = GRAPH.mutation_type
    return {} if kind is None else kind.fields


def sample(kind: Any, name: str, owned: Owned) -> Any:
    """Something to send: what is required, in values that are often taken; ids are those of rows there are."""
    wanted = get_nullable_type(kind)
    if isinstance(wanted, GraphQLList):
        return [sample(wanted.of_type, name, owned)]
    if isinstance(wanted, GraphQLInputObjectType) and wanted.name == "TextInput":
        return {"en": name}
    if isinstance(wanted, GraphQLInputObjectType):
        fields = wanted.fields.items()
        return {n: sample(f.type, n, owned) for n, f in fields if is_required_input_field(f)}
    if isinstance(wanted, GraphQLEnumType):
        return next(iter(wanted.values))
    samples = {"Int": 1, "Float": 1.0, "Boolean": True, "Decimal": "1.00", "UUID": str(uuid.uuid4())}
    samples |= {"Date": "2100-01-31", "DateTime": "2100-01-31T12:00:00Z"}
    return samples.get(wanted.name, f"https://shop.example/{name}-{next(_numbers)}" if "url" in name.lower() else name)


def input_of(mutation: str, owned: Owned) -> dict[str, Any]:
    """Something to send to a mutation: about a row of the caller's where it is about one."""
    made: dict[str, Any] = sample(mutations()[mutation].args["input"].type, mutation, owned)
    more: dict[str, dict[str, Any]] = {
        "createCoupon": {"code": f"COUPON{next(_numbers)}", "discount": {"percentage": "10"}},
        "createDeliveryMode": {"kind": "CLICK_AND_COLLECT"},
        "createWebhookEndpoint": {"url": "https://shop.example/hooks"},
        "obtainToken": {"username": "a1@users.example", "password": PASSWORD},
        "revokeToken": {"id": 999_999},
        "saveEcommerceCart": {"items": [{"productId": owned.product, "quantity": 1}]},
    }
    about = {
        "Variant": owned.variant,
        "Attribute": owned.attribute,
        "DeliveryMode": owned.delivery_mode,
        "Coupon": owned.coupon,
        "Webhook": owned.webhook_endpoint,
        "Product": owned.product,
    }
    if made.get("id") == 1:
        made["id"] = next((id for word, id in about.items() if word in mutation), 999_999)
    if "productId" in made:
        made["productId"] = owned.product
    return made | more.get(mutation, {})


def selection(kind: Any, depth: int = 3) -> str:
    """All of a type that needs no arguments, some levels deep."""
    named = get_named_type(kind)
    assert isinstance(named, GraphQLObjectType)
    return " ".join(_selected(named, depth))


def _selected(kind: GraphQLObjectType, depth: int) -> Iterator[str]:
    for name, field in kind.fields.items():
        inner = get_named_type(field.type)
        if any(is_non_null_type(argument.type) for argument in field.args.values()):
            continue
        if is_leaf_type(inner):
            yield name
        elif depth and isinstance(inner, GraphQLObjectType) and (parts := " ".join(_selected(inner, depth - 1))):
            yield f"{name} {{ {parts} }}"


async def ask(tenants: Tenants, mutation: str, input: Mapping[str, Any], key: str) -> httpx.Response:
    """Send a mutation with a key, and select all of what it answers."""
    field = mutations()[mutation]
    kind = field.args["input"].type
    query = f"mutation ($input: {kind}) {{ {mutation}(input: $input) {{ {selection(field.type)} }} }}"
    who = "market a" if mutation in OF_MARKETPLACES else "a2" if mutation in OF_COLLEAGUES else "a1"
    headers = {"Authorization": f"Token {tenants.tokens[who]}", "Idempotency-Key": key}
    body = {"query": query, "variables": {"input": input}}
    return await tenants.client.post("/graphql/", json=body, headers=headers)


@pytest.mark.parametrize("mutation", mutations())
async def test_each_mutation_is_done_once(tenants: Tenants, mutation: str) -> None:
    key, input = f"each {mutation}", input_of(mutation, tenants.owned["a1"])
    first = await ask(tenants, mutation, input, key)
    assert "errors" not in first.json() or first.json()["errors"][0]["extensions"]["code"] == "FORBIDDEN", first.text
    before = await tenants.snapshot()
    again = await ask(tenants, mutation, input, key)
    done = "errors" not in first.json() and not first.json()["data"][mutation]["userErrors"]
    assert ("idempotent-replayed" in again.headers) is (done and mutation not in NEVER_KEPT)
    if mutation not in NEVER_KEPT:
        assert again.content == first.content
    if done and mutation not in NEVER_KEPT:
        assert await tenants.snapshot() == before


async def test_what_these_tests_send_is_mostly_done(tenants: Tenants) -> None:
    """Else the test above would show little."""
    done = []
    for mutation in mutations():
        body = (await ask(tenants, mutation, input_of(mutation, tenants.owned["a1"]), f"most {mutation}")).json()
        if "errors" not in body and not body["data"][mutation]["userErrors"]:
            done.append(mutation)
    assert {
        "createBox",
        "createProduct",
        "createCoupon",
        "updateProduct",
        "updateDeliveryMode",
        "saveEcommerceCart",
    } <= set(done)


def writes() -> list[Any]:
    """Each REST route that writes, with each of its methods."""
    return [(verb, route) for route in ROUTES for verb in route.verbs if verb != "GET"]


@pytest.mark.parametrize(("verb", "route"), writes(), ids=lambda it: getattr(it, "path", it))
async def test_each_route_that_writes_does_it_once(tenants: Tenants, verb: str, route: Any) -> None:
    path = route.path
    for name in [step[1:-1] for step in path.split("/") if step.startswith("{")]:
        path = path.replace(f"{{{name}}}", "1")
    described = (await tenants.client.get("/openapi.json")).json()["paths"][route.path][verb.lower()]
    sent: Any = described.get("requestBody", {"content": {"": {"example": {}}}})  # some take no body
    content: Any = next(iter(sent["content"].values()))
    logs_in = route.path == "/api-token-auth/"
    body = {"username": "a1@users.example", "password": PASSWORD} if logs_in else content["example"]
    named = [parameter["name"] for parameter in described.get("parameters", [])]
    assert ("Idempotency-Key" in named) is ("409" in described["responses"]) is (not logs_in)
    headers = {"Authorization": f"Token {tenants.tokens['a1']}", "Idempotency-Key": f"route {verb} {route.path}"}

    async def send() -> httpx.Response:
        return await tenants.client.request(verb, path, content=json.dumps(body), headers=headers)

    first = await send()
    before = await tenants.snapshot()
    again = await send()
    done = first.is_success and not logs_in
    assert ("idempotent-replayed" in again.headers) is done
    assert again.status_code == first.status_code
    if done:
        assert again.content == first.content
        assert await tenants.snapshot() == before


async def test_carts_are_answered_again_unchanged_over_graphql(tenants: Tenants) -> None:
    input = {"items": [{"productId": 7, "quantity": 2}], "returnUrl": "https://shop.example/thanks"}
    first, again = [await ask(tenants, "saveEcommerceCart", input, "unchanged") for _ in range(2)]
    assert '"expiresOn"' in first.text
    assert (again.content, "idempotent-replayed" in again.headers) == (first.content, True)
    replaced = input | {"id": first.json()["data"]["saveEcommerceCart"]["ecommerceCart"]["id"]}
    assert "IDEMPOTENCY_MISMATCH" in (await ask(tenants, "saveEcommerceCart", replaced, "unchanged")).text

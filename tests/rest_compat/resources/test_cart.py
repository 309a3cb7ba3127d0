"""The cart endpoints: every rule of the hand-over, over REST."""

import datetime as dt
import json
import uuid
from collections.abc import Mapping
from typing import Any

import httpx
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.core.clock import clock
from tests.rest_compat.conftest import Shops

CART = "/api/v2/ecommerce/cart/"
KEYS = ["id", "items", "return_url", "funnel_url", "last_modified"]
ITEM_KEYS = ["product_id", "quantity", "variant_id", "attribute_values"]
ITEM = {"product_id": 7, "quantity": 2, "variant_id": 3, "attribute_values": {"5": "red"}}


async def saved(client: httpx.AsyncClient, **cart: Any) -> dict[str, Any]:
    """A cart that was taken."""
    response = await client.post(CART, json={"items": [], **cart})
    assert response.status_code in {200, 201}, response.text
    answer: dict[str, Any] = response.json()
    return answer


async def cart_errors(client: httpx.AsyncClient, cart: Any) -> Any:
    """What is wrong with a cart."""
    response = await client.post(CART, content=json.dumps(cart))  # half a surrogate pair too, which httpx refuses
    assert response.status_code == 400, response.text
    return response.json()


async def test_a_cart_is_created_and_read(shop: httpx.AsyncClient) -> None:
    before = clock.milliseconds()
    response = await shop.post(CART, json={"items": [ITEM], "return_url": "https://shop.example/thanks"})
    assert response.status_code == 201
    cart = response.json()
    assert list(cart) == KEYS
    assert [list(item) for item in cart["items"]] == [ITEM_KEYS]
    assert cart["items"] == [ITEM]
    assert cart["return_url"] == "https://shop.example/thanks"
    assert cart["funnel_url"] == f"https://shop1.example/ecommerce/shop/customization/?cart={uuid.UUID(cart['id'])}"
    assert before <= cart["last_modified"] <= clock.milliseconds()
    read = await shop.get(f"{CART}{cart['id']}/")
    assert read.status_code == 200
    assert read.content == response.content


@pytest.mark.parametrize("absent", [{}, {"id": None, "return_url": None}, {"id": None, "return_url": ""}])
async def test_null_equals_leaving_out(shop: httpx.AsyncClient, absent: Mapping[str, Any]) -> None:
    nulls = {"variant_id": None, "attribute_values": None} if absent else {}
    cart = await saved(shop, items=[{"product_id": 7, "quantity": 0, **nulls}], **absent)
    assert cart["return_url"] == ""
    assert cart["items"] == [{"product_id": 7, "quantity": 0, "variant_id": None, "attribute_values": {}}]


async def test_numbers_may_be_digits_and_unknown_keys_are_ignored(shop: httpx.AsyncClient) -> None:
    item = {"product_id": "7", "quantity": "2", "variant_id": "3", "attribute_values": {"05": "red"}, "price": 0.01}
    cart = await saved(shop, items=[item], coupon="\x00", customer={"a": 1})
    assert cart["items"] == [ITEM]


async def test_an_empty_cart_is_taken(shop: httpx.AsyncClient) -> None:
    assert (await saved(shop))["items"] == []


async def test_replace_keeps_the_id_and_answers_200(shop: httpx.AsyncClient) -> None:
    first = await saved(shop, items=[ITEM], return_url="https://shop.example/")
    response = await shop.post(CART, json={"id": first["id"], "items": []})
    assert response.status_code == 200
    second = response.json()
    assert second["id"] == first["id"]
    assert second["items"] == []
    assert second["return_url"] == ""
    assert second["last_modified"] > first["last_modified"]
    assert (await shop.get(f"{CART}{first['id']}/")).json() == second


async def test_replace_needs_a_live_cart_of_ones_own(shops: Shops, shop: httpx.AsyncClient) -> None:
    cart = await saved(shop, items=[ITEM])
    async with shops.client(2) as other:
        assert list(await cart_errors(other, {"id": cart["id"], "items": []})) == ["id"]
        assert (await other.get(f"{CART}{cart['id']}/")).json() == {"detail": "Cart not found"}
    assert list(await cart_errors(shop, {"id": str(uuid.uuid4()), "items": []})) == ["id"]
    assert (await shop.get(f"{CART}{cart['id']}/")).json() == cart
    clock.advance(dt.timedelta(hours=2, seconds=1))
    assert list(await cart_errors(shop, {"id": cart["id"], "items": []})) == ["id"]


@pytest.mark.parametrize(
    "id",
    [
        "nonsense",
        "1",
        "%00",
        "6f1b6c9e-5a0e-4b70-9b5e-0d4b0a4f3c11",
        "00000000000000000000000000000000x",
        "9" * 400,
        "a%2Fb",
    ],
)
async def test_any_other_id_is_not_found_in_the_documented_words(shop: httpx.AsyncClient, id: str) -> None:
    response = await shop.get(f"{CART}{id}/")
    assert response.status_code == 404
    if id != "a%2Fb":  # two segments: no route
        assert response.json() == {"detail": "Cart not found"}


async def test_a_cart_lives_two_hours_and_reading_does_not_extend_that(shop: httpx.AsyncClient) -> None:
    cart = await saved(shop)
    clock.advance(dt.timedelta(hours=1, minutes=59))
    assert (await shop.get(f"{CART}{cart['id']}")).status_code == 200
    clock.advance(dt.timedelta(minutes=2))
    assert (await shop.get(f"{CART}{cart['id']}")).status_code == 404


WRONG: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, {"items": ["This field is required."]}),
    ({"items": None}, {"items": ["Send a list."]}),
    ({"items": {}}, {"items": ["Send a list."]}),
    ({"items": "[]"}, {"items": ["Send a list."]}),
    ({"items": [1]}, {"items": [{"non_field_errors": ["Send an object."]}]}),
    ({"items": [ITEM, {}]}, {"items": [{}, {"product_id": ["This field is required."], "quantity": ["This field is required."]}]}),
    ({"items": [ITEM | {"quantity": -1}]}, {"items": [{"quantity": ["Send 0 or more."]}]}),
    ({"items": [ITEM | {"quantity": 10_000}]}, {"items": [{"quantity": ["Send 9999 or less."]}]}),
    ({"items": [ITEM | {"quantity": True}]}, {"items": [{"quantity": ["Send a whole number."]}]}),
    ({"items": [ITEM | {"quantity": 5.5}]}, {"items": [{"quantity": ["Send a whole number."]}]}),
    ({"items": [ITEM | {"quantity": None}]}, {"items": [{"quantity": ["Send a whole number."]}]}),
    ({"items": [ITEM | {"product_id": "seven"}]}, {"items": [{"product_id": ["Send a whole number."]}]}),
    ({"items": [ITEM | {"product_id": 10**30}]}, {"items": [{"product_id": ["Send a whole number."]}]}),
    ({"items": [ITEM | {"product_id": 2**63}]}, {"items": [{"product_id": ["Send 2147483647 or less."]}]}),
    ({"items": [ITEM | {"variant_id": "x"}]}, {"items": [{"variant_id": ["Send a whole number."]}]}),
    ({"items": [ITEM | {"attribute_values": []}]}, {"items": [{"attribute_values": ["Send an object."]}]}),
    ({"items": [ITEM | {"attribute_values": "red"}]}, {"items": [{"attribute_values": ["Send an object."]}]}),
    ({"items": [ITEM | {"attribute_values": {"colour": "red"}}]}, {"items": [{"attribute_values": {"colour": ["Send a whole number."]}}]}),
    ({"items": [ITEM | {"attribute_values": {"5": 1}}]}, {"items": [{"attribute_values": {"5": ["Send a text."]}}]}),
    ({"items": [ITEM | {"attribute_values": {"5": None}}]}, {"items": [{"attribute_values": {"5": ["Send a text."]}}]}),
    ({"items": [ITEM] * 201}, {"items": ["Send at most 200."]}),
    ({"items": [], "id": "x"}, {"id": ["Send a UUID."]}),
    ({"items": [], "id": 5}, {"id": ["Send a UUID."]}),
    ({"items": [], "return_url": "ftp://shop.example/"}, {"return_url": ["Send an address that starts with http:// or https://."]}),
    ({"items": [], "return_url": "https://me@shop.example/"}, {"return_url": ["Send an address without a user name."]}),
    ({"items": [], "return_url": "https://" + "a" * 2041}, {"return_url": ["Use at most 2048 characters."]}),
    ({"items": [], "return_url": 5}, {"return_url": ["Send a text."]}),
    ({"items": [], "return_url": "https://a/\x00"}, {"return_url": ["This text holds a character that cannot be stored."]}),
    ({"items": [ITEM | {"attribute_values": {"5": "\x00"}}]}, {"items": [{"attribute_values": {"5": ["This text holds a character that cannot be stored."]}}]}),
    ({"items": [ITEM | {"attribute_values": {"\ud800": "x"}}]}, {"items": [{"attribute_values": ["This text holds a character that cannot be stored."]}]}),
]  # fmt: skip


@pytest.mark.parametrize(("cart", "body"), WRONG)
async def test_each_mistake_is_told_at_its_field(
    shop: httpx.AsyncClient, cart: dict[str, Any], body: dict[str, Any]
) -> None:
    assert await cart_errors(shop, cart) == body


@pytest.mark.parametrize("body", [[], "x", 5, None, True])
async def test_a_body_that_is_no_object(shop: httpx.AsyncClient, body: Any) -> None:
    response = await shop.post(CART, content=json.dumps(body))
    assert response.status_code == 400
    assert response.json() == {"non_field_errors": ["Send an object."]}


async def test_a_refused_cart_changes_nothing(shop: httpx.AsyncClient) -> None:
    cart = await saved(shop, items=[ITEM])
    await cart_errors(shop, {"id": cart["id"], "items": [ITEM | {"quantity": -1}]})
    assert (await shop.get(f"{CART}{cart['id']}/")).json() == cart


async def test_the_same_key_answers_the_first_cart_again(shops: Shops, shop: httpx.AsyncClient) -> None:
    headers, cart = {"Idempotency-Key": "order 66"}, {"items": [ITEM]}
    first = await shop.post(CART, json=cart, headers=headers)
    assert "idempotent-replayed" not in first.headers
    clock.advance(dt.timedelta(seconds=5))
    again = await shop.post(CART, json=cart, headers=headers)
    assert (again.status_code, again.content) == (201, first.content)
    assert again.headers["idempotent-replayed"] == "true"
    other = await shop.post(CART, json={"items": []}, headers=headers)
    assert other.status_code == 409
    assert list(other.json()) == ["detail", "code"]
    assert other.json()["code"] == "idempotency_mismatch"
    async with shops.client(2) as stranger:
        assert (await stranger.post(CART, json={"items": []}, headers=headers)).status_code == 201


@pytest.mark.parametrize("key", ["", "k" * 256, "caf\u00e9", "tab\there"])
async def test_a_malformed_key_is_refused(shop: httpx.AsyncClient, key: str) -> None:
    response = await shop.post(CART, json={"items": []}, headers={b"Idempotency-Key": key.encode()})
    assert response.status_code == 400
    assert list(response.json()) == ["non_field_errors"]


async def test_only_partners_have_carts(shops: Shops) -> None:
    async with shops.client(None) as client:
        for response in (await client.post(CART, json={}), await client.get(f"{CART}nonsense/")):
            assert response.status_code == 403
            assert list(response.json()) == ["detail"]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.just("\x00") | st.just("\ud800"),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=12,
)
ITEMS = st.fixed_dictionaries(
    {},
    optional={
        "product_id": JSON | st.integers(1, 99),
        "quantity": JSON | st.integers(0, 9999),
        "variant_id": JSON | st.integers(1, 99),
        "attribute_values": JSON | st.dictionaries(st.integers(1, 9).map(str), st.text(max_size=5), max_size=3),
    },
)
CARTS = JSON | st.fixed_dictionaries(
    {},
    optional={
        "id": JSON | st.uuids().map(str),
        "items": JSON | st.lists(ITEMS, max_size=3),
        "return_url": JSON | st.just("https://shop.example/"),
        "extra": JSON,
    },
)


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(cart=CARTS)
async def test_any_json_is_a_cart_or_refused_by_field(shop: httpx.AsyncClient, cart: Any) -> None:
    response = await shop.post(CART, content=json.dumps(cart))
    if response.status_code == 400:
        body = response.json()
        assert isinstance(body, dict)
        assert set(body) <= {"id", "items", "return_url", "non_field_errors"} or _no_json(cart)
    else:
        assert response.status_code == 201, response.text
        assert list(response.json()) == KEYS


def _no_json(cart: Any) -> bool:
    """Whether what Python wrote is not JSON: NaN and infinities."""
    return any(word in json.dumps(cart) for word in ("NaN", "Infinity"))

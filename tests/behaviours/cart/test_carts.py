"""The hand-over of carts: who may, what is kept, what is refused and in which order, for how long, and once."""

import asyncio
import datetime as dt
import uuid
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from store.core.clock import clock
from tests.fixtures.tenants import Tenants
from tests.transports import BAD_TOKEN, NO_TOKEN, TRANSPORTS, Answer, Transport, is_uuid

pytestmark = pytest.mark.asyncio(loop_scope="module")

Stored = Callable[[], Awaitable[Any]]
ITEM = {"product_id": 7, "quantity": 2, "variant_id": 3, "attribute_values": {"5": "red", "6": "large"}}
PLAIN = {"product_id": 8, "quantity": 0}
OWN = ("a1", "powerless")
"""Users of the first partner. Carts ask for no permission, only for a partner."""
REFUSED = {NO_TOKEN: 401, BAD_TOKEN: 401, "market a": 403, "market b": 403, "master": 403}
"""Who has no carts at all, and why."""


async def saved(transport: Transport, who: str = "a1", **cart: Any) -> dict[str, Any]:
    """A cart that was taken."""
    answer = await transport.save_cart(who, {"items": [ITEM], **cart})
    assert answer.done, answer
    result: dict[str, Any] = answer.result
    return result


# ---- what is kept


async def test_a_cart_is_kept_as_it_was_sent(transport: Transport, tenants: Tenants) -> None:
    before = clock.milliseconds()
    cart = await saved(transport, items=[ITEM, PLAIN], return_url="https://shop.example/thanks?a=1")
    assert set(cart) == {"id", "items", "return_url", "funnel_url", "last_modified"}
    assert is_uuid(cart["id"])
    assert cart["items"] == [ITEM, {**PLAIN, "variant_id": None, "attribute_values": {}}]
    assert cart["return_url"] == "https://shop.example/thanks?a=1"
    assert cart["funnel_url"] == f"http://a1.localhost/ecommerce/shop/customization/?cart={cart['id']}"
    assert before <= cart["last_modified"] <= clock.milliseconds()
    assert await transport.read_cart("a1", cart["id"]) == Answer(200, cart)


@pytest.mark.parametrize("absent", [{}, {"id": None, "return_url": None}, {"return_url": ""}, {"return_url": "  "}])
async def test_null_and_blank_are_nothing(transport: Transport, absent: dict[str, Any]) -> None:
    nulls = {"variant_id": None, "attribute_values": None} if "id" in absent else {}
    cart = await saved(transport, items=[{**PLAIN, **nulls}], **absent)
    assert cart["return_url"] == ""
    assert cart["items"] == [{**PLAIN, "variant_id": None, "attribute_values": {}}]


async def test_a_cart_may_be_empty_and_may_be_full(transport: Transport) -> None:
    assert (await saved(transport, items=[]))["items"] == []
    assert len((await saved(transport, items=[{"product_id": 1, "quantity": 9999}] * 200))["items"]) == 200


async def test_two_carts_have_two_ids(transport: Transport) -> None:
    assert (await saved(transport))["id"] != (await saved(transport))["id"]


async def test_a_replaced_cart_keeps_its_id_and_nothing_else(transport: Transport) -> None:
    first = await saved(transport, return_url="https://shop.example/")
    second = await saved(transport, id=first["id"], items=[PLAIN])
    assert (second["id"], second["funnel_url"]) == (first["id"], first["funnel_url"])
    assert second["items"] == [{**PLAIN, "variant_id": None, "attribute_values": {}}]
    assert second["return_url"] == ""
    assert second["last_modified"] > first["last_modified"]
    assert (await transport.read_cart("a1", first["id"])).result == second


async def test_of_replacements_at_once_one_is_kept_whole(transport: Transport) -> None:
    cart = await saved(transport)
    sent = [[{"product_id": n, "quantity": n}] * n for n in range(1, 9)]
    done = await asyncio.gather(*(saved(transport, id=cart["id"], items=items) for items in sent))
    kept = (await transport.read_cart("a1", cart["id"])).result
    assert kept == max(done, key=lambda each: each["last_modified"])
    assert len({each["last_modified"] for each in done}) == len(done)


# ---- who may


@pytest.mark.parametrize("who", [*REFUSED, *OWN, "a2", "b1"])
async def test_who_may_save_a_cart(transport: Transport, stored: Stored, who: str) -> None:
    before = await stored()
    answer = await transport.save_cart(who, {"items": [ITEM]})
    assert answer.status == REFUSED.get(who, 200)
    if who in REFUSED:
        assert await stored() == before


@pytest.mark.parametrize("who", [*REFUSED, *OWN, "a2", "b1"])
async def test_who_may_read_a_cart(transport: Transport, who: str) -> None:
    cart = await saved(transport)
    answer = await transport.read_cart(who, cart["id"])
    assert answer.status == REFUSED.get(who, 200 if who in OWN else 404)
    if answer.status == 404:
        unknown = await transport.read_cart(who, str(uuid.uuid4()))
        assert answer == unknown, "a foreign cart and an unknown one get the same answer"
        assert answer.message == "Cart not found"


@pytest.mark.parametrize("who", [*REFUSED, *OWN, "a2", "b1"])
async def test_who_may_replace_a_cart(transport: Transport, stored: Stored, who: str) -> None:
    cart = await saved(transport)
    before = await stored()
    answer = await transport.save_cart(who, {"id": cart["id"], "items": []})
    assert answer.status == REFUSED.get(who, 200 if who in OWN else 400)
    if who not in OWN:
        assert answer.fields == (set() if who in REFUSED else {"id"})
        assert await stored() == before
        assert (await transport.read_cart("a1", cart["id"])).result == cart


# ---- what is refused

LONG = "https://shop.example/" + "a" * 2028
WRONG: list[tuple[dict[str, Any], set[str]]] = [
    ({"items": [{**ITEM, "quantity": -1}]}, {"items.0.quantity"}),
    ({"items": [{**ITEM, "quantity": 10_000}]}, {"items.0.quantity"}),
    ({"items": [{**ITEM, "product_id": 0}]}, {"items.0.product_id"}),
    ({"items": [{**ITEM, "product_id": -7}]}, {"items.0.product_id"}),
    ({"items": [{**ITEM, "variant_id": 0}]}, {"items.0.variant_id"}),
    ({"items": [ITEM, {**PLAIN, "quantity": -1}, ITEM]}, {"items.1.quantity"}),
    (
        {"items": [{**ITEM, "quantity": -1}, {**ITEM, "product_id": 0}], "return_url": "nowhere"},
        {"items.0.quantity", "items.1.product_id", "return_url"},
    ),
    ({"items": [PLAIN] * 201}, {"items"}),
    ({"items": [], "return_url": "ftp://shop.example/"}, {"return_url"}),
    ({"items": [], "return_url": "javascript:alert(1)"}, {"return_url"}),
    ({"items": [], "return_url": "//shop.example/"}, {"return_url"}),
    ({"items": [], "return_url": "https://somebody@shop.example/"}, {"return_url"}),
    ({"items": [], "return_url": "https://a:b@shop.example/"}, {"return_url"}),
    ({"items": [], "return_url": LONG}, {"return_url"}),
    ({"items": [], "id": "00000000-0000-4000-8000-000000000000"}, {"id"}),
]
MISTYPED: list[dict[str, Any]] = [
    {},
    {"items": None},
    {"items": "none"},
    {"items": [{}]},
    {"items": [{**ITEM, "quantity": "two"}]},
    {"items": [{**ITEM, "quantity": 1.5}]},
    {"items": [{**ITEM, "quantity": True}]},
    {"items": [{**ITEM, "product_id": None}]},
    {"items": [{**ITEM, "product_id": 2**31}]},
    {"items": [{**ITEM, "attribute_values": "red"}]},
    {"items": [{**ITEM, "attribute_values": {"colour": "red"}}]},
    {"items": [{**ITEM, "attribute_values": {"5": 1}}]},
    {"items": [{**ITEM, "attribute_values": {"5": None}}]},
    {"items": [], "id": "one"},
    {"items": [], "return_url": 5},
]
"""What REST tells by field, and the types of GraphQL refuse before that."""


@pytest.mark.parametrize(("cart", "fields"), WRONG)
async def test_a_mistake_is_told_at_its_field(
    transport: Transport, stored: Stored, cart: dict[str, Any], fields: set[str]
) -> None:
    before = await stored()
    answer = await transport.save_cart("a1", cart)
    assert (answer.status, answer.fields) == (400, fields)
    assert await stored() == before


@pytest.mark.parametrize("cart", [cart for cart, _ in WRONG])
async def test_a_mistake_is_told_in_the_same_words(tenants: Tenants, cart: dict[str, Any]) -> None:
    rest, graphql = [await kind(tenants).save_cart("a1", cart) for kind in TRANSPORTS]
    assert rest.wrong == graphql.wrong
    assert all(message.endswith(".") and "Input should" not in message for message in rest.wrong.values())


@pytest.mark.parametrize("cart", MISTYPED)
async def test_what_is_no_cart_is_refused(transport: Transport, stored: Stored, cart: dict[str, Any]) -> None:
    before = await stored()
    assert (await transport.save_cart("a1", cart)).status == 400
    assert await stored() == before


async def test_a_mistake_leaves_the_cart_as_it_was(transport: Transport) -> None:
    cart = await saved(transport)
    assert (await transport.save_cart("a1", {"id": cart["id"], "items": [{**ITEM, "quantity": -1}]})).status == 400
    assert (await transport.read_cart("a1", cart["id"])).result == cart


@pytest.mark.parametrize(
    ("url", "taken"),
    [
        ("https://shop.example/thanks", True),
        ("http://SHOP.example:8080/", True),
        ("https://shop.example.evil.example/", False),
        ("https://evil.example/?shop.example", False),
        ("", True),
    ],
)
async def test_a_partner_may_say_which_hosts_customers_return_to(
    transport: Transport, stored: Stored, url: str, taken: bool
) -> None:
    before = await stored()
    answer = await transport.save_cart("a2", {"items": [], "return_url": url})
    assert answer.done is taken
    if not taken:
        assert (answer.status, answer.fields) == (400, {"return_url"})
        assert await stored() == before


# ---- in which order

UNKNOWN = "00000000-0000-4000-8000-000000000000"
MISTAKE = {"items": [{**ITEM, "quantity": -1}]}


@pytest.mark.parametrize("who", REFUSED)
async def test_the_caller_is_told_before_the_fields(transport: Transport, stored: Stored, who: str) -> None:
    before = await stored()
    for cart in (MISTAKE, {**MISTAKE, "id": UNKNOWN}, {"items": [], "id": UNKNOWN}):
        assert (await transport.save_cart(who, cart, key="order")).status == REFUSED[who]
    assert (await transport.read_cart(who, UNKNOWN)).status == REFUSED[who]
    assert await stored() == before


async def test_the_fields_are_told_before_the_state(transport: Transport, stored: Stored) -> None:
    key = f"fields first {transport.name}"
    assert (await transport.save_cart("a1", {"items": []}, key=key)).done
    before = await stored()
    assert (await transport.save_cart("a1", MISTAKE, key=key)).status == 400
    assert (await transport.save_cart("a1", {"items": [PLAIN]}, key=key)).status == 409
    assert await stored() == before


# ---- how long


async def test_a_cart_lives_two_hours_from_its_last_write(transport: Transport) -> None:
    cart = await saved(transport)
    clock.advance(dt.timedelta(hours=1, minutes=59))
    assert (await transport.read_cart("a1", cart["id"])).done
    await saved(transport, id=cart["id"])
    clock.advance(dt.timedelta(hours=1, minutes=59))
    assert (await transport.read_cart("a1", cart["id"])).done, "reading at the end of its first life was not too late"
    clock.advance(dt.timedelta(minutes=2))
    assert (await transport.read_cart("a1", cart["id"])).status == 404, "reading does not make it live longer"


async def test_an_expired_cart_cannot_be_replaced(transport: Transport) -> None:
    cart = await saved(transport)
    clock.advance(dt.timedelta(hours=2, milliseconds=1))
    answer = await transport.save_cart("a1", {"id": cart["id"], "items": []})
    assert (answer.status, answer.fields) == (400, {"id"})
    assert (await transport.read_cart("a1", cart["id"])).status == 404


# ---- once


async def test_the_same_request_with_the_same_key_is_done_once(transport: Transport, stored: Stored) -> None:
    key, sent = f"once {transport.name}", {"items": [ITEM], "return_url": "https://shop.example/"}
    first = await transport.save_cart("a1", sent, key=key)
    assert first.done
    assert not first.replayed
    before = await stored()
    clock.advance(dt.timedelta(hours=23))
    again = await transport.save_cart("a1", sent, key=key)
    assert again.replayed
    assert again.result == first.result
    assert await stored() == before
    clock.advance(dt.timedelta(hours=1, seconds=1))
    later = await transport.save_cart("a1", sent, key=key)
    assert not later.replayed
    assert later.result["id"] != first.result["id"]


async def test_a_replacement_with_the_same_key_is_done_once(transport: Transport) -> None:
    key, cart = f"replace {transport.name}", await saved(transport)
    sent = {"id": cart["id"], "items": [PLAIN]}
    first = await transport.save_cart("a1", sent, key=key)
    newer = await saved(transport, id=cart["id"], items=[])
    again = await transport.save_cart("a1", sent, key=key)
    assert (again.replayed, again.result) == (True, first.result)
    assert (await transport.read_cart("a1", cart["id"])).result == newer, "it has not been written over"


async def test_another_request_with_the_same_key_is_refused(transport: Transport, stored: Stored) -> None:
    key = f"mismatch {transport.name}"
    assert (await transport.save_cart("a1", {"items": [ITEM]}, key=key)).done
    before = await stored()
    answer = await transport.save_cart("a1", {"items": [PLAIN]}, key=key)
    assert (answer.status, answer.code) == (409, "IDEMPOTENCY_MISMATCH")
    assert await stored() == before


async def test_a_refused_request_leaves_its_key_free(transport: Transport) -> None:
    key = f"refused {transport.name}"
    assert (await transport.save_cart("a1", MISTAKE, key=key)).status == 400
    assert (await transport.save_cart("a1", {"items": [], "id": UNKNOWN}, key=key)).status == 400
    answer = await transport.save_cart("a1", {"items": []}, key=key)
    assert (answer.status, answer.replayed) == (200, False)


async def test_each_token_has_keys_of_its_own(transport: Transport) -> None:
    key = f"own {transport.name}"
    answers = [await transport.save_cart(who, {"items": []}, key=key) for who in ("a1", "powerless", "b1")]
    assert {(answer.status, answer.replayed) for answer in answers} == {(200, False)}
    assert len({answer.result["id"] for answer in answers}) == 3


async def test_of_the_same_request_many_times_at_once_one_is_done(transport: Transport) -> None:
    key = f"at once {transport.name}"
    answers = await asyncio.gather(*(transport.save_cart("a1", {"items": [ITEM]}, key=key) for _ in range(8)))
    assert len({answer.result["id"] for answer in answers}) == 1
    assert sum(not answer.replayed for answer in answers) == 1

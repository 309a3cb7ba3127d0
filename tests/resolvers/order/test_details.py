"""Corrections of orders by staff: what they change, what is told, and when they are refused."""

from dataclasses import replace
from typing import Any

import orjson
import pytest
from sqlalchemy import text

from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.personal_data.operations import erase_personal_data
from schema.checkout.checkout import ProductChoice
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.delivery.delivery import DeliveryKind
from schema.event import EventType
from schema.graph.server import GraphQLRequest, GraphQLServer
from schema.personal_data.input import ErasePersonalData
from schema.root import schema
from tests.fixtures.basket import Experiences, bought, for_two
from tests.fixtures.payment.order_refund import ordered
from tests.fixtures.shop import BUYER, Shop

GRAPH = GraphQLServer(schema)
CORRECT = """mutation($input: UpdateOrderDetailsInput!) { updateOrderDetails(input: $input) {
    order { buyer { firstName lastName email phone } delivery { recipientName address { line1 line2 postalCode city } } }
    userErrors { field code message } } }"""
NEW = "joan@example.com"


async def correct(shop: Shop, context: Context | None = None, **more: Any) -> Any:
    """Correct the newest order; answers the body."""
    id = await shop.one("SELECT max(id) FROM shop_order")
    request = GraphQLRequest(CORRECT, variables={"input": {"id": id, **more}})
    return orjson.loads(orjson.dumps((await GRAPH.execute(request, context or shop.manager)).body))


async def corrected(shop: Shop, **more: Any) -> Any:
    """The order after a correction that was made."""
    payload = (await correct(shop, **more))["data"]["updateOrderDetails"]
    assert payload["userErrors"] == []
    return payload["order"]


async def problem(shop: Shop, **more: Any) -> dict[str, Any]:
    """What is wrong with a correction, which changes nothing."""
    before = await state(shop)
    payload = (await correct(shop, **more))["data"]["updateOrderDetails"]
    assert payload["order"] is None
    assert await state(shop) == before
    (told,) = payload["userErrors"]
    return dict(told)


async def state(shop: Shop) -> list[Any]:
    """All that a correction could change."""
    statements = (
        "SELECT o.* FROM shop_order o ORDER BY id",
        "SELECT customer_id, customer_first_name, customer_last_name, customer_email FROM payment ORDER BY id",
        "SELECT * FROM voucher ORDER BY id",
        "SELECT * FROM customer ORDER BY id",
        "SELECT id FROM event ORDER BY id",
        "SELECT id FROM mail ORDER BY id",
    )
    return [[tuple(row) for row in await shop.services.db.rows(text(each))] for each in statements]


async def events(shop: Shop) -> list[dict[str, Any]]:
    """The events about corrections."""
    statement = text("SELECT data FROM event WHERE type = :type ORDER BY id")
    return [row[0] for row in await shop.services.db.rows(statement, {"type": EventType.ORDER_DETAILS_CORRECTED})]


async def sent_home(shop: Shop) -> None:
    """An order that is sent to its buyer."""
    candle = await shop.product("20.00", weight_grams=300)
    await ordered(shop, ProductChoice(candle.id, 1), delivery=DeliveryKind.HOME_DELIVERY)


async def test_the_address_is_corrected_before_it_is_sent(shop: Shop) -> None:
    await sent_home(shop)
    mails = await shop.count("mail")
    order = await corrected(shop, delivery={"recipientName": "Grace Hopper", "address": {"line1": "9 rue Neuve"}})
    assert order["delivery"]["recipientName"] == "Grace Hopper"
    assert order["delivery"]["address"] == {
        "line1": "9 rue Neuve",
        "line2": BUYER.address_line_2,
        "postalCode": BUYER.postal_code,
        "city": BUYER.city,
    }
    (event,) = await events(shop)
    assert (event["address"]["line_1"], event["address"]["country"]) == ("9 rue Neuve", BUYER.country)
    assert event["buyer"]["email"] == BUYER.email
    assert await shop.count("mail") == mails, "nobody is told"
    audited = await shop.one("SELECT subject_type FROM audit_entry WHERE operation = 'update_order_details'")
    assert audited == "Order"


async def test_the_buyer_is_corrected_where_it_is_named(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    order = await corrected(shop, buyer={"firstName": "Grace", "lastName": "Hopper", "email": " Joan@Example.com "})
    assert order["buyer"]["firstName"] == "Grace"
    assert order["buyer"]["email"].lower() == NEW
    assert order["buyer"]["phone"] == await shop.one("SELECT buyer_phone FROM shop_order")
    assert (await shop.one("SELECT customer_email FROM payment")).lower() == NEW
    assert (await shop.one("SELECT gifter_email FROM voucher")).lower() == NEW
    named = "SELECT c.normal_email FROM customer c JOIN {} ON c.id = {}"
    assert await shop.one(named.format("payment p", "p.customer_id")) == NEW
    assert await shop.one(named.format("voucher v", "v.gifter_id")) == NEW
    old = await shop.one("SELECT count(*) FROM customer WHERE normal_email = :old", old=BUYER.email.lower())
    assert old == 0, "nothing names the mistyped address any more"
    assert (await events(shop))[0]["buyer"]["first_name"] == "Grace"
    assert await shop.one("SELECT giftee_email FROM voucher") != NEW, "the giftee is somebody else"


async def test_an_address_with_other_orders_stays_a_customer(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    await bought(shop, for_two(sold))
    await corrected(shop, buyer={"email": NEW})
    emails = {row[0] for row in await shop.services.db.rows(text("SELECT normal_email FROM customer"))}
    assert emails >= {BUYER.email.lower(), NEW}


async def test_the_same_values_change_nothing(shop: Shop) -> None:
    await sent_home(shop)
    before = await state(shop)
    await corrected(shop, buyer={"email": BUYER.email}, delivery={"address": {"city": BUYER.city}})
    await corrected(shop)
    assert await state(shop) == before


@pytest.mark.parametrize("fulfilment", ["sent", "delivered"])
async def test_the_address_of_what_was_sent_stays(shop: Shop, fulfilment: str) -> None:
    await sent_home(shop)
    await shop.execute("UPDATE shop_order SET fulfilment_state = :state", state=fulfilment)
    told = await problem(shop, delivery={"address": {"line1": "9 rue Neuve"}})
    assert (told["code"], told["field"]) == ("ALREADY_SENT", ["delivery"])
    assert (await problem(shop, delivery={"recipientName": "Grace"}))["code"] == "ALREADY_SENT"
    assert (await corrected(shop, buyer={"email": NEW}))["buyer"]["email"] == NEW


@pytest.mark.parametrize(
    ("input", "field"),
    [
        ({"buyer": {"email": "nobody"}}, "buyer.email"),
        ({"buyer": {"email": ""}}, "buyer.email"),
        ({"buyer": {"firstName": " "}}, "buyer.firstName"),
        ({"delivery": {"address": {"line1": ""}}}, "delivery.address.line1"),
        ({"delivery": {"address": {"postalCode": "x"}}}, "delivery.address.postalCode"),
        ({"delivery": {"address": {"city": "x" * 81}}}, "delivery.address.city"),
    ],
)
async def test_what_is_wrong_is_refused_at_its_field(shop: Shop, input: dict[str, Any], field: str) -> None:
    await sent_home(shop)
    assert (await problem(shop, **input))["field"] == field.split(".")


async def test_an_order_that_is_not_sent_has_no_address(shop: Shop) -> None:
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1), delivery=DeliveryKind.CLICK_AND_COLLECT)
    told = await problem(shop, delivery={"address": {"line1": "9 rue Neuve"}})
    assert told["field"] == ["delivery", "address"]


async def test_who_was_erased_is_not_entered_again(shop: Shop) -> None:
    await sent_home(shop)
    await shop.execute("UPDATE shop_order SET fulfilment_state = 'delivered'")
    await shop.execute("UPDATE mail SET state = 'sent'")
    permissions = frozenset({*GRANTABLE_PERMISSIONS, Permission.MANAGE_PERSONAL_DATA})
    caller = Caller(Role.PARTNER, user_id=1, partner_id=shop.partner.id, permissions=permissions)
    await corrected(shop, buyer={"email": NEW})
    await erase_personal_data(Context(shop.services, caller), ErasePersonalData(email=NEW))
    found = [row[0] for row in await shop.services.db.rows(text("SELECT to_jsonb(o)::text FROM shop_order o"))]
    found += [row[0] for row in await shop.services.db.rows(text("SELECT to_jsonb(p)::text FROM payment p"))]
    found += [row[0] for row in await shop.services.db.rows(text("SELECT to_jsonb(c)::text FROM customer c"))]
    found += [row[0] for row in await shop.services.db.rows(text("SELECT to_jsonb(a)::text FROM checkout_attempt a"))]
    found += [row[0] for row in await shop.services.db.rows(text("SELECT to_jsonb(e)::text FROM event e"))]
    for told in found:
        assert NEW not in told.lower()
        assert BUYER.email.lower() not in told.lower()
    assert (await problem(shop, buyer={"email": NEW}))["code"] == "BUYER_ERASED"


async def test_only_who_may_move_orders_of_the_partner_corrects_them(shop: Shop) -> None:
    await sent_home(shop)
    before = await state(shop)
    caller = shop.manager.required_caller
    looks = Context(shop.services, replace(caller, permissions=frozenset({Permission.VIEW_ORDER})))
    assert (await correct(shop, looks, buyer={"email": NEW}))["errors"][0]["extensions"]["code"] == "FORBIDDEN"
    neighbour = Context(
        shop.services,
        Caller(Role.PARTNER, user_id=1, partner_id=shop.partner.id + 1, permissions=caller.permissions),
    )
    payload = (await correct(shop, neighbour, buyer={"email": NEW}))["data"]["updateOrderDetails"]
    assert [each["code"] for each in payload["userErrors"]] == ["NOT_FOUND"]
    assert await state(shop) == before

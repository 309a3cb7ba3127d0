"""The timeline of an order: what happened, when, by whom, and what was mailed about it."""

from typing import Any

import orjson

from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.order.fulfilment import cancel_order_fulfilment, mark_order_sent, reopen_order_fulfilment
from schema.checkout.checkout import ProductChoice
from schema.core.permission import Permission
from schema.delivery.delivery import DeliveryKind
from schema.graph.server import GraphQLRequest, GraphQLServer
from schema.order.input import CancelOrderFulfilment, MarkOrderSent, ReopenOrderFulfilment
from schema.root import schema
from tests.fixtures.basket import GIFTEE, Experiences, bought, for_two
from tests.fixtures.payment.mixed_order import mixed_shop
from tests.fixtures.payment.order_refund import ordered, refunded
from tests.fixtures.payment.payment import send_refunds
from tests.fixtures.payment.refill import market
from tests.fixtures.shop import Shop
from tests.resolvers.payment.refunds.test_refunds import TOO_LATE, fail_refunds

GRAPH = GraphQLServer(schema)
TIMELINE = """{ orders(orderBy: OLDEST) { nodes { id timeline {
    kind occurredOn actor username amount { amount currency } mailKind recipient text } } } }"""
LOOKS = Permission.VIEW_ORDER, Permission.VIEW_MAIL, Permission.VIEW_AUDIT


async def timelines(shop: Shop, *permissions: Permission) -> list[list[dict[str, Any]]]:
    """The timelines of all orders, as a user of the shop with some permissions reads them."""
    caller = Caller(Role.PARTNER, user_id=1, partner_id=shop.partner.id, permissions=frozenset(permissions))
    response = await GRAPH.execute(GraphQLRequest(TIMELINE), Context(shop.services, caller))
    body = orjson.loads(orjson.dumps(response.body))
    assert "errors" not in body, body
    return [node["timeline"] for node in body["data"]["orders"]["nodes"]]


def kinds(entries: list[dict[str, Any]]) -> list[str]:
    """What happened, without the mails."""
    return [entry["kind"] for entry in entries if entry["mailKind"] is None]


async def test_it_tells_what_happened_in_order_and_who_did_it(shop: Shop) -> None:
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 2), delivery=DeliveryKind.HOME_DELIVERY)
    id = await shop.one("SELECT id FROM shop_order")
    await cancel_order_fulfilment(shop.manager, CancelOrderFulfilment(id=id))
    await reopen_order_fulfilment(shop.manager, ReopenOrderFulfilment(id=id))
    for _ in range(2):
        await mark_order_sent(shop.manager, MarkOrderSent(id=id, tracking_number="6A1"))
    await refunded(shop, (0, 1), reason="One was broken")
    (entries,) = await timelines(shop, *LOOKS)
    assert sorted(kinds(entries)[:2]) == ["PAID", "PLACED"]
    assert kinds(entries)[2:] == ["CANCELLED", "REOPENED", "SENT", "REFUNDED"], "the second change was none"
    assert [entry["occurredOn"] for entry in entries] == sorted(entry["occurredOn"] for entry in entries)
    (refund,) = [entry for entry in entries if entry["kind"] == "REFUNDED"]
    assert (refund["amount"], refund["text"]) == ({"amount": "20.00", "currency": "EUR"}, "One was broken")
    assert {entry["actor"] for entry in entries if entry["kind"] in ("CANCELLED", "SENT", "REFUNDED")} == {
        str(shop.manager.required_caller.role).upper()
    }
    mails = {entry["mailKind"] for entry in entries if entry["mailKind"]}
    assert {"ORDER_CONFIRMATION", "NEW_ORDER", "ORDER_SENT", "ORDER_CANCELLED", "ORDER_REFUNDED"} <= mails


async def test_a_refund_that_failed_tells_what_went_back(shop: Shop, sold: Experiences) -> None:
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1))
    await refunded(shop, 0)
    card = await shop.gift_card("97.00")
    await bought(shop, for_two(sold), codes=(card.code,))
    await refunded(shop, 0, reason="Ill")
    await fail_refunds(shop, TOO_LATE, 2)
    await send_refunds(shop.services)
    first, second = await timelines(shop, *LOOKS)
    told = [(entry["kind"], entry["amount"], entry["text"]) for entry in first + second if "REFUND" in entry["kind"]]
    assert told == [
        ("REFUND_FAILED", None, ""),
        ("REFUND_FAILED", {"amount": "97.00", "currency": "EUR"}, "Ill"),
    ]


async def test_it_has_the_mails_of_this_order_only(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1))
    first, second = await timelines(shop, *LOOKS)
    of_first = [entry["mailKind"] for entry in first if entry["mailKind"]]
    of_second = [entry["mailKind"] for entry in second if entry["mailKind"]]
    assert of_first.count("ORDER_CONFIRMATION") == of_second.count("ORDER_CONFIRMATION") == 1
    assert "VOUCHER" in of_first
    assert "VOUCHER" not in of_second
    assert len(of_first) + len(of_second) == await shop.count("mail")


async def test_what_needs_a_permission_of_its_own_is_left_out(shop: Shop) -> None:
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1), delivery=DeliveryKind.HOME_DELIVERY)
    await mark_order_sent(shop.manager, MarkOrderSent(id=await shop.one("SELECT id FROM shop_order")))
    await shop.execute("ALTER TABLE audit_entry DISABLE TRIGGER ALL")
    await shop.execute("UPDATE audit_entry SET username = 'ada' WHERE operation = 'mark_order_sent'")
    (entries,) = await timelines(shop, Permission.VIEW_ORDER)
    assert {entry["mailKind"] for entry in entries} == {None}
    assert {entry["username"] for entry in entries} == {""}
    (entries,) = await timelines(shop, *LOOKS)
    assert {entry["username"] for entry in entries} == {"", "ada"}


async def test_it_outlives_the_audit_log(shop: Shop) -> None:
    await ordered(shop, ProductChoice((await shop.product("20.00")).id, 1), delivery=DeliveryKind.HOME_DELIVERY)
    await mark_order_sent(shop.manager, MarkOrderSent(id=await shop.one("SELECT id FROM shop_order")))
    await shop.execute("ALTER TABLE audit_entry DISABLE TRIGGER ALL")
    await shop.execute("DELETE FROM audit_entry")
    (entries,) = await timelines(shop, *LOOKS)
    assert kinds(entries)[2:] == ["SENT"]


async def test_mails_with_goods_of_a_network_are_told_to_the_network_only(shop: Shop) -> None:
    network, own = await mixed_shop(shop)
    await bought(shop, for_two(own), network.cards("60.00", giftee=GIFTEE), network.boxes(giftee=GIFTEE))
    of_network = {"NETWORK_GIFT_CARD", "NETWORK_VOUCHER"}
    (entries,) = await timelines(shop, *LOOKS)
    told = {entry["mailKind"] for entry in entries if entry["mailKind"]}
    assert told >= {"VOUCHER", "ORDER_CONFIRMATION"}
    assert told.isdisjoint(of_network)
    assert GIFTEE.email not in {entry["recipient"] for entry in entries}
    response = await GRAPH.execute(GraphQLRequest(TIMELINE), market(shop))
    (node,) = orjson.loads(orjson.dumps(response.body))["data"]["orders"]["nodes"]
    assert {entry["mailKind"] for entry in node["timeline"]} >= of_network

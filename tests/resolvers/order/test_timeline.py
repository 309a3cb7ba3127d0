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
from tests.fixtures.basket import Experiences, bought, for_two
from tests.fixtures.payment.order_refund import ordered, refunded
from tests.fixtures.shop import Shop

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

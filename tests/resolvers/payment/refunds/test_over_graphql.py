"""Refunds of lines over GraphQL: what clients send and read, and who may."""

from dataclasses import replace
from typing import Any

import orjson
import pytest

from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.payment.refunds.order_refunds import preview_order_refund, refund_order
from schema.core.errors import Forbidden, NotFound, Unauthenticated
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.graph.server import GraphQLRequest, GraphQLServer
from schema.payment.input import PreviewOrderRefund
from schema.root import schema
from tests.fixtures.basket import Experiences, bought, columns, for_two, sale_coupon
from tests.fixtures.payment.order_refund import refund_wish
from tests.fixtures.shop import Shop

GRAPH = GraphQLServer(schema)
REFUND = """mutation($input: RefundOrderInput!) { refundOrder(input: $input) {
    refund { state origin reason amount { amount currency } delivery { amount }
      lines { quantity amount { amount } line { id voucher { state refundedOn } } refund { id } } }
    userErrors { field code message } } }"""
PREVIEW = """mutation($input: PreviewOrderRefundInput!) { previewOrderRefund(input: $input) {
    refundPreview { amount { amount } byCard { amount } byGiftCard { amount } left { amount } detail
      delivery { amount } lines { id quantity amount { amount } } }
    userErrors { field code message } } }"""
ORDER = """query($id: Int!) { order(id: $id) { status deliveryRefunded { amount } products {
    total { amount } discount { amount } quantity refundedQuantity refunded { amount }
    refunds { quantity amount { amount currency } refund { state } }
    voucher { isUsable isExtendable isRefundable } } } }"""


async def answer(shop: Shop, query: str, **variables: Any) -> Any:
    request = GraphQLRequest(query, variables=variables)
    return orjson.loads(orjson.dumps((await GRAPH.execute(request, shop.manager)).body))


async def second_line(shop: Shop, sold: Experiences) -> dict[str, Any]:
    """The wish to refund the second of two lines, each bought for 97.00 instead of 194.00."""
    coupon = await sale_coupon(shop, percentage="50.00", voucher_prototype_ids=[sold.massage.id])
    await bought(shop, for_two(sold), for_two(sold), codes=(coupon.code,))
    order, lines = await shop.one("SELECT id FROM shop_order"), await columns(shop, "order_product", "id")
    return {"id": order, "lines": [{"id": lines[1][0]}], "includeDelivery": True}


async def test_a_line_is_previewed(shop: Shop, sold: Experiences) -> None:
    wish = await second_line(shop, sold)
    preview = (await answer(shop, PREVIEW, input=wish))["data"]["previewOrderRefund"]
    assert preview == {
        "refundPreview": {
            "amount": {"amount": "97.00"},
            "byCard": {"amount": "97.00"},
            "byGiftCard": {"amount": "0.00"},
            "left": {"amount": "97.00"},
            "detail": "",
            "delivery": {"amount": "0.00"},
            "lines": [{"id": wish["lines"][0]["id"], "quantity": 1, "amount": {"amount": "97.00"}}],
        },
        "userErrors": [],
    }
    assert await shop.count("refund") == 0


async def test_a_line_is_refunded_and_shown(shop: Shop, sold: Experiences) -> None:
    wish = await second_line(shop, sold)
    refund = (await answer(shop, REFUND, input={**wish, "reason": "Ill"}))["data"]["refundOrder"]
    assert refund["userErrors"] == []
    line = refund["refund"].pop("lines")
    assert refund["refund"] == {
        "state": "PENDING",
        "origin": "STAFF",
        "reason": "Ill",
        "amount": {"amount": "97.00", "currency": "EUR"},
        "delivery": {"amount": "0.00"},
    }
    assert [(it["quantity"], it["amount"]["amount"], it["line"]["voucher"]["state"]) for it in line] == [
        (1, "97.00", "ERROR")
    ]
    assert line[0]["line"]["voucher"]["refundedOn"]
    shown = (await answer(shop, ORDER, id=wish["id"]))["data"]["order"]
    assert (shown["status"], shown["deliveryRefunded"]) == ("PAID", {"amount": "0.00"})
    flags = {"isUsable", "isExtendable", "isRefundable"}
    of_line = {"total": {"amount": "194.00"}, "discount": {"amount": "97.00"}, "quantity": 1}
    nothing = {"refundedQuantity": 0, "refunded": {"amount": "0.00"}, "refunds": []}
    one = {"quantity": 1, "amount": {"amount": "97.00", "currency": "EUR"}, "refund": {"state": "PENDING"}}
    assert shown["products"] == [
        {**of_line, **nothing, "voucher": dict.fromkeys(flags, True)},
        {
            **of_line,
            "refundedQuantity": 1,
            "refunded": {"amount": "97.00"},
            "refunds": [one],
            "voucher": dict.fromkeys(flags, False),
        },
    ]
    again = (await answer(shop, REFUND, input=wish))["data"]["refundOrder"]
    assert again["refund"] is None
    assert [(it["field"], it["code"]) for it in again["userErrors"]] == [(["lines", "0", "id"], "ORDER_LINE_REFUNDED")]


async def test_equal_amounts_of_a_day_are_told_before_and_at_once(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold), for_two(sold), for_two(sold))
    order, lines = await shop.one("SELECT id FROM shop_order"), await columns(shop, "order_product", "id")
    details = []
    for (id,) in lines[:2]:
        wish = {"id": order, "lines": [{"id": id}]}
        preview = await answer(shop, PREVIEW, input=wish)
        details.append(preview["data"]["previewOrderRefund"]["refundPreview"]["detail"])
        await refund_order(shop.manager, await refund_wish(shop, len(details) - 1))
    assert [bool(detail) for detail in details] == [False, True]
    assert "once a day" in details[1]
    assert sorted(row[0] for row in await columns(shop, "refund", "detail")) == ["", details[1]]


async def test_problems_of_an_input_are_told_at_their_places(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    order = await shop.one("SELECT id FROM shop_order")
    line = (await columns(shop, "order_product", "id"))[0][0]
    wish: dict[str, Any] = {"id": order, "lines": [{"id": line, "quantity": 0}, {"id": 0}], "reason": "x" * 201}
    found = (await answer(shop, REFUND, input=wish))["data"]["refundOrder"]
    assert [(it["field"], it["code"]) for it in found["userErrors"]] == [
        (["lines", "0", "quantity"], "OUT_OF_RANGE"),
        (["lines", "1", "id"], "OUT_OF_RANGE"),
        (["reason"], "TOO_LONG"),
    ]
    many = {"id": order, "lines": [{"id": line}] * 201}
    found = (await answer(shop, REFUND, input=many))["data"]["refundOrder"]
    assert [(it["field"], it["code"]) for it in found["userErrors"]] == [(["lines"], "TOO_MANY")]
    assert await shop.count("refund") == 0


async def test_only_the_partners_staff_with_the_permission_refunds(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    wish = await refund_wish(shop, 0)
    preview = PreviewOrderRefund(**wish.model_dump())
    caller = shop.manager.required_caller
    others: dict[type[Exception], Caller | None] = {
        Unauthenticated: None,
        Forbidden: replace(caller, permissions=frozenset({Permission.VIEW_ORDER, Permission.VIEW_PAYMENT})),
        NotFound: Caller(
            Role.PARTNER, GRANTABLE_PERMISSIONS, partner_id=(caller.partner_id or 0) + 1, marketplace_id=1
        ),
    }
    for error, who in others.items():
        context = Context(shop.services, who)
        with pytest.raises(error):
            await refund_order(context, wish)
        with pytest.raises(error):
            await preview_order_refund(context, preview)
    assert await shop.count("refund") == 0
    assert await columns(shop, "voucher", "state") == [("paid",)]
    marketplace = Caller(Role.MARKETPLACE, GRANTABLE_PERMISSIONS, marketplace_id=caller.marketplace_id)
    await refund_order(Context(shop.services, marketplace), wish)
    assert await columns(shop, "voucher", "state") == [("error",)]

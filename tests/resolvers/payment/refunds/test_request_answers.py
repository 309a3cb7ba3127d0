"""The answers to requests of buyers: refunds by staff and by rule, declines, and what the buyer is told."""

import datetime as dt
from decimal import Decimal
from typing import Any

import orjson
import pytest

from resolvers.core.caller import Caller, Role
from resolvers.core.context import Context
from resolvers.core.lists.listing import PageArguments
from resolvers.job.registry import HANDLERS
from resolvers.order.refund_requests import refund_requests
from resolvers.payment.refunds.refunds import refund_payment
from resolvers.payment.refunds.request_answers import approve_refund_request, decline_refund_request
from resolvers.voucher.updates import update_voucher
from schema.checkout.checkout import ProductChoice
from schema.core.errors import Forbidden, InvalidTransition, MarketplaceOnly, NotFound
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.delivery.delivery import DeliveryKind
from schema.graph.server import GraphQLRequest, GraphQLServer
from schema.order.input import ApproveRefundRequest, DeclineRefundRequest
from schema.payment.errors import GoodsUsed
from schema.payment.input import RefundPayment
from schema.root import schema
from schema.voucher.input import UpdateVoucher
from schema.voucher.voucher import VoucherState
from store.core.clock import clock
from store.job.jobs import JobKind
from tests.fixtures.basket import Experiences, bought, columns, for_two
from tests.fixtures.payment.dispute import books_are_right
from tests.fixtures.payment.order_refund import ordered, refunded
from tests.fixtures.payment.refund_request import (
    REFUND,
    approve_by_rule,
    approved,
    asked,
    declined,
    mails_of,
    request_events,
)
from tests.fixtures.shop import Shop

GRAPH = GraphQLServer(schema)
APPROVE = """mutation($input: ApproveRefundRequestInput!) { approveRefundRequest(input: $input) {
    refundRequest { state answer answeredById refund { amount { amount } lines { quantity } } }
    userErrors { field code message } } }"""
DECLINE = """mutation($input: DeclineRefundRequestInput!) { declineRefundRequest(input: $input) {
    refundRequest { state answer refund { id } } userErrors { field code message } } }"""
LIST = """query($state: RefundRequestState) { refundRequests(filter: { state: $state }) { nodes {
    kind state customerName customerEmail reason lines { quantity line { name { en } } } order { number } } } }"""
ORDER = "query($id: Int!) { order(id: $id) { refundRequests { state includesDelivery } } }"
POLICY = """mutation($input: UpdatePartnerInput!) { updatePartner(input: $input) {
    partner { refundPolicy { withdrawalDays approvesWithdrawals takesRefundRequests } }
    userErrors { field code } } }"""


async def answer(shop: Shop, query: str, **variables: Any) -> Any:
    request = GraphQLRequest(query, variables=variables)
    return orjson.loads(orjson.dumps((await GRAPH.execute(request, shop.manager)).body))


async def with_candles(
    shop: Shop, stock: int | None = None, delivery: DeliveryKind = DeliveryKind.HOME_DELIVERY
) -> None:
    """An order of three candles at 20.00, sent for 5.00."""
    await ordered(shop, ProductChoice((await shop.product("20.00", stock=stock)).id, 3), delivery=delivery)


async def answers(shop: Shop) -> list[tuple[Any, ...]]:
    return await columns(shop, "refund_request", "state", "refund_id IS NOT NULL", "answer")


async def by_rule(shop: Shop) -> None:
    await shop.execute("UPDATE partner SET approves_withdrawals = true")


# ---- approved by staff


async def test_an_approval_refunds_what_was_asked_for_once(shop: Shop) -> None:
    await with_candles(shop, stock=5)
    id = await asked(shop, {0: 3}, email="ada@other.example", reason="Too\nlarge")
    for _ in range(2):
        request = await approved(shop, id, message="Gladly.", restock=True)
        assert (request.state, request.answer) == ("approved", "Gladly.")
    assert await columns(shop, "refund", "refund_amount", "delivery_amount", "reason") == [
        (Decimal("65.00"), Decimal("5.00"), "Too large")
    ]
    assert await columns(shop, "product", "stock") == [(5,)]
    assert (await mails_of(shop))[3:] == [
        ("order_refunded", "ada@example.com"),
        ("order_refunded", "ada@other.example"),
    ]
    assert await shop.one("SELECT min(content->>'message') FROM mail WHERE kind = 'order_refunded'") == "Gladly."
    kinds = [kind for kind, _ in await request_events(shop)]
    assert kinds == ["refund_request.created", "refund_request.approved"]
    assert (await request_events(shop))[1][1]["refund_id"] == str(request.refund_id)
    await books_are_right(shop)


@pytest.mark.parametrize(("wish", "delivery"), [(None, "5.00"), (False, "0.00"), (True, "5.00")])
async def test_staff_may_say_what_becomes_of_the_delivery(shop: Shop, wish: bool | None, delivery: str) -> None:
    await with_candles(shop)
    await approved(shop, await asked(shop, {0: 3}), include_delivery=wish)
    assert await columns(shop, "refund", "delivery_amount") == [(Decimal(delivery),)]


@pytest.mark.parametrize("second_first", [False, True])
async def test_the_last_of_two_withdrawals_brings_the_delivery(shop: Shop, second_first: bool) -> None:
    await with_candles(shop)
    ids = [await asked(shop, {0: 2}), await asked(shop, {0: 1})]
    assert await columns(shop, "refund_request", "includes_delivery") == [(False,), (True,)]
    for id in sorted(ids, reverse=second_first):
        await approved(shop, id)
    amounts = ["20.00", "45.00"] if second_first else ["40.00", "25.00"]
    made = "SELECT string_agg(refund_amount::text, ' ' ORDER BY created_on) FROM refund"
    assert str(await shop.one(made)).split() == amounts


async def test_a_part_of_what_is_withdrawn_brings_no_delivery(shop: Shop) -> None:
    await with_candles(shop)
    first, second = await asked(shop, {0: 2}), await asked(shop, {0: 1})
    await declined(shop, first)
    await approved(shop, second)
    assert await columns(shop, "refund", "refund_amount") == [(Decimal("20.00"),)]


async def test_what_was_refunded_meanwhile_is_left_out(shop: Shop) -> None:
    await with_candles(shop)
    id = await asked(shop, {0: 3})
    await refunded(shop, (0, 1), include_delivery=True)
    assert await answers(shop) == [("pending", False, "")]
    await approved(shop, id)
    assert await columns(shop, "refund_line", "quantity") == [(1,), (2,)]
    assert await answers(shop) == [("approved", True, "")]


async def test_what_was_used_meanwhile_is_refunded_on_explicit_wish_only(shop: Shop, sold: Experiences) -> None:
    await bought(shop, for_two(sold))
    id = await asked(shop)
    code = str((await columns(shop, "voucher", "code"))[0][0])
    await update_voucher(shop.manager, UpdateVoucher(code=code, state=VoucherState.USED))
    with pytest.raises(GoodsUsed):
        await approved(shop, id)
    assert await answers(shop) == [("pending", False, "")]
    assert (await approved(shop, id, include_used=True)).state == "approved"


@pytest.mark.parametrize("whole", [True, False])
async def test_a_refund_that_leaves_nothing_of_it_answers_a_request(shop: Shop, whole: bool) -> None:
    await with_candles(shop)
    await asked(shop, {0: 2})
    await asked(shop, {0: 1}, reason="Another")
    if whole:
        id, amount = (await columns(shop, "payment", "id", "payment_amount"))[0]
        await refund_payment(shop.manager, RefundPayment(id=id, amount=amount))
    else:
        await refunded(shop, 0)
    assert await answers(shop) == [("approved", True, "")] * 2
    assert [kind for kind, _ in await request_events(shop)].count("refund_request.approved") == 2


async def test_a_refund_that_leaves_something_of_it_answers_nothing(shop: Shop) -> None:
    await with_candles(shop)
    await asked(shop, {0: 2})
    await refunded(shop, (0, 1))
    assert await answers(shop) == [("pending", False, "")]


# ---- declined


async def test_a_decline_tells_the_buyer_why_and_once(shop: Shop) -> None:
    await with_candles(shop)
    id = await asked(shop, email="ada@other.example")
    for _ in range(2):
        await declined(shop, id, "It was made\nfor you.")
    assert await answers(shop) == [("declined", False, "It was made\nfor you.")]
    assert (await mails_of(shop))[3:] == [
        ("request_declined", "ada@example.com"),
        ("request_declined", "ada@other.example"),
    ]
    assert [kind for kind, _ in await request_events(shop)][1:] == ["refund_request.declined"]
    assert await shop.count("refund") == 0


async def test_only_the_address_of_the_order_gets_the_link_to_its_page(shop: Shop) -> None:
    await with_candles(shop)
    first = await asked(shop, {0: 1}, email="ada@other.example")
    second = await asked(shop, {0: 1}, email="ADA@Example.com")
    await declined(shop, first)
    await approved(shop, second)
    await approved(shop, await asked(shop, {0: 1}, email="ada@other.example"))
    linked = await columns(shop, "mail", "recipient", "content->>'order_page' IS NOT NULL", "kind")
    told = [row for row in linked if row[2] in {"request_receipt", "request_declined", "order_refunded"}]
    assert len(told) == 10
    for recipient, has_link, kind in told:
        assert has_link == (recipient == "ada@example.com"), (recipient, kind)


async def test_an_answer_stays(shop: Shop) -> None:
    await with_candles(shop)
    first, second = await asked(shop, {0: 1}), await asked(shop, {0: 1})
    await declined(shop, first)
    await approved(shop, second)
    with pytest.raises(InvalidTransition):
        await approved(shop, first)
    with pytest.raises(InvalidTransition):
        await declined(shop, second)
    assert [state for state, *_ in await answers(shop)] == ["declined", "approved"]
    assert await shop.count("refund") == 1


# ---- approved by rule


async def test_an_unused_voucher_is_refunded_at_once(shop: Shop, sold: Experiences) -> None:
    await by_rule(shop)
    await bought(shop, for_two(sold))
    await asked(shop)
    for _ in range(2):
        assert await approve_by_rule(shop) == 1
    assert await answers(shop) == [("approved", True, "")]
    assert await columns(shop, "voucher", "state", "refunded_on IS NOT NULL") == [("error", True)]
    assert [kind for kind, _ in await mails_of(shop)] == ["request_receipt", "order_refunded", "new_request"]
    assert await shop.one("SELECT content->'is_approved' FROM mail WHERE kind = 'new_request'") is True
    await books_are_right(shop)


async def test_goods_that_are_not_sent_yet_are_refunded_at_once_and_stay_in_stock(shop: Shop) -> None:
    await by_rule(shop)
    await with_candles(shop, stock=5)
    await asked(shop, {0: 3})
    assert await approve_by_rule(shop) == 1
    assert await columns(shop, "shop_order", "fulfilment_state") == [("cancelled",)]
    assert await columns(shop, "product", "stock") == [(5,)]


@pytest.mark.parametrize("state", ["sent", "delivered"])
async def test_goods_that_have_to_come_back_wait_for_staff(shop: Shop, state: str) -> None:
    await by_rule(shop)
    await with_candles(shop)
    await shop.execute(f"UPDATE shop_order SET fulfilment_state = '{state}', fulfilment_sent_on = now()")  # noqa: S608
    await asked(shop)
    assert await approve_by_rule(shop) == 0
    assert [kind for kind, _ in await mails_of(shop)] == ["request_receipt", "new_request"]


@pytest.mark.parametrize("state", ["sent", "delivered"])
async def test_goods_that_leave_the_shop_meanwhile_wait_for_staff(shop: Shop, state: str) -> None:
    await by_rule(shop)
    await with_candles(shop, stock=5)
    await asked(shop, {0: 3})
    await shop.execute(f"UPDATE shop_order SET fulfilment_state = '{state}', fulfilment_sent_on = now()")  # noqa: S608
    for _ in range(2):
        assert await approve_by_rule(shop) == 1
    assert (await answers(shop), await shop.count("refund")) == ([("pending", False, "")], 0)
    assert await columns(shop, "product", "stock") == [(2,)]
    assert [kind for kind, _ in await mails_of(shop)] == ["request_receipt", "new_request"]
    assert await shop.one("SELECT content->'is_approved' FROM mail WHERE kind = 'new_request'") is False


async def test_staff_are_told_of_a_withdrawal_that_the_worker_gives_up(shop: Shop) -> None:
    await by_rule(shop)
    await with_candles(shop)
    id = await asked(shop)
    give_up = HANDLERS[JobKind.APPROVE_WITHDRAWAL].give_up
    assert give_up is not None
    for _ in range(2):
        await give_up(shop.services, {"id": id})
    assert [kind for kind, _ in await mails_of(shop)] == ["request_receipt", "new_request"]
    await declined(shop, id)
    await give_up(shop.services, {"id": id})
    assert [kind for kind, _ in await mails_of(shop)].count("new_request") == 1


async def test_a_refund_after_the_period_waits_for_staff(shop: Shop, sold: Experiences) -> None:
    await by_rule(shop)
    await shop.execute("UPDATE partner SET takes_refund_requests = true")
    await bought(shop, for_two(sold))
    clock.advance(dt.timedelta(days=20))
    await asked(shop, kind=REFUND)
    assert await approve_by_rule(shop) == 0
    assert await answers(shop) == [("pending", False, "")]


async def test_what_cannot_be_refunded_at_once_waits_for_staff(
    shop: Shop, sold: Experiences, monkeypatch: pytest.MonkeyPatch
) -> None:
    await by_rule(shop)
    await bought(shop, for_two(sold))
    await asked(shop)
    code = str((await columns(shop, "voucher", "code"))[0][0])
    await update_voucher(shop.manager, UpdateVoucher(code=code, state=VoucherState.USED))
    await approve_by_rule(shop)
    assert await answers(shop) == [("pending", False, "")]
    assert [kind for kind, _ in await mails_of(shop)] == ["request_receipt", "new_request"]
    assert await shop.one("SELECT content->'is_approved' FROM mail WHERE kind = 'new_request'") is False


# ---- over GraphQL, and who may


async def test_requests_are_listed_and_answered(shop: Shop) -> None:
    await with_candles(shop)
    first, second = await asked(shop, {0: 2}, reason="Too large"), await asked(shop, {0: 1})
    refused = (await answer(shop, DECLINE, input={"id": first, "message": " "}))["data"]["declineRefundRequest"]
    assert [(it["field"], it["code"]) for it in refused["userErrors"]] == [(["message"], "REQUIRED")]
    done = (await answer(shop, APPROVE, input={"id": first, "message": "Yes"}))["data"]["approveRefundRequest"]
    assert done["userErrors"] == []
    assert done["refundRequest"]["refund"] == {"amount": {"amount": "40.00"}, "lines": [{"quantity": 2}]}
    (waiting,) = (await answer(shop, LIST, state="PENDING"))["data"]["refundRequests"]["nodes"]
    assert waiting["lines"] == [{"quantity": 1, "line": {"name": {"en": "Candle"}}}]
    assert (waiting["kind"], waiting["customerName"], waiting["order"]["number"]) == ("WITHDRAWAL", "Ada Martin", 1)
    gone = (await answer(shop, DECLINE, input={"id": second, "message": "No"}))["data"]["declineRefundRequest"]
    assert gone["refundRequest"] == {"state": "DECLINED", "answer": "No", "refund": None}
    order = await shop.one("SELECT id FROM shop_order")
    found = (await answer(shop, ORDER, id=order))["data"]["order"]["refundRequests"]
    assert [it["state"] for it in found] == ["APPROVED", "DECLINED"]


async def test_a_partner_says_what_its_buyers_may_ask_for(shop: Shop) -> None:
    policy = {"withdrawalDays": 30, "approvesWithdrawals": True}
    wish = {"uuid": str(shop.partner.uuid), "refundPolicy": policy}
    told = (await answer(shop, POLICY, input=wish))["data"]["updatePartner"]
    assert told["partner"]["refundPolicy"] == {**policy, "takesRefundRequests": False}
    for days in (-1, 366):
        wrong = {**wish, "refundPolicy": {"withdrawalDays": days}}
        told = (await answer(shop, POLICY, input=wrong))["data"]["updatePartner"]
        assert told["userErrors"], days


async def test_only_who_may_refund_answers(shop: Shop) -> None:
    await with_candles(shop)
    id = await asked(shop)
    caller = Caller(
        Role.PARTNER,
        GRANTABLE_PERMISSIONS - {Permission.REFUND_PAYMENT, Permission.MANAGE_MASTERADMIN},
        partner_id=shop.partner.id,
        marketplace_id=shop.partner.marketplace_id,
    )
    other = Caller(Role.PARTNER, GRANTABLE_PERMISSIONS - {Permission.MANAGE_MASTERADMIN}, partner_id=990)
    for who, error in ((caller, Forbidden), (other, NotFound)):
        context = Context(shop.services, who)
        found = await refund_requests(context, PageArguments())
        assert [row.id for row in await found.rows.objects()] == ([id] if who is caller else [])
        with pytest.raises(error):
            await approve_refund_request(context, ApproveRefundRequest(id=id))
        with pytest.raises(error):
            await decline_refund_request(context, DeclineRefundRequest(id=id, message="No"))
    assert await answers(shop) == [("pending", False, "")]


async def test_what_the_network_has_sold_its_marketplace_answers(shop: Shop) -> None:
    await with_candles(shop)
    id = await asked(shop)
    await shop.execute("UPDATE payment SET is_for_marketplace = true")
    with pytest.raises(MarketplaceOnly):
        await approved(shop, id)
    with pytest.raises(MarketplaceOnly):
        await declined(shop, id)
    assert await answers(shop) == [("pending", False, "")]

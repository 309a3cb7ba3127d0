"""The page of an order over GraphQL: the token is the authority, for whoever has it, with or without a token of the API."""

import asyncio
import datetime as dt
import uuid
from collections.abc import Mapping
from typing import Any

import pytest
from strawberry.utils.str_converters import to_camel_case

from resolvers.core.caller import Transport
from resolvers.core.context import Context
from resolvers.core.operation import Operation
from resolvers.order import by_token
from schema.coupon.coupon import ReceptionMode
from schema.root import schema
from store.core.clock import clock
from tests.fixtures.basket import GIFTEE, bought, card_of, columns
from tests.fixtures.network_sale import network_goods
from tests.fixtures.shop import Shop
from tests.resolvers.order.test_gift_day import NEW, days_ahead, moment, ordered

READ = """query ($token: String!) { orderByToken(token: $token) {
  number status kind createdOn timeZone language firstName email message pageUrl
  lines { position name { en } details { en } quantity unitPrice { amount currency } total { amount } pictureUrl
    refundedQuantity requestableQuantity obstacle issuedItem { state code value { amount currency } remaining { amount }
    usagesLeft startsOn expiresOn usedOn documentUrl calendarUrl appleWalletUrl googleWalletUrl giftee recipientEmail
    sendOn isSendable isWaiting } }
  delivery { kind name { en } description { en } address country }
  fulfilment { state reachedOn carrier trackingNumber trackingUrl }
  totals { products { amount } discount { amount } delivery { amount } total { amount } giftCards { amount }
    byCard { amount } vat { rate net { amount } vat { amount } gross { amount } } }
  codes { code kind amount { amount } } refunds { createdOn amount { amount } state }
  requests { id kind state requestedOn answeredOn email reason answer lines { name { en } quantity } }
  requestOffer { kind endsOn } receiptUrls legalDocuments { kind url { en } } } }"""
ITEM = "lines { issuedItem { isWaiting isSendable sendOn recipientEmail } }"
REQUESTS = "requests { id kind state email lines { quantity } } requestOffer { kind }"


def nobody(shop: Shop) -> Context:
    """Somebody without a token of the API."""
    return Context(shop.services, None, address="203.0.113.7", transport=Transport.GRAPHQL)


async def answer(context: Context, document: str, **variables: Any) -> Mapping[str, Any]:
    found = await schema.execute(document, variables, context_value=context)
    assert not found.errors, found.errors
    assert found.data is not None
    return found.data


async def change(context: Context, mutation: str, input: Mapping[str, Any], shown: str = ITEM) -> Any:
    """The order after a change, or the fields and codes of what is wrong."""
    kind = f"{mutation[0].upper()}{mutation[1:]}Input"
    shape = f"{{ customerOrder {{ {shown} }} userErrors {{ field code }} }}"
    document = f"mutation ($input: {kind}!) {{ {mutation}(input: $input) {shape} }}"
    payload = (await answer(context, document, input=input))[mutation]
    wrong = [(".".join(error["field"]), error["code"]) for error in payload["userErrors"]]
    assert (payload["customerOrder"] is None) is bool(wrong)
    return wrong or payload["customerOrder"]


async def waits(shop: Shop) -> str:
    return await ordered(shop, card_of("50.00", giftee=GIFTEE, send_on=days_ahead(30)))


# ---- reading


async def test_it_shows_what_the_page_shows(shop: Shop) -> None:
    token = await waits(shop)
    order = (await answer(nobody(shop), READ, token=token))["orderByToken"]
    root = shop.services.public_url
    assert (order["number"], order["status"], order["kind"], order["email"]) == (
        1,
        "PAID",
        "GIFT_CARDS",
        "ada@example.com",
    )
    assert order["pageUrl"] == f"{root}/orders/{token}/"
    assert order["totals"]["total"] == order["totals"]["byCard"] == {"amount": "50.00"}
    (line,) = order["lines"]
    assert (line["position"], line["requestableQuantity"], line["obstacle"]) == (0, 1, None)
    item = line["issuedItem"]
    assert item["code"] == await shop.one("SELECT code FROM gift_card")
    assert (item["state"], item["value"]) == ("USABLE", {"amount": "50.00", "currency": "EUR"})
    assert (item["isWaiting"], item["isSendable"], item["recipientEmail"]) == (True, False, GIFTEE.email)
    assert item["documentUrl"].startswith(f"{root}/documents/")
    assert item["calendarUrl"] == f"{root}/orders/{token}/0.ics"
    assert order["requestOffer"]["kind"] == "WITHDRAWAL"
    assert [url.startswith(f"{root}/documents/") for url in order["receiptUrls"]] == [True]
    assert (order["requests"], order["refunds"], order["fulfilment"]) == ([], [], None)


async def test_what_was_withdrawn_shows_no_code(shop: Shop) -> None:
    token = await waits(shop)
    await shop.execute("UPDATE gift_card SET status = 'cncld'")
    (line,) = (await answer(nobody(shop), READ, token=token))["orderByToken"]["lines"]
    assert (line["issuedItem"]["state"], line["issuedItem"]["code"]) == ("WITHDRAWN", None)
    assert (line["issuedItem"]["documentUrl"], line["obstacle"]) == (None, "REFUNDED")


async def test_goods_of_the_network(shop: Shop) -> None:
    goods = await network_goods(shop)
    token = await ordered(shop, goods.cards("50.00", giftee=GIFTEE), goods.boxes(giftee=GIFTEE))
    card, voucher = (await answer(nobody(shop), READ, token=token))["orderByToken"]["lines"]
    assert (card["issuedItem"]["remaining"], card["issuedItem"]["usagesLeft"]) == ({"amount": "50.00"}, None)
    assert voucher["issuedItem"]["remaining"] is None
    assert voucher["issuedItem"]["usagesLeft"] > 0


async def test_callers_with_a_token_of_the_api_are_the_buyer_too(shop: Shop) -> None:
    token = await waits(shop)
    order = (await answer(shop.manager, READ, token=token))["orderByToken"]
    assert order["number"] == 1
    changed = await change(shop.manager, "sendGiftNowByToken", {"token": token, "position": 0, "email": NEW})
    assert changed["lines"][0]["issuedItem"]["recipientEmail"] == NEW


# ---- tokens that are none


MUTATIONS: list[tuple[Operation[Any, Any], Mapping[str, Any]]] = [
    (by_token.resend_gift_by_token, {"position": 0, "email": NEW}),
    (by_token.send_gift_now_by_token, {"position": 0, "email": NEW}),
    (by_token.reschedule_gift_by_token, {"position": 0, "email": NEW, "sendOn": "2030-01-01"}),
    (by_token.cancel_refund_request_by_token, {"id": 1}),
    (
        by_token.request_refund_by_token,
        {"key": str(uuid.uuid4()), "kind": "WITHDRAWAL", "lines": [], "name": "Ada", "email": "ada@example.com"},
    ),
]


@pytest.mark.parametrize(("mutation", "input"), MUTATIONS)
async def test_a_forged_token_changes_nothing(
    shop: Shop, mutation: Operation[Any, Any], input: Mapping[str, Any]
) -> None:
    token = await waits(shop)
    before = await columns(shop, "mail", "id", "due_on")
    for forged in (f"{token}x", token[:-1], "", "\N{PILE OF POO}", str(await shop.one("SELECT uuid FROM shop_order"))):
        assert await change(nobody(shop), to_camel_case(mutation.name), {**input, "token": forged}) == [
            ("token", "NOT_FOUND")
        ]
        assert await answer(nobody(shop), READ, token=forged) == {"orderByToken": None}
    assert await columns(shop, "mail", "id", "due_on") == before


async def test_unknown_tokens_are_not_counted(shop: Shop) -> None:
    """Nobody guesses a signature, and a front end asks for all its customers."""
    token = await waits(shop)
    for number in range(25):
        assert await answer(nobody(shop), READ, token=f"{token}{number}") == {"orderByToken": None}
    assert (await answer(nobody(shop), READ, token=token))["orderByToken"]["number"] == 1


async def test_the_audit_log_has_the_change_without_the_token(shop: Shop) -> None:
    token = await waits(shop)
    await change(nobody(shop), "sendGiftNowByToken", {"token": token, "position": 0, "email": NEW})
    await shop.services.audit_buffer.flush()
    told = await columns(shop, "audit_entry", "operation", "partner_id", "input::text", "subject_type")
    (entry,) = [row for row in told if row[0] == "send_gift_now_by_token"]
    assert (entry[1], entry[3]) == (shop.partner.id, "Order")
    assert token not in entry[2]


# ---- presents


async def test_it_is_rescheduled_then_sent_then_sent_again(shop: Shop) -> None:
    token, day = await waits(shop), days_ahead(60)
    gift = {"token": token, "position": 0, "email": NEW}
    changed = await change(
        nobody(shop), "rescheduleGiftByToken", {**gift, "sendOn": day.isoformat(), "sendAt": "18:30"}
    )
    at = moment(day, dt.time(18, 30))
    item = changed["lines"][0]["issuedItem"]
    assert (item["isWaiting"], dt.datetime.fromisoformat(item["sendOn"]), item["recipientEmail"]) == (True, at, NEW)
    assert await change(nobody(shop), "resendGiftByToken", gift) == [("position", "NOT_FOUND")]
    sent = await change(nobody(shop), "sendGiftNowByToken", gift)
    assert sent["lines"][0]["issuedItem"] == {
        "isWaiting": False,
        "isSendable": True,
        "sendOn": None,
        "recipientEmail": NEW,
    }
    assert await change(nobody(shop), "sendGiftNowByToken", gift) == [("", "GIFT_NOT_WAITING")]
    moved = {**gift, "sendOn": day.isoformat()}
    assert await change(nobody(shop), "rescheduleGiftByToken", moved) == [("", "GIFT_NOT_WAITING")]
    again = await change(nobody(shop), "resendGiftByToken", {**gift, "email": "third@example.com"})
    assert again["lines"][0]["issuedItem"]["recipientEmail"] == "third@example.com"


async def test_ten_at_once_send_one(shop: Shop) -> None:
    token = await waits(shop)
    gift = {"token": token, "position": 0, "email": NEW}
    results = await asyncio.gather(*(change(nobody(shop), "sendGiftNowByToken", gift) for _ in range(10)))
    assert results.count([("", "GIFT_NOT_WAITING")]) == 9
    assert await shop.one("SELECT count(*) FROM mail WHERE kind = 'gift_card' AND recipient = :to", to=NEW) == 1


@pytest.mark.parametrize(
    ("wrong", "problems"),
    [
        ({"email": "x"}, [("email", "INVALID")]),
        ({"email": "x", "sendOn": "2020-01-01"}, [("email", "INVALID"), ("sendOn", "OUT_OF_RANGE")]),
        ({"sendOn": "9999-12-31"}, [("sendOn", "OUT_OF_RANGE")]),
        ({"position": 1}, [("position", "NOT_FOUND")]),
        ({"position": -1}, [("position", "NOT_FOUND")]),
    ],
)
async def test_what_is_wrong_is_told_at_its_field(
    shop: Shop, wrong: Mapping[str, Any], problems: list[tuple[str, str]]
) -> None:
    token = await waits(shop)
    before = await columns(shop, "mail", "id", "due_on")
    input = {"token": token, "position": 0, "email": NEW, "sendOn": days_ahead(60).isoformat(), **wrong}
    assert await change(nobody(shop), "rescheduleGiftByToken", input) == problems
    assert await columns(shop, "mail", "id", "due_on") == before


@pytest.mark.parametrize("time", ["10:00+02:00", "10", "25:00", "noon", 10])
async def test_a_time_is_one_of_the_day(shop: Shop, time: object) -> None:
    input = {"token": await waits(shop), "position": 0, "email": NEW, "sendOn": "2030-01-01", "sendAt": time}
    document = """mutation ($input: RescheduleGiftByTokenInput!) {
      rescheduleGiftByToken(input: $input) { userErrors { code } } }"""
    found = await schema.execute(document, {"input": input}, context_value=nobody(shop))
    assert found.errors is not None
    assert "LocalTime cannot be read" in found.errors[0].message


# ---- withdrawals and refunds


def asking(token: str, **more: Any) -> dict[str, Any]:
    lines = [{"position": 0, "quantity": 1}]
    whole = {"key": str(uuid.uuid4()), "kind": "WITHDRAWAL", "lines": lines, "name": "Ada", "email": "ada@example.com"}
    return {"token": token, **whole, **more}


async def printed(shop: Shop) -> str:
    outcome = await bought(shop, card_of("50.00"), reception=ReceptionMode.PRINT_AT_HOME)
    assert outcome.order_path is not None
    return outcome.order_path.split("/")[2]


async def test_a_withdrawal_is_sent_once_and_taken_back(shop: Shop) -> None:
    token = await printed(shop)
    await shop.execute("UPDATE partner SET approves_withdrawals = false")
    wish = asking(token)
    for _ in range(2):
        order = await change(nobody(shop), "requestRefundByToken", wish, REQUESTS)
        (request,) = order["requests"]
        assert (request["kind"], request["state"], request["lines"]) == ("WITHDRAWAL", "PENDING", [{"quantity": 1}])
        assert order["requestOffer"] is None
    assert await change(nobody(shop), "requestRefundByToken", asking(token), REQUESTS) == [("", "REFUND_REQUESTED")]
    cancel = {"token": token, "id": request["id"]}
    for _ in range(2):
        order = await change(nobody(shop), "cancelRefundRequestByToken", cancel, REQUESTS)
        assert [each["state"] for each in order["requests"]] == ["CANCELLED"]
    assert order["requestOffer"] == {"kind": "WITHDRAWAL"}
    unknown = {"token": token, "id": request["id"] + 1}
    assert await change(nobody(shop), "cancelRefundRequestByToken", unknown, REQUESTS) == [("id", "NOT_FOUND")]


async def test_nobody_takes_back_a_request_about_another_order(shop: Shop) -> None:
    await shop.execute("UPDATE partner SET approves_withdrawals = false")
    token, other = await printed(shop), await printed(shop)
    order = await change(nobody(shop), "requestRefundByToken", asking(token), REQUESTS)
    cancel = {"token": other, "id": order["requests"][0]["id"]}
    assert await change(nobody(shop), "cancelRefundRequestByToken", cancel, REQUESTS) == [("id", "NOT_FOUND")]
    assert await columns(shop, "refund_request", "state") == [("pending",)]


@pytest.mark.parametrize(
    ("wrong", "problems"),
    [
        ({"name": " ", "email": "x"}, [("name", "REQUIRED"), ("email", "INVALID")]),
        ({"lines": []}, [("lines", "REQUIRED")]),
        ({"lines": [{"position": 0, "quantity": 2}]}, [("lines", "OUT_OF_RANGE")]),
        ({"lines": [{"position": 0, "quantity": 1}] * 2}, [("lines", "OUT_OF_RANGE")]),
        ({"lines": [{"position": -1, "quantity": 1}]}, [("lines", "OUT_OF_RANGE")]),
        ({"lines": [{"position": 0, "quantity": 0}]}, [("lines.0.quantity", "OUT_OF_RANGE")]),
        ({"kind": "REFUND"}, [("", "WITHDRAWAL_CLOSED")]),
    ],
)
async def test_what_cannot_be_asked_for_is_told(
    shop: Shop, wrong: Mapping[str, Any], problems: list[tuple[str, str]]
) -> None:
    token = await printed(shop)
    assert await change(nobody(shop), "requestRefundByToken", asking(token, **wrong), REQUESTS) == problems
    assert await shop.count("refund_request") == 0


async def test_after_the_period_a_withdrawal_is_closed(shop: Shop) -> None:
    token = await printed(shop)
    clock.advance(dt.timedelta(days=400))
    found = await change(nobody(shop), "requestRefundByToken", asking(token), REQUESTS)
    assert found == [("", "WITHDRAWAL_CLOSED")]

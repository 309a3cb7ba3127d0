"""Apple Pay and Google Pay in the checkout: what the page asks the browser for, and what becomes of the token it sends."""

import asyncio
import datetime as dt
import html
import json
import uuid
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from resolvers.job.provider_notifications import dispatch_notification
from store.core.clock import clock
from store.core.settings import Settings
from store.providers.base import Subject
from tests.fixtures.shop import CHALLENGE_CARD, DECLINED_CARD, GOOD_CARD, Shop
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import fields_of
from tests.funnel.checkout.test_payment import PAYMENT, at_payment, attempt_of, refusal_title, return_url
from tests.funnel.wallets import (
    BROWSER,
    GATEWAY,
    SECRET,
    Apple,
    AppleFiles,
    forget_answer,
    lose_answers,
    send_as_script,
    token_fields,
    wallet_settings,
)
from tests.servers.production import SHOP_HOST

LATE_CARD = "4970109000001104"
DOMAIN_PATH = "/.well-known/apple-developer-merchantid-domain-association"
SLOW = "The payment service is slow to respond"
NETWORKS = ["MASTERCARD", "VISA"]


@pytest.fixture
def installation(apple_files: AppleFiles) -> Settings:
    return wallet_settings(apple_files)


@pytest.fixture(autouse=True)
async def accepting(shop: Shop) -> None:
    """A shop that takes both."""
    methods = ["card", "apple_pay", "google_pay"]
    await shop.execute("UPDATE partner SET payment_methods = :all, hq_country_code = 'FR'", all=methods)


def buttons(customer: Customer) -> dict[str, dict[str, Any]]:
    """What the script is told about each button, all of which are hidden until it knows that the browser can pay."""
    found = customer.page.all("button", type="button", class_="wallet")
    assert all("hidden" in each.attributes for each in found)
    return {each.attributes["data-wallet"]: json.loads(html.unescape(each.attributes["data-asked"])) for each in found}


async def send(customer: Customer, method: str = "apple_pay", card: str = GOOD_CARD, **changes: str) -> httpx.Response:
    """What the script sends, and its answer."""
    root = customer.page.one(class_="wallets").attributes
    fields = fields_of(customer.form(f"{PAYMENT}?"), customer.page) | token_fields(method, card) | changes
    return await send_as_script(customer, root["data-token-url"], fields)


async def test_the_page_says_what_to_ask_the_browser_for(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    asked = buttons(customer)
    name = shop.partner.commercial_name
    assert asked["apple_pay"] == {
        "countryCode": "FR",
        "currencyCode": "EUR",
        "supportedNetworks": ["visa", "masterCard"],
        "merchantCapabilities": ["supports3DS"],
        "total": {"label": name, "type": "final", "amount": "40.00"},
    }
    [method] = asked["google_pay"]["methods"]
    assert method["supportedMethods"] == "https://google.com/pay"
    assert (method["data"]["environment"], method["data"]["merchantInfo"]["merchantId"]) == ("PRODUCTION", "BCR2DN4T")
    [card] = method["data"]["allowedPaymentMethods"]
    assert card["parameters"]["allowedCardNetworks"] == NETWORKS
    assert card["tokenizationSpecification"]["parameters"] == {"gateway": "whenthen", "gatewayMerchantId": "shop"}
    assert asked["google_pay"]["details"]["total"]["amount"] == {"currency": "EUR", "value": "40.00"}
    names = [each.attributes["aria-label"] for each in customer.page.all("button", class_="wallet")]
    assert names == ["Pay with Apple Pay", "Pay with Google Pay"]
    assert "sandbox" not in customer.response.text


async def test_only_such_a_page_may_ask_for_a_payment(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    headers = customer.response.headers
    assert "payment=(self)" in headers["permissions-policy"]
    assert "connect-src 'self' https://google.com/pay https://www.google.com/pay " in headers["content-security-policy"]
    assert "script-src 'self';" in headers["content-security-policy"]
    address = customer.path
    await shop.execute("UPDATE partner SET payment_methods = '{card,apple_pay}'")
    await customer.open(address)
    assert [*buttons(customer)] == ["apple_pay"]
    assert "connect-src 'self';" in customer.response.headers["content-security-policy"]
    await shop.execute("UPDATE partner SET payment_methods = '{card}'")
    await customer.open(address)
    assert buttons(customer) == {}
    assert "payment=()" in customer.response.headers["permissions-policy"]


async def test_a_covered_order_and_a_shop_without_a_country(shop: Shop, customer: Customer) -> None:
    await shop.execute("UPDATE partner SET hq_country_code = ''")
    await at_payment(shop, customer)
    assert [*buttons(customer)] == ["google_pay"], "Apple asks for a country"
    card = await shop.gift_card("50.00")
    await customer.use_code(card.code)
    assert buttons(customer) == {}


@pytest.mark.parametrize("method", ["apple_pay", "google_pay"])
async def test_a_token_makes_an_order_at_once(
    shop: Shop, customer: Customer, method: str, caplog: pytest.LogCaptureFixture, capsys: pytest.CaptureFixture[str]
) -> None:
    await at_payment(shop, customer)
    answer = await send(customer, method)
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    told = answer.json()
    assert told["result"] == "success"
    await customer.open(told["url"])
    assert customer.h1 == "Thank you for your order"
    paid = "SELECT method, transaction_amount::text, status FROM payment_transaction WHERE type = 'payin'"
    assert [tuple(row) for row in await shop.services.db.rows(text(paid), {})] == [(method, "40.00", "ok")]
    assert await shop.count("shop_order") == 1
    assert (await shop.control("GET", "/stats")).json()["charged"] == 1
    shown = caplog.text + "".join(capsys.readouterr())
    for table in ("checkout_attempt", "payment_transaction", "payment", "shop_order", "audit_entry", "event"):
        rows = await shop.services.db.rows(text(f"SELECT t::text FROM {table} t"), {})  # noqa: S608 - names of this test
        shown += "".join(str(row[0]) for row in rows)
    assert SECRET not in shown


async def test_any_number_of_presses_charge_once(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    answers = await asyncio.gather(*(send(customer) for _ in range(3)))
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.json()["result"] for answer in answers} <= {"success", "unknown"}
    again = await send(customer)
    assert again.json()["result"] == "success"
    await customer.open(again.json()["url"])
    assert customer.step == "order"
    assert (await shop.control("GET", "/stats")).json()["charged"] == 1
    assert await shop.count("shop_order") == 1


@pytest.mark.parametrize(("method", "path"), [("apple_pay", "/payins/applepay/direct"), ("google_pay", "*googlepay")])
async def test_a_lost_answer_is_looked_up(shop: Shop, customer: Customer, method: str, path: str) -> None:
    await at_payment(shop, customer)
    fault = {"method": "POST", "path": path, "kind": "drop", "when": "after"}
    assert (await shop.control("POST", "/faults", fault)).status_code == 200
    assert (await send(customer, method)).json()["result"] == "success"
    assert (await shop.control("GET", "/stats")).json()["charged"] == 1


async def test_an_unknown_outcome_is_told_and_never_charged_twice(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    await lose_answers(shop, charged=True)
    told = (await send(customer)).json()
    assert told["result"] == "fail"
    page = customer.response.url
    await customer.open(told["url"])
    assert await refusal_title(customer) == SLOW
    await shop.control("DELETE", "/faults")
    await customer.open(str(page))
    assert (await send(customer)).json()["result"] == "success"
    assert (await shop.control("GET", "/stats")).json()["charged"] == 1
    assert await shop.count("checkout_attempt") == 1


@pytest.mark.parametrize("with_code", [False, True])
async def test_a_charge_whose_answer_is_lost_makes_the_order_whatever_is_chosen_next(
    shop: Shop, customer: Customer, *, with_code: bool
) -> None:
    await at_payment(shop, customer)
    await lose_answers(shop, charged=True)
    assert (await send(customer)).json()["result"] == "fail"
    if with_code:
        await customer.use_code((await shop.gift_card("5.00")).code)
    await customer.send(f"{PAYMENT}?", method="card")
    assert await refusal_title(customer) == SLOW, "nothing is begun while it is unknown"
    assert await shop.one("SELECT string_agg(state, ',') FROM checkout_attempt") == "starting"
    await shop.control("DELETE", "/faults")
    await customer.send(f"{PAYMENT}?", method="card")
    assert customer.h1 == "Thank you for your order"
    assert (await shop.control("GET", "/stats")).json()["charged"] == 1
    assert [await shop.count(table) for table in ("shop_order", "refund", "checkout_attempt")] == [1, 0, 1]


async def test_a_charge_that_nobody_can_look_up_keeps_other_methods_waiting(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    await lose_answers(shop, charged=True)
    await send(customer)
    await shop.control("DELETE", "/faults")
    payin = await forget_answer(shop)
    clock.advance(dt.timedelta(minutes=2))
    await customer.send(f"{PAYMENT}?", method="card")
    assert await refusal_title(customer) == SLOW
    await dispatch_notification(shop.services, Subject.PAYIN, payin)
    assert [await shop.count(table) for table in ("shop_order", "refund", "checkout_attempt")] == [1, 0, 1]


async def test_a_token_that_never_arrived_makes_way(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    await lose_answers(shop, charged=False)
    assert (await send(customer)).json()["result"] == "fail"
    await shop.control("DELETE", "/faults")
    await customer.send(f"{PAYMENT}?", method="card")
    assert await refusal_title(customer) == SLOW, "it may still be on its way"
    clock.advance(dt.timedelta(minutes=1))
    await customer.send(f"{PAYMENT}?", method="card")
    assert customer.step == "leaving"
    states = "SELECT string_agg(state, ',' ORDER BY created_on) FROM checkout_attempt"
    assert await shop.one(states) == "abandoned,open"


@pytest.mark.parametrize("choice", ["confirm", "refuse"])
async def test_the_bank_asks_on_its_page(shop: Shop, customer: Customer, choice: str) -> None:
    await at_payment(shop, customer)
    told = (await send(customer, "google_pay", CHALLENGE_CARD)).json()
    assert told["result"] == "unknown"
    await customer.open(told["url"])
    assert customer.step == "leaving"
    payin = await shop.payin_of(await attempt_of(shop))
    assert (await shop.control("POST", f"/payins/{payin}/pay", {"challenge": choice})).status_code == 200
    await customer.open(await return_url(shop, customer))
    refused = "Your bank could not be sure that it was you"
    assert customer.h1 == ("Thank you for your order" if choice == "confirm" else refused)
    assert await shop.count("shop_order") == (choice == "confirm")


@pytest.mark.parametrize("method", ["apple_pay", "google_pay"])
async def test_a_declined_card_says_why_and_another_one_pays(shop: Shop, customer: Customer, method: str) -> None:
    await at_payment(shop, customer)
    page = str(customer.response.url)
    told = (await send(customer, method, DECLINED_CARD)).json()
    assert told["result"] == "fail"
    await customer.open(told["url"])
    assert customer.h1 == "Your payment was declined"
    assert await shop.count("shop_order") == 0
    await customer.open(page)
    assert (await send(customer, method)).json()["result"] == "success"
    assert await shop.count("shop_order") == 1


async def test_a_result_that_comes_later(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    told = (await send(customer, card=LATE_CARD)).json()
    assert told["result"] == "unknown"
    await customer.open(told["url"])
    assert customer.step != "order"
    assert await shop.one("SELECT state FROM checkout_attempt") == "open"
    assert (await send_again(customer, shop)).json()["url"] == told["url"], "pressed again meanwhile"
    assert await shop.count("checkout_attempt") == 1
    await shop.control("POST", "/clock", {"advance": 31})
    await customer.open(told["url"])
    assert customer.h1 == "Thank you for your order"
    assert await shop.count("shop_order") == 1


async def send_again(customer: Customer, shop: Shop) -> httpx.Response:
    cart = await shop.one("SELECT cart_id FROM checkout_attempt")
    await customer.open(f"{PAYMENT}?cart={cart}")
    return await send(customer, card=LATE_CARD)


async def test_what_the_customer_has_not_seen_is_not_charged(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    for changes in ({"by_card": "1.00"}, {"total": "1.00"}):
        told = (await send(customer, **changes)).json()
        assert told["result"] == "fail"
    await customer.open(told["url"])
    assert await refusal_title(customer) == "Your order has changed since you saw it"
    assert await shop.count("checkout_attempt") == 0


async def test_a_method_that_the_shop_does_not_take(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    await shop.execute("UPDATE partner SET payment_methods = '{card}'")
    assert (await send(customer)).json()["result"] == "fail"
    assert await shop.count("checkout_attempt") == 0


async def test_a_token_belongs_to_its_methods_alone(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    for method in ("card", "invented", ""):
        assert (await send(customer, method)).json()["result"] == "fail"
    await customer.send(f"{PAYMENT}?", method="apple_pay")
    assert await refusal_title(customer) == "Your order has changed since you saw it"
    assert await shop.count("checkout_attempt") == 0


@pytest.mark.parametrize(
    "changes",
    [
        {"token": ""},
        {"token": "no JSON"},
        {"token": "[]"},
        {"token": "{}"},
        {"token": '{"data": 7}'},
        {"token": json.dumps({"data": "x" * 16_385})},
        {"browser": "{}"},
        {"browser": json.dumps(BROWSER | {"screenWidth": "wide"})},
        {"browser": json.dumps(BROWSER | {"timeZoneOffset": 10**9})},
    ],
)
async def test_what_is_no_token(shop: Shop, customer: Customer, changes: dict[str, str]) -> None:
    await at_payment(shop, customer)
    assert (await send(customer, **changes)).status_code == 400
    assert await shop.count("checkout_attempt") == 0


async def test_a_form_of_another_page(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    assert (await send(customer, csrf="forged")).status_code == 403
    assert await shop.count("checkout_attempt") == 0


# ---- Apple's validation of the shop ------------------------------------------------------------------------------------


async def validate(customer: Customer, url: str = GATEWAY, **changes: str) -> httpx.Response:
    """What the script asks for before the sheet opens."""
    root = customer.page.one(class_="wallets").attributes
    fields = fields_of(customer.form(f"{PAYMENT}?"), customer.page) | {"url": url} | changes
    return await send_as_script(customer, root["data-apple-url"], fields)


async def test_apple_validates_the_host_of_the_shop(shop: Shop, customer: Customer) -> None:
    apple = Apple(shop, httpx.Response(200, json={"merchantSessionIdentifier": "opaque"}))
    await at_payment(shop, customer)
    answer = await validate(customer)
    assert (answer.status_code, answer.json()) == (200, {"merchantSessionIdentifier": "opaque"})
    [request] = apple.requests
    assert str(request.url) == GATEWAY
    assert json.loads(request.content) == {
        "merchantIdentifier": "merchant.example",
        "displayName": shop.partner.commercial_name,
        "initiative": "web",
        "initiativeContext": SHOP_HOST,
    }


@pytest.mark.parametrize(
    "url",
    ["", "https://www.apple.com/", "https://[::1", "https://apple-pay-gateway.apple.com/paymentservices/\x00"],
)
async def test_nobody_but_apple_is_asked(shop: Shop, customer: Customer, url: str) -> None:
    apple = Apple(shop, httpx.Response(200, json={}))
    await at_payment(shop, customer)
    assert (await validate(customer, url)).status_code == 400
    assert apple.requests == []


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(417, json={"statusMessage": "Payment Services Exception"}),
        httpx.Response(302, headers={"location": "https://example.net/"}),
        httpx.Response(200, content=b"no JSON"),
        httpx.Response(200, json=["no object"]),
    ],
)
async def test_apple_refuses(shop: Shop, customer: Customer, answer: httpx.Response) -> None:
    apple = Apple(shop, answer)
    await at_payment(shop, customer)
    assert (await validate(customer)).status_code == 502
    assert len(apple.requests) == 1


async def test_apple_is_asked_for_shops_that_take_it_and_by_their_pages(shop: Shop, customer: Customer) -> None:
    apple = Apple(shop, httpx.Response(200, json={}))
    await at_payment(shop, customer)
    assert (await validate(customer, csrf="forged")).status_code == 403
    await shop.execute("UPDATE partner SET payment_methods = '{card,google_pay}'")
    assert (await validate(customer)).status_code == 404
    assert apple.requests == []


async def test_apple_reads_whose_the_host_is(shop: Shop, customer: Customer) -> None:
    answer = await customer.http.get(DOMAIN_PATH)
    assert (answer.status_code, answer.text) == (200, "7B227073704964223A22")
    assert answer.headers["content-type"].startswith("text/plain")


async def test_a_cart_that_nobody_knows(shop: Shop, customer: Customer) -> None:
    await at_payment(shop, customer)
    root = customer.page.one(class_="wallets").attributes
    root["data-token-url"] = f"{PAYMENT}token/?cart={uuid.uuid4()}"
    assert (await send(customer)).status_code == 404

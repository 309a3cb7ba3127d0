"""Apple Pay and Google Pay on the page of a payment link."""

import asyncio
import datetime as dt
import json
from typing import Any

import httpx
import pytest
from sqlalchemy import text

from resolvers.job.provider_notifications import dispatch_notification
from resolvers.payment.page.process import CHECKS
from schema.payment.payment import PaymentStatus, PaymentTransactionStatus
from schema.payment_method import PaymentMethod
from store.core.clock import clock
from store.core.settings import Settings
from store.providers.base import Subject
from tests.fixtures.payment.payment_request import asked, last_try, pay_at_provider
from tests.fixtures.shop import CHALLENGE_CARD, DECLINED_CARD, GOOD_CARD, Shop
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import fields_of
from tests.funnel.paying.test_pages import charges, come_back, notes, path
from tests.funnel.wallets import (
    BROWSER,
    GATEWAY,
    Apple,
    AppleFiles,
    answer_of,
    forget_answer,
    lose_answers,
    send_as_script,
    token_fields,
    wallet_settings,
)

SLOW = "The payment service is slow to respond"


@pytest.fixture
def installation(apple_files: AppleFiles) -> Settings:
    return wallet_settings(apple_files)


@pytest.fixture
async def row(shop: Shop, customer: Customer) -> Any:
    """A payment request of a shop that takes both, on its page."""
    await shop.execute("UPDATE partner SET payment_methods = '{card,apple_pay,google_pay}', hq_country_code = 'FR'")
    request = await asked(shop)
    await customer.open(path(request))
    return request


async def send(customer: Customer, method: str = "apple_pay", card: str = GOOD_CARD, **changes: str) -> httpx.Response:
    root = customer.page.one(class_="wallets").attributes
    fields = fields_of(customer.form("/pay/"), customer.page) | token_fields(method, card) | changes
    return await send_as_script(customer, root["data-token-url"], fields)


@pytest.mark.parametrize("method", ["apple_pay", "google_pay"])
async def test_a_token_pays_at_once_however_often_it_is_sent(
    shop: Shop, customer: Customer, row: Any, method: str
) -> None:
    assert "payment=(self)" in customer.response.headers["permissions-policy"]
    assert [each.attributes["aria-label"] for each in customer.page.all("button", class_="wallet")] == [
        "Pay with Apple Pay",
        "Pay with Google Pay",
    ]
    answers = await asyncio.gather(*(send(customer, method) for _ in range(3)))
    assert {answer.status_code for answer in answers} == {200}
    assert "success" in {answer.json()["result"] for answer in answers}
    await customer.open(answers[0].json()["url"])
    assert (customer.h1, customer.path) == ("Thank you, it is paid", path(row))
    assert (await last_try(shop)).method is PaymentMethod(method)
    assert await charges(shop) == 1
    assert (await shop.control("GET", "/stats")).json()["charged"] == 1


async def test_a_declined_card_then_the_page_of_the_bank(shop: Shop, customer: Customer, row: Any) -> None:
    told = (await send(customer, "apple_pay", DECLINED_CARD)).json()
    assert told["result"] == "fail"
    await customer.open(told["url"])
    assert notes(customer) == ["Your payment was declined"]
    told = (await send(customer, "google_pay", CHALLENGE_CARD)).json()
    assert told["result"] == "unknown"
    await customer.open(told["url"])
    assert customer.step == "leaving"
    await customer.open(path(row))
    assert customer.page.all(class_="wallets") == [], "a try is open at the bank"
    paid = await shop.control("POST", f"/payins/{(await last_try(shop)).provider_id}/pay", {"challenge": "confirm"})
    assert paid.status_code == 200
    await come_back(customer, row)
    assert customer.h1 == "Thank you, it is paid"
    assert await charges(shop) == 1


async def test_an_unknown_outcome_is_looked_up_by_any_other_way_to_pay(
    shop: Shop, customer: Customer, row: Any
) -> None:
    await lose_answers(shop, charged=True)
    told = (await send(customer)).json()
    assert told["result"] == "fail"
    await customer.open(told["url"])
    assert notes(customer) == [SLOW]
    await shop.control("DELETE", "/faults")
    await customer.send("/pay/", method="card")
    assert customer.h1 == "Thank you, it is paid"
    assert (await shop.control("GET", "/stats")).json()["charged"] == 1


@pytest.mark.parametrize("other", ["card", "google_pay"])
async def test_a_charge_whose_answer_is_lost_is_never_taken_for_a_failure(
    shop: Shop, customer: Customer, row: Any, other: str
) -> None:
    await lose_answers(shop, charged=True)
    assert (await send(customer)).json()["result"] == "fail"
    await shop.control("DELETE", "/faults")
    payin = await forget_answer(shop)
    clock.advance(dt.timedelta(minutes=9))
    await CHECKS.poll(shop.services, (await last_try(shop)).id)
    assert await shop.one("SELECT status FROM payment_transaction") == PaymentTransactionStatus.IN_PROGRESS
    await press_by(customer, row, other)
    assert notes(customer) == [SLOW], "it may have been charged"
    assert await shop.count("payment_transaction") == 1
    for _ in range(2):
        await dispatch_notification(shop.services, Subject.PAYIN, payin)
    await customer.open(path(row))
    assert customer.h1 == "Thank you, it is paid"
    assert await shop.one("SELECT status FROM payment") == PaymentStatus.OK
    assert (await last_try(shop)).provider_id == payin
    assert (await shop.control("GET", "/stats")).json()["charged"] == 1


async def test_a_charge_that_was_taken_for_a_failure_completes_the_payment(
    shop: Shop, customer: Customer, row: Any
) -> None:
    await lose_answers(shop, charged=True)
    await send(customer)
    payin = await forget_answer(shop)
    await shop.execute("UPDATE payment_transaction SET status = 'err', check_on = NULL")
    await dispatch_notification(shop.services, Subject.PAYIN, payin)
    assert await shop.one("SELECT status FROM payment") == PaymentStatus.OK
    assert await shop.count("refund") == 0


async def test_a_notification_of_a_payment_that_has_not_succeeded_settles_no_other_try(
    shop: Shop, customer: Customer, row: Any
) -> None:
    await lose_answers(shop, charged=True)
    await send(customer, card=DECLINED_CARD)
    payin = await forget_answer(shop)
    await dispatch_notification(shop.services, Subject.PAYIN, payin)
    await dispatch_notification(shop.services, Subject.PAYIN, "payin_m_unknown")
    known = await last_try(shop)
    assert (known.status, known.provider_id) == (PaymentTransactionStatus.IN_PROGRESS, "")


@pytest.mark.parametrize("other", ["card", "google_pay", "apple_pay"])
async def test_a_token_that_never_arrived_makes_way(shop: Shop, customer: Customer, row: Any, other: str) -> None:
    await lose_answers(shop, charged=False)
    assert (await send(customer)).json()["result"] == "fail"
    if other != "apple_pay":
        await press_by(customer, row, other)
        assert notes(customer) == [SLOW], "whether it was received is unknown"
        await shop.control("DELETE", "/faults")
        await press_by(customer, row, other)
        assert notes(customer) == [SLOW], "it may still be on its way"
    await shop.control("DELETE", "/faults")
    clock.advance(dt.timedelta(minutes=1))
    await press_by(customer, row, other)
    assert await shop.count("payment_transaction") == 2
    assert (await last_try(shop)).method is PaymentMethod(other)
    first = await shop.one("SELECT status FROM payment_transaction ORDER BY id LIMIT 1")
    assert first == PaymentTransactionStatus.ERROR
    if other == "card":
        assert customer.step == "leaving"
        await pay_at_provider(shop)
        await come_back(customer, row)
    assert customer.h1 == "Thank you, it is paid"
    assert (await shop.control("GET", "/stats")).json()["charged"] == 1


async def test_a_token_goes_with_its_own_method_alone(shop: Shop, customer: Customer, row: Any) -> None:
    """A card's page that nobody has learned of makes way for a token; one wallet's token is not sent as the other's."""
    fault = {"method": "POST", "path": "/payins/card/web", "kind": "drop", "times": 50}
    await shop.control("POST", "/faults", fault)
    await press_by(customer, row, "card")
    assert notes(customer) == [SLOW]
    assert (await send(customer, "google_pay")).json()["result"] == "success"
    tries = [("card", "err"), ("google_pay", "ok")]
    rows = await shop.services.db.rows(text("SELECT method, status FROM payment_transaction ORDER BY id"), {})
    assert [tuple(each) for each in rows] == tries


async def press_by(customer: Customer, row: Any, method: str) -> None:
    """Pay with a method, from the page as it is now, and see what follows."""
    await customer.open(path(row))
    if method == "card":
        await customer.send("/pay/", method=method)
    else:
        await customer.open((await send(customer, method)).json()["url"])


async def test_what_is_refused_begins_nothing(shop: Shop, customer: Customer, row: Any) -> None:
    assert (await send(customer, csrf="forged")).status_code == 403
    assert (await send(customer, token="{}")).status_code == 400
    for method in ("card", "ideal", "invented"):
        assert (await send(customer, method)).status_code == 404
    await shop.execute("UPDATE partner SET payment_methods = '{card,google_pay}'")
    assert (await send(customer)).status_code == 404
    assert await shop.count("payment_transaction") == 0
    await customer.open(path(row))
    assert [each.attributes["data-wallet"] for each in customer.page.all("button", class_="wallet")] == ["google_pay"]


@pytest.mark.parametrize(("screen", "known"), [(30, 24), (24, 24), (64, 48), (0, 1)])
async def test_the_bank_is_told_a_depth_of_colours_that_it_knows(
    shop: Shop, customer: Customer, row: Any, screen: int, known: int
) -> None:
    browser = json.dumps(BROWSER | {"colorDepth": screen})
    assert (await send(customer, "google_pay", browser=browser)).json()["result"] == "success"
    payin = await answer_of(shop, "googlepay")
    assert payin["BrowserInfo"]["ColorDepth"] == known


async def test_a_link_that_is_paid_already(shop: Shop, customer: Customer, row: Any) -> None:
    assert (await send(customer)).json()["result"] == "success"
    told = (await send(customer)).json()
    assert told["result"] == "success"
    await customer.open(told["url"])
    assert customer.h1 == "Thank you, it is paid"
    assert (await shop.control("GET", "/stats")).json()["charged"] == 1


async def test_a_link_that_has_ended_is_not_paid(shop: Shop, customer: Customer, row: Any) -> None:
    await shop.execute("UPDATE payment_request SET status = 'cancelled'")
    told = (await send(customer)).json()
    assert (told["result"], told["url"]) == ("fail", path(row))
    assert await shop.count("payment_transaction") == 0


async def test_apple_validates_the_host_of_the_page(shop: Shop, customer: Customer, row: Any) -> None:
    apple = Apple(shop, httpx.Response(200, json={"nonce": "opaque"}))
    root = customer.page.one(class_="wallets").attributes
    fields = fields_of(customer.form("/pay/"), customer.page) | {"url": GATEWAY}
    answer = await send_as_script(customer, root["data-apple-url"], fields)
    assert (answer.status_code, answer.json()) == (200, {"nonce": "opaque"})
    assert f'"initiativeContext":"{customer.response.url.host}"' in apple.requests[0].content.decode()

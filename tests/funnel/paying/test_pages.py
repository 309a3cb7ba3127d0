"""The page of a payment link: what it shows in each state, that its button charges once, and that it leaks nothing."""

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import text

from resolvers.job.expiry import expire_payment_requests
from resolvers.payment.requests import payment_requests
from schema.core.errors import Unavailable
from schema.payment.payment import PaymentStatus
from schema.payment.request_input import CancelPaymentRequest
from schema.payment_method import PaymentMethod
from schema.validation.languages import LANGUAGES
from store.core.settings import Settings
from store.core.telemetry.logs import mask_secrets
from store.payment.payments import link_token
from tests.fixtures.payment import api_payment
from tests.fixtures.payment.hosted_payment import stored_payment
from tests.fixtures.payment.payment_request import asked, last_try, pay_at_provider
from tests.fixtures.shop import CHALLENGE_CARD, DECLINED_CARD, Shop
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_pages import check_controls, check_headings
from tests.servers.production import SERVICE_URL, SHOP_URL

DEAD = "This link does not work"


def path(row: Any) -> str:
    return f"/pay/{row.link_token}/"


def notes(customer: Customer) -> list[str]:
    """The titles of what the page says first."""
    return [note.one("h2").text for note in customer.page.all("div", class_="note")]


def buttons(customer: Customer) -> list[str]:
    """What can be pressed on the page itself."""
    main = customer.page.one("main")
    return [each.text for tag in ("button", "a") for each in main.all(tag, class_="button")]


async def press(customer: Customer) -> Customer:
    return await customer.send("/pay/")


async def come_back(customer: Customer, row: Any) -> Customer:
    return await customer.open(f"{path(row)}return/")


async def charges(shop: Shop) -> int:
    """How many pay-ins have succeeded at the provider."""
    return int(await shop.one("SELECT count(*) FROM payment_transaction WHERE type = 'payin' AND status = 'ok'"))


# ---- the ways to pay


async def test_a_request_is_paid_with_a_challenge(shop: Shop, customer: Customer) -> None:
    row = await asked(shop)
    await customer.open(path(row))
    assert customer.h1 == "Your payment to The Shop"
    shown = customer.page.one("main").text
    for said in ("Deposit for your stay", "B-2041", "€250.00", "To be paid until"):
        assert said in shown, said
    assert buttons(customer) == ["Pay €250.00 now"]
    await press(customer)
    assert customer.step == "leaving"
    seconds, url = customer.refresh
    assert (seconds, url) == (0, (await last_try(shop)).redirect_url)
    await pay_at_provider(shop, CHALLENGE_CARD)
    await come_back(customer, row)
    assert (customer.h1, customer.path) == ("Thank you, it is paid", path(row))
    (receipt,) = customer.page.one("main").all("a", class_="main")
    answer = await customer.http.get(receipt.attributes["href"])
    assert answer.headers["content-type"] == "application/pdf"
    assert await charges(shop) == 1
    await customer.open(path(row))
    assert customer.h1 == "Thank you, it is paid"


async def test_a_payment_of_the_api_is_paid_on_the_same_page(shop: Shop, customer: Customer) -> None:
    row = await api_payment.created(shop, "80.00", discount="20.00", description="Spa")
    await customer.open(path(row))
    assert customer.amounts == {
        "Price": "€100.00", "Discount": "−€20.00", "Total": "€80.00", "Left to pay": "€80.00",
    }  # fmt: skip
    await press(customer)
    await pay_at_provider(shop)
    await come_back(customer, row)
    assert customer.h1 == "Thank you, it is paid"


async def test_what_a_gift_card_covers_wholly_is_paid_already(shop: Shop, customer: Customer) -> None:
    card = await shop.gift_card("50.00")
    wallet = await api_payment.wallet_uuid(shop, card)
    row = await api_payment.created(shop, "30.00", extra_source_wallet_uuid=wallet, extra_source_amount="30.00")
    await customer.open(path(row))
    assert customer.h1 == "Thank you, it is paid"
    assert not customer.page.one("main").all("form")
    part = await api_payment.created(shop, "100.00", extra_source_wallet_uuid=wallet, extra_source_amount="20.00")
    await customer.open(path(part))
    assert (customer.amounts["Gift card"], buttons(customer)) == ("−€20.00", ["Pay €80.00 now"])


async def test_a_declined_card_can_be_replaced(shop: Shop, customer: Customer) -> None:
    row = await asked(shop)
    await press(await customer.open(path(row)))
    await pay_at_provider(shop, DECLINED_CARD)
    await come_back(customer, row)
    assert (notes(customer), customer.path) == (["Your payment was declined"], path(row))
    await press(customer)
    await pay_at_provider(shop, None)
    await come_back(customer, row)
    assert notes(customer) == ["You left before paying"]
    await press(customer)
    await pay_at_provider(shop)
    await come_back(customer, row)
    assert customer.h1 == "Thank you, it is paid"
    assert (await charges(shop), await shop.one("SELECT count(*) FROM payment")) == (1, 1)


@pytest.mark.parametrize(
    ("reason", "title"),
    [
        ("expired", "The time to pay ran out"),
        ("limit", "The amount is above your limit"),
        ("authentication_failed", "Your bank could not be sure that it was you"),
        ("provider_technical", "The payment did not go through"),
        ("issuer_declined", "Your payment was declined"),
    ],
)
async def test_each_failure_has_its_message(shop: Shop, customer: Customer, reason: str, title: str) -> None:
    row = await asked(shop)
    await press(await customer.open(path(row)))
    await pay_at_provider(shop, DECLINED_CARD)
    await come_back(customer, row)
    await shop.execute("UPDATE payment_transaction SET failure_reason = :reason", reason=reason)
    await customer.open(path(row))
    assert notes(customer) == [title]


async def test_what_is_begun_is_gone_on_with(shop: Shop, customer: Customer) -> None:
    row = await asked(shop)
    await press(await customer.open(path(row)))
    url = (await last_try(shop)).redirect_url
    await customer.open(path(row))
    assert buttons(customer) == ["Finish the payment"]
    await customer.open(f"{path(row)}leaving/")
    assert customer.refresh == (0, url)
    await come_back(customer, row)
    assert customer.h1 == "We are checking your payment"
    assert customer.refresh == (2, f"{path(row)}return/?looked=1")
    await customer.open(f"{path(row)}return/?looked=9")
    assert "refresh" not in customer.response.headers
    await shop.execute("UPDATE payment_transaction SET link_expires_on = now() - interval '1 minute'")
    await customer.open(path(row))
    assert customer.h1 == "We are checking your payment"


async def test_presses_at_once_and_from_an_old_tab_charge_once(shop: Shop, visitors: Callable[[], Customer]) -> None:
    row = await asked(shop)
    tabs = [await visitors().open(path(row)) for _ in range(8)]
    await asyncio.gather(*[press(tab) for tab in tabs])
    assert {tab.step for tab in tabs} == {"leaving"}
    assert len({tab.refresh[1] for tab in tabs}) == 1
    await pay_at_provider(shop)
    await come_back(tabs[0], row)
    late = visitors()
    late.response, late.page = tabs[1].response, tabs[1].page
    for tab in tabs[1:3]:
        await tab.open(path(row))
        assert tab.h1 == "Thank you, it is paid"
    assert await charges(shop) == 1


async def test_a_page_that_was_open_when_it_was_paid_begins_nothing(
    shop: Shop, visitors: Callable[[], Customer]
) -> None:
    row = await asked(shop)
    old, new = await visitors().open(path(row)), await visitors().open(path(row))
    await press(new)
    await pay_at_provider(shop)
    await come_back(new, row)
    await press(old)
    assert (old.h1, await charges(shop)) == ("Thank you, it is paid", 1)
    assert await shop.one("SELECT count(*) FROM payment_transaction") == 1


# ---- where nothing can be paid


async def test_one_that_was_not_paid_in_time_says_so(shop: Shop, customer: Customer) -> None:
    row = await asked(shop)
    await customer.open(path(row))
    await shop.execute("UPDATE payment_request SET expires_on = now() - interval '1 second'")
    await press(customer)  # before the job has run
    assert customer.h1 == "This link has expired"
    assert await expire_payment_requests(shop.services) == 1
    await customer.open(path(row))
    assert (customer.h1, customer.page.one("main").all("form")) == ("This link has expired", [])
    assert await shop.count("payment") == 0


async def test_a_cancelled_one_says_so(shop: Shop, customer: Customer) -> None:
    row = await asked(shop)
    await customer.open(path(row))
    await payment_requests.cancel_payment_request(shop.manager, CancelPaymentRequest(id=row.id))
    await press(customer)
    assert customer.h1 == "This payment was cancelled"
    payment = await stored_payment(shop, status=PaymentStatus.CANCELLED)
    await customer.open(path(payment))
    assert customer.h1 == "This payment was cancelled"


async def test_a_partner_that_cannot_be_paid_says_so(shop: Shop, customer: Customer) -> None:
    row = await asked(shop)
    await customer.open(path(row))
    await shop.execute("UPDATE partner SET payments_active = false")
    await press(customer)
    assert notes(customer) == ["This shop cannot take payments at the moment"]
    await shop.execute("UPDATE partner SET status = 'i'")
    await customer.open(path(row))
    assert customer.h1 == "This cannot be paid at the moment"


async def test_a_refund_is_told(shop: Shop, customer: Customer) -> None:
    row = await stored_payment(shop, status=PaymentStatus.OK)
    await shop.execute("UPDATE payment SET refunded_amount = 40")
    await customer.open(path(row))
    assert "€40.00" in customer.page.one("main").text
    await shop.execute("UPDATE payment SET refunded_amount = 100")
    await customer.open(path(row))
    assert customer.h1 == "This payment is refunded"


async def test_a_store_out_of_reach_keeps_nobody_from_paying(
    shop: Shop, customer: Customer, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = await asked(shop)
    await press(await customer.open(path(row)))
    await pay_at_provider(shop, DECLINED_CARD)
    await come_back(customer, row)

    async def away(*_: object) -> None:
        raise Unavailable(what="The store")

    monkeypatch.setattr(shop.services.kv, "get", away)
    await customer.open(path(row))
    assert (customer.response.status_code, notes(customer)) == (200, ["Your payment was declined"])
    await press(customer)
    await pay_at_provider(shop)
    await come_back(customer, row)
    assert customer.h1 == "Thank you, it is paid"


# ---- links


async def test_a_wrong_link_names_nobody(shop: Shop, customer: Customer) -> None:
    token = (await asked(shop)).link_token
    for wrong in (token[:-1], token.swapcase(), f"{token}x", link_token(), "x", "%00", "é"):
        await customer.open(f"/pay/{wrong}/")
        assert (customer.response.status_code, customer.h1) == (404, DEAD), wrong
        assert "The Shop" not in customer.response.text
    for page in ("return/", "leaving/"):
        await customer.open(f"/pay/{link_token()}/{page}")
        assert (customer.response.status_code, customer.h1) == (404, DEAD)
    assert (await customer.http.post(f"/pay/{link_token()}/", data={"csrf": "x"})).status_code == 404


async def test_wrong_links_lock_nobody_out(shop: Shop, customer: Customer) -> None:
    row = await asked(shop)
    for _ in range(40):  # more than an address may guess codes
        await customer.open(f"/pay/{link_token()}/")
        assert customer.response.status_code == 404
    await customer.open(path(row))
    assert customer.h1 == "Your payment to The Shop"


async def test_it_is_served_on_both_hosts_and_kept_nowhere(shop: Shop, customer: Customer) -> None:
    row = await asked(shop)
    for host in (SERVICE_URL, SHOP_URL):
        for end in (path(row), path(row).rstrip("/")):
            await customer.open(host + end)
            assert customer.h1 == "Your payment to The Shop", host
            headers = customer.response.headers
            assert headers["cache-control"] == "no-store"
            assert "script-src 'self'" in headers["content-security-policy"]
            assert customer.page.one("meta", name="robots").attributes["content"] == "noindex"
        sheets = [
            link.attributes["href"] for link in customer.page.all("link") if link.attributes["rel"] == "stylesheet"
        ]
        for sheet in sheets:
            assert row.link_token not in sheet
            assert (await customer.http.get(host + sheet)).status_code == 200, sheet
    await press(customer)
    assert customer.step == "leaving"


async def test_only_its_own_form_is_taken(shop: Shop, customer: Customer) -> None:
    row = await asked(shop)
    await customer.open(path(row))
    good = customer.form("/pay/").one("input").attributes["value"]
    for csrf, origin in (("", SERVICE_URL), ("x", SERVICE_URL), (good, "https://elsewhere.example")):
        await customer.post(path(row), {"csrf": csrf}, Origin=origin)
        assert customer.response.status_code == 403
        await customer.open(path(row))
    assert await shop.count("payment") == 0


def test_a_token_is_not_logged() -> None:
    token = link_token()
    for said in (f"GET /pay/{token}/ 200", f"next=%2Fpay%2F{token}%2F", f"https://x.example/pay/{token}/return/"):
        assert token not in mask_secrets(said)


# ---- languages


async def test_a_payment_without_a_language_takes_that_of_its_customer(shop: Shop, customer: Customer) -> None:
    row = await api_payment.created(shop, "100.00")
    assert row.language is None
    customer.http.headers["accept-language"] = "fr-CH, fr;q=0.9, en;q=0.8"
    await customer.open(path(row))
    assert (customer.h1, await shop.one("SELECT language FROM payment")) == ("Votre paiement à The Shop", None)
    await press(customer)
    assert await shop.one("SELECT language FROM payment") == "fr"
    await pay_at_provider(shop, DECLINED_CARD)
    customer.http.headers["accept-language"] = "de"
    await come_back(customer, row)
    assert customer.page.one("html").attributes["lang"] == "fr"


async def test_the_language_that_was_asked_for_comes_before_that_of_the_browser(shop: Shop, customer: Customer) -> None:
    row = await api_payment.created(shop, "100.00", language="it")
    await customer.open(path(row), **{"accept-language": "fr"})
    assert customer.page.one("html").attributes["lang"] == "it"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_it_speaks_the_language_of_the_request(shop: Shop, customer: Customer, language: str) -> None:
    row = await asked(shop, language=language)
    await customer.open(path(row), **{"Accept-Language": "fi"})
    assert customer.response.headers["content-language"] == language
    check_headings(customer.page)
    check_controls(customer.page)
    if language != "en":
        assert "You enter your card" not in customer.response.text


async def test_the_customer_may_choose_another(shop: Shop, customer: Customer) -> None:
    row = await asked(shop, language="de")
    await customer.open(path(row))
    await customer.send("/pay/language/", None, ("language", "ca"))
    assert (customer.path, customer.response.headers["content-language"]) == (path(row), "ca")
    await customer.send("/pay/language/", {"next": "https://elsewhere.example/"}, ("language", "fr"))
    assert customer.response.status_code == 404


async def test_opening_it_changes_nothing(shop: Shop, customer: Customer) -> None:
    row = await asked(shop)
    before = await shop.services.db.rows(text("SELECT * FROM payment_request"))
    for _ in range(3):
        await customer.open(path(row))
    assert await shop.services.db.rows(text("SELECT * FROM payment_request")) == before
    assert await shop.count("payment") == 0


# ---- with what


async def test_a_request_is_paid_with_what_the_customer_chooses(
    shop: Shop, customer: Customer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(Settings, "available_payment_methods", list(PaymentMethod))
    row = await asked(shop)
    await customer.open(path(row))
    assert customer.page.all("input", name="method") == [], "cards alone are no choice"
    await shop.execute("UPDATE partner SET payment_methods = '{card,ideal}'")
    await customer.open(path(row))
    found = customer.page.all("input", name="method")
    assert [each.attributes["value"] for each in found] == ["card", "ideal"]
    await customer.send("/pay/", method="bancontact")
    assert (await last_try(shop)).method is PaymentMethod.CARD, "what is not offered counts as the first"
    await pay_at_provider(shop, None)
    await come_back(customer, row)
    assert notes(customer) == ["You left before paying"]
    await customer.send("/pay/", method="ideal")
    tried = await last_try(shop)
    assert tried.method is PaymentMethod.IDEAL
    answer = await shop.control("POST", f"/payins/{tried.provider_id}/pay", {"challenge": "confirm"})
    assert answer.status_code == 200, answer.text
    await come_back(customer, row)
    assert customer.h1 == "Thank you, it is paid"
    assert await charges(shop) == 1

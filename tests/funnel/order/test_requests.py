"""The pages on which buyers withdraw from the contract or ask for a refund."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest

from schema.validation.languages import LANGUAGES
from store.core.clock import clock
from tests.fixtures.basket import Experiences, columns
from tests.fixtures.payment.refund_request import approve_by_rule, approved, declined, mails_of
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import STEPS, chosen_massage, identified, paid
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import fields_of
from tests.funnel.checkout.test_pages import check_controls, check_headers, check_headings
from tests.funnel.order.test_gifts import customers_entries

Visitors = Callable[[], Customer]
WRONG = "Choose what it is about."


@pytest.fixture
async def bought(shop: Shop, customer: Customer, sold: Experiences) -> Customer:
    """A customer who has bought a voucher, at the page of the order."""
    await chosen_massage(customer, sold)
    await identified(customer, STEPS)
    return await paid(shop, customer)


async def open_form(customer: Customer, path: str) -> Customer:
    return await customer.open(f"{path}request/")


async def reviewed(customer: Customer, **fields: str) -> str:
    """The form, filled in and sent: the path of the order. The review is shown, or the form with what is wrong."""
    path = customer.path.split("#")[0]
    await open_form(customer, path)
    await customer.send(f"{path}request/", fields)
    return path


def checked(customer: Customer) -> None:
    check_headings(customer.page)
    check_controls(customer.page)
    check_headers(customer)


async def states(shop: Shop) -> list[Any]:
    return [state for (state,) in await columns(shop, "refund_request", "state")]


async def test_a_withdrawal_takes_two_steps_and_is_confirmed(shop: Shop, bought: Customer) -> None:
    assert "Withdraw from contract here" in [a.text for a in bought.page.all("a")]
    checked(bought)
    path = await reviewed(bought, name="Ada Lovelace", reason="Too late")
    checked(bought)
    assert bought.h1 == "Confirm your withdrawal"
    for text in ("I withdraw from my contract", "Ada Lovelace", "ada@example.com", "Too late"):
        assert text in bought.page.one("main").text, text
    assert await states(shop) == [], "nothing is sent before it is confirmed"
    assert "Confirm withdrawal" in [button.text for button in bought.page.all("button")]
    form = bought.form(f"{path}request/confirm/")
    twice = fields_of(form, bought.page)
    await bought.post(f"{path}request/confirm/", twice)
    checked(bought)
    assert "We have received it. The confirmation" in bought.page.one("main").text
    assert "Received. It waits for an answer." in bought.page.one("main").text
    await bought.post(f"{path}request/confirm/", twice)
    assert await states(shop) == ["pending"]
    assert await columns(shop, "refund_request", "customer_name", "reason") == [("Ada Lovelace", "Too late")]
    assert [kind for kind, _ in await mails_of(shop)] == ["request_receipt", "new_request"]


async def test_what_is_wrong_is_told_at_its_field_and_kept(shop: Shop, bought: Customer) -> None:
    await reviewed(bought, name="", email="ada", reason="Too late", **{"piece-0": "0"})
    assert bought.response.status_code == 422
    assert bought.errors == ["Enter your name.", "Enter an e-mail address like name@example.com.", WRONG]
    assert bought.page.one("input", id="email").attributes["value"] == "ada"
    assert "Too late" in bought.page.one("textarea", id="reason").text
    checked(bought)
    assert await states(shop) == []


async def test_a_mistyped_address_has_a_hint_that_is_taken_or_passed(shop: Shop, bought: Customer) -> None:
    typed, meant = "ann@gmial.com", "ann@gmail.com"
    path = await reviewed(bought, email=typed)
    assert (bought.h1, bought.errors) == ("Withdraw from the contract", [])
    (hint,) = bought.page.all("button", name="use-email")
    assert hint.text == f"Did you mean {meant}?"
    checked(bought)
    fields = fields_of(bought.form(f"{path}request/"), bought.page)
    await bought.post(f"{path}request/", {**fields, "use-email": meant})
    assert bought.page.one("input", id="email").attributes["value"] == meant
    assert bought.page.all("button", name="use-email") == []
    await bought.post(f"{path}request/", fields)
    assert bought.h1 == "Confirm your withdrawal"
    assert typed in bought.page.one("main").text
    assert await states(shop) == []


async def test_the_review_leads_back_to_the_form(shop: Shop, bought: Customer) -> None:
    path = await reviewed(bought, name="Ada Lovelace", reason="Too late")
    fields = fields_of(bought.form(f"{path}request/confirm/"), bought.page)
    await bought.post(f"{path}request/", {**fields, "change": "1"})
    assert bought.h1 == "Withdraw from the contract"
    assert bought.page.one("input", id="name").attributes["value"] == "Ada Lovelace"
    assert "checked" in bought.page.one("input", id="piece-0").attributes
    assert await states(shop) == []


async def test_a_request_is_taken_back(shop: Shop, bought: Customer) -> None:
    path = await reviewed(bought)
    await bought.send(f"{path}request/confirm/")
    id = await shop.one("SELECT id FROM refund_request")
    await bought.open(path)
    await bought.send(f"{path}request/{id}/cancel/")
    assert "You have taken it back." in bought.page.one("main").text
    assert await states(shop) == ["cancelled"]
    assert await customers_entries(shop) == ["request_refund_by_token", "cancel_refund_request_by_token"]
    answer = await bought.http.post(f"{path}request/{id + 1}/cancel/", data={"csrf": "x"})
    assert answer.status_code == 403


@pytest.mark.parametrize("id", ["2147483647", "2147483648", "99999999999", "9" * 5000, "x", "\u0661"])
async def test_a_request_that_there_cannot_be_is_not_found(shop: Shop, bought: Customer, id: str) -> None:
    path = await reviewed(bought)
    await bought.send(f"{path}request/confirm/")
    await bought.open(path)
    cancel = next(form for form in bought.page.all("form") if "/cancel/" in form.attributes["action"])
    await bought.post(f"{path}request/{id}/cancel/", fields_of(cancel, bought.page))
    assert bought.response.status_code == 404
    assert await states(shop) == ["pending"]


async def test_a_form_of_another_site_asks_for_nothing(shop: Shop, bought: Customer) -> None:
    path = await reviewed(bought)
    fields = fields_of(bought.form(f"{path}request/confirm/"), bought.page)
    for action in ("request/", "request/confirm/"):
        await bought.post(f"{path}{action}", {**fields, "csrf": "x"})
        assert bought.response.status_code == 403
    assert await states(shop) == []


async def test_what_was_asked_for_meanwhile_is_told_on_the_form(
    shop: Shop, bought: Customer, visitors: Visitors
) -> None:
    path = await reviewed(bought)
    other = await visitors().open(path)
    await reviewed(other)
    await other.send(f"{path}request/confirm/")
    await bought.send(f"{path}request/confirm/")
    assert (bought.response.status_code, bought.h1) == (409, "This is no longer possible here")
    assert await states(shop) == ["pending"]


@pytest.mark.parametrize("piece", ["x", "-1", "99999999999999", "2", "\u0661"])
async def test_a_quantity_that_is_none_is_refused(shop: Shop, bought: Customer, piece: str) -> None:
    await reviewed(bought, **{"piece-0": piece})
    assert bought.errors == ["Some of this can no longer be chosen. Please check it."]


async def test_a_used_voucher_says_why_it_cannot_be_chosen(shop: Shop, bought: Customer) -> None:
    await shop.execute("UPDATE voucher SET state = 'used', used_on = now()")
    path = bought.path
    await open_form(bought, path)
    assert "It has been used" in bought.page.one("main").text
    assert bought.page.all("input", id="piece-0") == []
    await bought.send(f"{path}request/")
    assert bought.errors == [WRONG]


async def test_after_the_period_a_refund_can_be_asked_for_where_the_shop_says_so(shop: Shop, bought: Customer) -> None:
    path = bought.path
    clock.advance(dt.timedelta(days=20))
    await bought.open(path)
    assert bought.page.all("section", id="requests") == []
    assert (await open_form(bought, path)).response.status_code == 409
    await shop.execute("UPDATE partner SET takes_refund_requests = true")
    await bought.open(path)
    assert "Ask for a refund" in [a.text for a in bought.page.all("a")]
    await reviewed(bought, reason="Ill")
    assert bought.h1 == "Confirm your request"
    checked(bought)
    await bought.send(f"{path}request/confirm/")
    assert await columns(shop, "refund_request", "kind", "reason") == [("refund", "Ill")]


async def test_the_page_tells_the_answer(shop: Shop, bought: Customer) -> None:
    path = await reviewed(bought)
    await bought.send(f"{path}request/confirm/")
    await declined(shop, await shop.one("SELECT max(id) FROM refund_request"), "<b>It was</b> made for you.")
    await bought.open(path)
    assert "It is declined." in bought.page.one("main").text
    assert bought.page.one("blockquote").text == "<b>It was</b> made for you."
    await reviewed(await bought.open(path))
    await bought.send(f"{path}request/confirm/")
    await approved(shop, await shop.one("SELECT max(id) FROM refund_request"))
    await bought.open(path)
    assert "It is approved: you get your money back." in bought.page.one("main").text
    checked(bought)


async def test_an_unused_voucher_is_refunded_without_staff(shop: Shop, bought: Customer) -> None:
    await shop.execute("UPDATE partner SET approves_withdrawals = true")
    path = await reviewed(bought)
    await bought.send(f"{path}request/confirm/")
    await approve_by_rule(shop)
    await bought.open(path)
    assert "It was refunded or cancelled, and can no longer be used" in bought.page.one("main").text
    assert await states(shop) == ["approved"]


@pytest.mark.parametrize("language", LANGUAGES)
async def test_each_page_is_in_each_language(shop: Shop, bought: Customer, visitors: Visitors, language: str) -> None:
    await shop.execute("UPDATE shop_order SET language = :language", language=language)
    await shop.execute("UPDATE partner SET name = 'Les Bains SARL', hq_address_line_1 = '4 rue des Herbes'")
    seen = visitors()
    for page in ("", "request/", "model-form/"):
        await seen.open(f"{bought.path}{page}", **{"accept-language": "xx"})
        assert (seen.response.status_code, seen.page.one("html").attributes["lang"]) == (200, language)
        checked(seen)
    for text in ("Les Bains SARL", "4 rue des Herbes"):
        assert text in seen.page.one("address").text


async def test_a_forged_link_leads_nowhere(bought: Customer) -> None:
    path = bought.path[:-3] + ("xx/" if not bought.path.endswith("xx/") else "yy/")
    for page in ("request/", "model-form/"):
        assert (await bought.open(f"{path}{page}")).response.status_code == 404
    for page in ("request/", "request/confirm/", "request/1/cancel/"):
        assert (await bought.http.post(f"{path}{page}", data={"csrf": "x"})).status_code == 404

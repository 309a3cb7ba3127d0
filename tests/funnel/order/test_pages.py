"""The page of an order: what it shows, in any browser and for years, and that it tells nobody else anything."""

import datetime as dt
from collections.abc import Callable
from typing import Any

import pytest
from icalendar import Alarm, Calendar, Event

from schema.cart.cart import CartItem
from schema.delivery.delivery import DeliveryKind
from schema.validation.languages import LANGUAGES
from store.core.clock import clock
from store.core.signed_links import sign_link
from store.core.telemetry.logs import mask_secrets
from store.order.links import PURPOSE, order_path
from tests.fixtures.basket import Experiences
from tests.fixtures.shop import GOOD_CARD, Shop
from tests.funnel.checkout.basket_pages import (
    FORM,
    GIFT_CARDS,
    STEPS,
    chosen_massage,
    filled,
    identified,
    paid,
)
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import fields_of
from tests.funnel.checkout.test_pages import check_controls, check_headers, check_headings
from tests.servers.production import SERVICE_URL

EARLIER = dt.datetime(2026, 1, 5, 12, tzinfo=dt.UTC)
DEAD = "This link does not work"
Visitors = Callable[[], Customer]


@pytest.fixture
async def bought(shop: Shop, customer: Customer, sold: Experiences) -> Customer:
    """A customer who has bought a voucher for somebody, at the page of the order."""
    await chosen_massage(customer, sold, reception="giftee_email", **{"giftee-email": "marie@example.com"})
    await identified(customer, STEPS)
    return await paid(shop, customer)


async def bought_card(shop: Shop, customer: Customer) -> Customer:
    """A gift card of 50.00 that its buyer prints."""
    await customer.open(GIFT_CARDS)
    await filled(customer, FORM, {"value": "50.00", "reception": "print_at_home"})
    await identified(customer, STEPS)
    return await paid(shop, customer)


def main_text(customer: Customer) -> str:
    return customer.page.one("main").text.replace("\xa0", " ").replace("\N{NARROW NO-BREAK SPACE}", " ")


def calendar_links(customer: Customer) -> list[str]:
    return [a.attributes["href"] for a in customer.page.all("a") if a.attributes["href"].endswith(".ics")]


async def mails(shop: Shop, kind: str) -> list[str]:
    found = await shop.one("SELECT json_agg(recipient ORDER BY id) FROM mail WHERE kind = :kind", kind=kind)
    return list(found or [])


# ---- what it shows


async def test_it_is_found_again_in_any_browser_and_for_years(bought: Customer, visitors: Visitors) -> None:
    code = bought.page.one("span", class_="code").text
    clock.advance(dt.timedelta(days=300))
    stranger = await visitors().open(bought.path)
    assert stranger.h1 == "Thank you for your order"
    told = main_text(stranger)
    for text in (code, "Order number 1", "For Marie Curie", "Sent to marie@example.com.", "ada@example.com"):
        assert text in told, text
    check_headings(stranger.page)
    check_controls(stranger.page)
    check_headers(stranger)


async def test_it_is_served_at_the_services_own_host_too(bought: Customer, visitors: Visitors) -> None:
    other = await visitors().open(f"{SERVICE_URL}{bought.path}")
    assert other.h1 == "Thank you for your order"


@pytest.mark.parametrize("language", LANGUAGES)
async def test_it_speaks_the_language_of_the_order_or_the_chosen_one(
    shop: Shop, bought: Customer, visitors: Visitors, language: str
) -> None:
    await shop.execute("UPDATE shop_order SET language = :language", language=language)
    seen = await visitors().open(bought.path, **{"accept-language": "xx"})
    assert seen.page.one("html").attributes["lang"] == language
    chosen = LANGUAGES[(LANGUAGES.index(language) + 1) % len(LANGUAGES)]
    await seen.send("/orders/language/", button=("language", chosen))
    assert (seen.step, seen.page.one("html").attributes["lang"]) == ("order", chosen)


async def test_goods_tell_where_they_go(shop: Shop, customer: Customer) -> None:
    candle = await shop.product("20.00")
    cart = await shop.cart(CartItem(product_id=candle.id, quantity=2))
    await customer.choose(cart.id, shop.modes[DeliveryKind.HOME_DELIVERY], "FR")
    await customer.identify()
    await customer.press_pay()
    attempt = await shop.one("SELECT id FROM checkout_attempt")
    await shop.control(
        "POST", f"/payins/{await shop.payin_of(attempt)}/pay", {"card": GOOD_CARD, "challenge": "confirm"}
    )
    await customer.open(f"/ecommerce/shop/payment/return/{cart.id}/{attempt}/")
    assert customer.step == "order"
    assert "75011 Paris" in customer.page.one("address").text
    (receipt,) = [a.attributes["href"] for a in customer.page.all("a") if "receipt" in a.text]
    answer = await customer.http.get(receipt)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/pdf")


@pytest.mark.parametrize(
    ("change", "note", "printable"),
    [
        ({"state": "used", "used_on": EARLIER}, "It has been used", False),
        ({"expires_on": EARLIER}, "It has expired", False),
        ({"refunded_on": EARLIER}, "It was refunded or cancelled", False),
        ({"frozen_on": EARLIER}, "It cannot be used at the moment", True),
    ],
)
async def test_a_voucher_says_what_became_of_it(
    shop: Shop, bought: Customer, change: dict[str, Any], note: str, printable: bool
) -> None:
    changed = ", ".join(f"{column} = :{column}" for column in change)
    await shop.execute(f"UPDATE voucher SET {changed}", **change)  # noqa: S608
    await bought.open(bought.path)
    assert note in main_text(bought)
    assert ("Open to print" in main_text(bought)) is printable
    assert calendar_links(bought) == []
    assert (len(bought.page.all("span", class_="code")) == 0) is ("refunded_on" in change)


async def test_a_gift_card_tells_what_is_left(shop: Shop, customer: Customer) -> None:
    await bought_card(shop, customer)
    assert "Left on the card €50.00" in main_text(customer)
    await shop.execute("UPDATE gift_card SET remaining_amount = 12.50, status = 'using'")
    await customer.open(customer.path)
    assert "Left on the card €12.50 of €50.00" in main_text(customer)
    await shop.execute("UPDATE gift_card SET remaining_amount = 0, status = 'used'")
    await customer.open(customer.path)
    assert "It has been used" in main_text(customer)
    await shop.execute("UPDATE gift_card SET status = 'cncld'")
    await customer.open(customer.path)
    assert customer.page.all("span", class_="code") == []


@pytest.mark.parametrize(
    ("status", "title"),
    [
        ("refunded", "This order is refunded"),
        ("disputed", "Your bank is looking into this payment"),
        ("charged_back", "Your bank has taken the payment back"),
    ],
)
async def test_an_order_says_what_became_of_it(shop: Shop, bought: Customer, status: str, title: str) -> None:
    await shop.execute("UPDATE shop_order SET status = :status", status=status)
    assert (await bought.open(bought.path)).h1 == title


# ---- the calendar


async def test_its_last_day_goes_into_a_calendar(shop: Shop, bought: Customer) -> None:
    (link,) = calendar_links(bought)
    answer = await bought.http.get(link)
    assert (answer.status_code, answer.headers["content-type"]) == (200, "text/calendar; charset=utf-8")
    (event,) = Calendar.from_ical(answer.content).walk("VEVENT")
    assert isinstance(event, Event)
    day = await shop.one("SELECT (v.expires_on AT TIME ZONE m.time_zone)::date FROM voucher v, marketplace m")
    assert (day, day + dt.timedelta(days=1)) == (event.DTSTART, event.DTEND)
    assert str(event["SUMMARY"]).startswith("Last day: ")
    assert str(event["URL"]).endswith("/orders/")
    (alarm,) = event.walk("VALARM")
    assert isinstance(alarm, Alarm)
    assert -dt.timedelta(days=30) == alarm.TRIGGER
    for secret in (await shop.one("SELECT code FROM voucher"), bought.path.split("/")[2][:30]):
        assert secret not in answer.text.replace("\r\n ", "")
    again = await bought.http.get(link)
    assert again.content == answer.content, "it is the same event, whenever it is fetched"


async def test_what_has_no_last_day_has_no_calendar(shop: Shop, bought: Customer) -> None:
    (link,) = calendar_links(bought)
    await shop.execute("UPDATE voucher SET expires_on = NULL")
    assert (await bought.http.get(link)).status_code == 404
    for position in ("1", "99999999999999999999", "-1"):
        assert (await bought.http.get(link.replace("0.ics", f"{position}.ics"))).status_code == 404


# ---- once more by mail


async def press_link(customer: Customer) -> None:
    """Press the button that sends the link."""
    (form,) = [form for form in customer.page.all("form") if form.attributes["action"] == customer.path]
    await customer.post(customer.path, fields_of(form, customer.page))


async def test_the_link_is_sent_once_in_a_quarter(shop: Shop, bought: Customer) -> None:
    for _ in range(3):
        await press_link(bought)
        assert "The link is on its way to ada@example.com." in main_text(bought)
        await bought.open(bought.path)
    assert await mails(shop, "order_link") == ["ada@example.com"]
    clock.advance(dt.timedelta(minutes=16))
    await bought.open(bought.path)
    await press_link(bought)
    assert await mails(shop, "order_link") == ["ada@example.com"] * 2


async def test_a_form_of_another_site_sends_nothing(shop: Shop, bought: Customer) -> None:
    await bought.post(bought.path, {"csrf": "x"})
    assert bought.response.status_code == 403
    assert await mails(shop, "order_link") == []


# ---- who may see it


async def test_a_forged_link_leads_nowhere(shop: Shop, bought: Customer) -> None:
    settings, token = shop.services.settings, bought.path.split("/")[2]
    uuid = await shop.one("SELECT uuid FROM shop_order")
    changed = token.replace(token[5], "A" if token[5] != "A" else "B", 1)
    forged = [
        token[:-1],
        changed,
        uuid.hex,
        str(uuid),
        sign_link(settings, "holder", [uuid.hex]),
        sign_link(settings, PURPOSE, [uuid.hex, 1]),
        sign_link(settings, PURPOSE, ["x"]),
        sign_link(settings, PURPOSE, [None]),
        order_path(settings, "7" * 32).split("/")[2],
    ]
    for token in forged:
        for ending in ("/", "/0.ics"):
            seen = await bought.open(f"/orders/{token}{ending}")
            assert (seen.response.status_code, seen.h1) == (404, DEAD), token
        answer = await bought.http.post(f"/orders/{token}/", data={"csrf": "x"})
        assert answer.status_code == 404


async def test_its_link_is_in_no_log(bought: Customer) -> None:
    for path in (bought.path, f"https://shop.example{bought.path}", bought.path.replace("/", "%2F")):
        masked = mask_secrets(f"GET {path} 200")
        assert bought.path.split("/")[2] not in masked


# ---- a gift once more


GIFT = "email-0"


async def gift_mails(shop: Shop) -> list[str]:
    return await mails(shop, "voucher")


async def test_a_mistyped_address_is_corrected_and_the_gift_sent_there(shop: Shop, bought: Customer) -> None:
    assert await gift_mails(shop) == ["marie@example.com", "ada@example.com"]
    (field,) = bought.page.all("input", id=GIFT)
    assert field.attributes["value"] == "marie@example.com"
    action = f"{bought.path}0/"
    await bought.send(action, {GIFT: " marie@example.org "})
    assert "It is on its way to marie@example.org." in main_text(bought)
    assert await shop.one("SELECT giftee_email FROM voucher") == "marie@example.org"
    assert (await gift_mails(shop))[2:] == ["marie@example.org", "ada@example.com"]
    customer = "SELECT c.normal_email FROM voucher v JOIN customer c ON c.id = v.giftee_id"
    assert await shop.one(customer) == "marie@example.org"
    await bought.open(bought.path)
    await bought.send(action, {GIFT: "marie@example.org"})
    assert len(await gift_mails(shop)) == 4, "once in a quarter of an hour"
    clock.advance(dt.timedelta(minutes=16))
    await bought.open(bought.path)
    await bought.send(action, {GIFT: "marie@example.org"})
    assert len(await gift_mails(shop)) == 6


@pytest.mark.parametrize("typed", ["", "marie", f"{'a' * 250}@example.com", "a@b"])
async def test_what_is_no_address_is_told_at_its_field(shop: Shop, bought: Customer, typed: str) -> None:
    before = await gift_mails(shop)
    await bought.send(f"{bought.path}0/", {GIFT: typed})
    assert bought.errors == ["Enter an e-mail address like name@example.com."]
    (field,) = bought.page.all("input", id=GIFT)
    assert (field.attributes["value"], field.attributes["aria-invalid"]) == (typed, "true")
    check_controls(bought.page)
    assert (await gift_mails(shop), await shop.one("SELECT giftee_email FROM voucher")) == (before, "marie@example.com")


@pytest.mark.parametrize(
    "change", ["state = 'using'", "state = 'used', used_on = now()", "refunded_on = now()", "frozen_on = now()"]
)
async def test_what_is_used_or_gone_is_sent_to_nobody_else(shop: Shop, bought: Customer, change: str) -> None:
    form, before = {"csrf": bought.page.all("input", name="csrf")[0].attributes["value"]}, await gift_mails(shop)
    await shop.execute(f"UPDATE voucher SET {change}")  # noqa: S608
    await bought.post(f"{bought.path}0/", {**form, GIFT: "eve@example.com"})
    assert (await gift_mails(shop), await shop.one("SELECT giftee_email FROM voucher")) == (before, "marie@example.com")
    assert (bought.step, bought.page.all("input", id=GIFT)) == ("order", [])


async def test_a_link_is_no_relay_of_mail(shop: Shop, bought: Customer) -> None:
    path, statuses = bought.path, []
    for number in range(12):
        await bought.open(path)
        await bought.send(f"{path}0/", {GIFT: f"marie{number}@example.com"})
        statuses.append(bought.response.status_code)
    assert statuses == [200] * 10 + [429] * 2
    assert await shop.one("SELECT giftee_email FROM voucher") == "marie9@example.com"


async def test_what_is_printed_at_home_is_not_sent_to_anybody(shop: Shop, customer: Customer) -> None:
    await bought_card(shop, customer)
    assert customer.page.all("input", id=GIFT) == []
    form, path = {"csrf": customer.page.all("input", name="csrf")[0].attributes["value"]}, customer.path
    for position in ("0", "1", "99999999999"):
        await customer.post(f"{path}{position}/", {**form, f"email-{position}": "eve@example.com"})
        assert customer.path == path
    assert await mails(shop, "gift_card") == ["ada@example.com"]

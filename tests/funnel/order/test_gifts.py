"""Presents that wait for their day on the page of an order: sent now, on another day, or to another address."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from schema.validation.languages import LANGUAGES
from store.core.clock import clock
from store.core.localization.formats import Formats
from tests.fixtures.basket import Experiences, columns
from tests.fixtures.shop import Shop
from tests.funnel.checkout.basket_pages import STEPS, chosen_massage, identified, paid
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.test_pages import check_controls, check_headings
from tests.funnel.order.test_pages import mails, main_text

EMAIL, DAY, TIME = "email-0", "day-0", "time-0"
NOTHING_CHANGED = "Nothing was changed: it is being sent, or was sent already, or can no longer be used."


def day_in(days: int) -> dt.date:
    return clock.now().astimezone(ZoneInfo("Europe/Paris")).date() + dt.timedelta(days=days)


@pytest.fixture
async def waiting(shop: Shop, customer: Customer, sold: Experiences) -> Customer:
    """A customer whose present is sent in thirty days, at the page of the order."""
    await shop.execute("UPDATE marketplace SET time_zone = 'Europe/Paris'")
    sent = {"giftee-email": "marie@example.com", "send_on": day_in(30).isoformat(), "send_at": "18:30"}
    await chosen_massage(customer, sold, reception="giftee_email", **sent)
    await identified(customer, STEPS)
    return await paid(shop, customer)


def form_of(customer: Customer) -> str:
    return f"{customer.path}0/day/"


def value_of(customer: Customer, name: str) -> str:
    return customer.page.one("input", id=name).attributes["value"]


async def test_the_form_shows_when_and_where(waiting: Customer) -> None:
    assert [value_of(waiting, name) for name in (EMAIL, DAY, TIME)] == [
        "marie@example.com",
        day_in(30).isoformat(),
        "18:30",
    ]
    check_controls(waiting.page)
    check_headings(waiting.page)


async def test_another_day_and_another_address(shop: Shop, waiting: Customer) -> None:
    day = day_in(60)
    await waiting.send(form_of(waiting), {EMAIL: "marie@example.org", DAY: day.isoformat(), TIME: ""})
    at = dt.datetime.combine(day, dt.time(8), ZoneInfo("Europe/Paris"))
    formats = Formats("en")
    when = f"{formats.date(at, 'Europe/Paris')} at {formats.time(at, 'Europe/Paris')}"
    assert f"Saved. It is sent to marie@example.org on {when}." in main_text(waiting)
    assert await columns(shop, "voucher", "giftee_email", "send_on") == [("marie@example.org", at)]
    assert await mails(shop, "voucher") == ["marie@example.org", "ada@example.com"]
    await waiting.open(waiting.path)
    assert "Saved." not in main_text(waiting)
    assert [value_of(waiting, name) for name in (EMAIL, DAY, TIME)] == ["marie@example.org", day.isoformat(), "08:00"]


async def customers_entries(shop: Shop) -> list[str]:
    """What the audit log has of customers, in its order. Refusals are not audited."""
    await shop.services.audit_buffer.flush()
    told = await columns(shop, "audit_entry", "operation", "actor", "partner_id", "subject_type")
    entries = [row for row in told if row[1] == "customer"]
    assert {row[2:] for row in entries} <= {(shop.partner.id, "Order")}
    return [operation for operation, *_ in entries]


async def test_now(shop: Shop, waiting: Customer) -> None:
    action = form_of(waiting)
    form = {name: value_of(waiting, name) for name in (EMAIL, DAY, TIME)}
    csrf = waiting.page.all("input", name="csrf")[0].attributes["value"]
    await waiting.send(action, {EMAIL: "marie@example.org"}, button=("now", "1"))
    assert "It is on its way to marie@example.org." in main_text(waiting)
    assert await shop.one("SELECT bool_and(due_on <= created_on) FROM mail WHERE kind = 'voucher'")
    assert await customers_entries(shop) == ["send_gift_now_by_token"], "the audit log has it, as over the API"
    await waiting.open(waiting.path)
    assert "Sent to marie@example.org." in main_text(waiting)
    for button in ({"now": "1"}, {}):
        await waiting.post(action, {"csrf": csrf, **form, **button})
        assert NOTHING_CHANGED in main_text(waiting)
    assert await mails(shop, "voucher") == ["marie@example.org", "ada@example.com"]


@pytest.mark.parametrize(
    ("typed", "errors"),
    [
        ({DAY: ""}, ["Choose a day."]),
        ({DAY: "tomorrow"}, ["Choose a day."]),
        ({TIME: "noon"}, ["Choose a time."]),
        ({DAY: "2020-02-30", TIME: "25:00"}, ["Choose a day.", "Choose a time."]),
        ({DAY: "2020-01-01"}, ["Choose a day from today on, within a year."]),
        ({DAY: "9999-12-31"}, ["Choose a day from today on, within a year."]),
        ({EMAIL: "marie"}, ["Enter an e-mail address like name@example.com."]),
        (
            {EMAIL: "", DAY: "0001-01-01"},
            ["Enter an e-mail address like name@example.com.", "Choose a day from today on, within a year."],
        ),
    ],
)
async def test_what_is_wrong_is_told_at_its_field(
    shop: Shop, waiting: Customer, typed: dict[str, str], errors: list[str]
) -> None:
    before = await columns(shop, "mail", "id", "due_on")
    await waiting.send(form_of(waiting), typed)
    assert waiting.errors == errors
    assert {name: value_of(waiting, name) for name in typed} == typed
    check_controls(waiting.page)
    assert await columns(shop, "mail", "id", "due_on") == before


async def test_a_time_of_today_that_is_over(shop: Shop, waiting: Customer) -> None:
    await waiting.send(form_of(waiting), {DAY: day_in(0).isoformat(), TIME: "00:00"})
    assert waiting.errors == ["Choose a time later than now."]


async def test_ten_changes_a_day(waiting: Customer) -> None:
    path, statuses = waiting.path, []
    for number in range(12):
        await waiting.open(path)
        await waiting.send(f"{path}0/day/", {DAY: day_in(40 + number).isoformat()})
        statuses.append(waiting.response.status_code)
    assert statuses == [200] * 10 + [429] * 2


async def test_a_form_of_another_site_changes_nothing(shop: Shop, waiting: Customer) -> None:
    before = await columns(shop, "mail", "id", "due_on")
    await waiting.post(form_of(waiting), {"csrf": "x", "now": "1", EMAIL: "eve@example.com"})
    assert waiting.response.status_code == 403
    assert await columns(shop, "mail", "id", "due_on") == before


@pytest.mark.parametrize("change", ["state = 'using'", "refunded_on = now()", "frozen_on = now()"])
async def test_what_is_used_or_gone_has_no_form(shop: Shop, waiting: Customer, change: str) -> None:
    action, before = form_of(waiting), await columns(shop, "mail", "id", "due_on")
    csrf = waiting.page.all("input", name="csrf")[0].attributes["value"]
    await shop.execute(f"UPDATE voucher SET {change}")  # noqa: S608
    await waiting.post(action, {"csrf": csrf, EMAIL: "eve@example.com", "now": "1"})
    assert NOTHING_CHANGED in main_text(waiting)
    await waiting.open(waiting.path)
    assert waiting.page.all("input", id=EMAIL) == []
    assert await columns(shop, "mail", "id", "due_on") == before


@pytest.mark.parametrize("language", LANGUAGES)
async def test_it_speaks_every_language(waiting: Customer, language: str) -> None:
    await waiting.send("/orders/language/", button=("language", language))
    assert ("Save the changes" in main_text(waiting)) is (language == "en")
    await waiting.send(form_of(waiting), {DAY: day_in(60).isoformat()})
    assert waiting.response.status_code == 200
    assert ("Saved." in main_text(waiting)) is (language == "en")

"""The first page: its figures are those of the API, its tables those of its charts, and each number leads to its list."""

import datetime as dt
from decimal import Decimal
from zoneinfo import ZoneInfo

import pytest

from admin.home.charts import bar_chart, rounded_up, shares
from admin.home.liability_boards import months_before
from resolvers.report.sales import sales_report
from schema.core.permission import GRANTABLE_PERMISSIONS, Permission
from schema.gift_card.gift_card import GiftCardStatus
from schema.payment.payment import RefundState
from store.core.clock import clock
from store.core.localization.formats import Formats
from store.report.liabilities import LEAST_HISTORY
from tests.admin.office import ROOT, Office
from tests.fixtures.gift_card import gift_card
from tests.fixtures.network import network_card
from tests.fixtures.sales import SoldLine, paid_directly, payment_of, refund, sold_order
from tests.funnel.checkout.customer import Customer

PARIS = ZoneInfo("Europe/Paris")


def noon(days: int = 0) -> dt.datetime:
    """Noon in the shop, so many days ago."""
    today = clock.now().astimezone(PARIS).date()
    return dt.datetime.combine(today - dt.timedelta(days=days), dt.time(12), PARIS)


def sums(staff: Customer) -> list[tuple[str, str]]:
    """The figures at the top: their sum and their note."""
    cards = staff.page.one("dl", class_="sums").all("div")
    return [(card.one("dd", class_="sum").text, card.one("dd", class_="note").text) for card in cards]


def table(staff: Customer, kind: str) -> list[list[str]]:
    """The cells of the only table of a kind."""
    around = (
        staff.page.one("div", class_=kind).one("table") if kind == "figures" else staff.page.one("table", class_=kind)
    )
    return [[cell.text for cell in row if cell.tag in ("th", "td")] for row in around.all("tr")]


async def test_it_begins_with_the_sales_of_today(office: Office) -> None:
    tenants = office.tenants
    await tenants.execute("UPDATE shop_order SET created_on = '2020-01-01'")
    order = await sold_order(tenants, "a1", noon(), SoldLine("20.00", 2), SoldLine("9.50", name="Lamp"))
    await refund(tenants, await payment_of(tenants, order), noon(), "9.50")
    await sold_order(tenants, "a1", noon(7), SoldLine("12.00"))
    await paid_directly(tenants, "a1", noon(29), "100.00")
    await sold_order(tenants, "a1", noon(30), SoldLine("1.00"))
    await sold_order(tenants, "a2", noon(), SoldLine("500.00"))
    staff = await office.open("a1", ROOT)
    last_week = Formats("en").days(noon(7).date())
    assert sums(staff) == [
        ("€49.50", "1 sale · €9.50 refunded"),
        ("€12.00", f"{last_week} · 1 sale"),
        ("€161.50", "3 sales · €9.50 refunded"),
    ]
    first = staff.page.one("dl", class_="sums").all("a")[0].attributes["href"]
    assert first == f"{ROOT}orders/?createdFrom={noon().date()}&createdUntil={noon().date()}"
    listed = await office.open("a1", first)
    assert len(listed.page.all("th", scope="row")) == 1


@pytest.mark.parametrize(
    ("asked", "days"), [("?days=7", 7), ("", 30), ("?days=90", 90), ("?days=8", 30), ("?days=x", 30)]
)
async def test_the_table_has_the_numbers_of_the_chart(office: Office, asked: str, days: int) -> None:
    tenants = office.tenants
    for ago, price in ((0, "40.00"), (6, "10.00"), (20, "80.00"), (89, "5.00"), (90, "3.00")):
        await sold_order(tenants, "a1", noon(ago), SoldLine(price))
    staff = await office.open("a1", f"{ROOT}{asked}")
    head, *rows, total = table(staff, "figures")
    assert (len(head), len(rows)) == (5, days)
    today = noon().date()
    told = await sales_report(await tenants.context("a1"), today - dt.timedelta(days=days - 1), today)
    (currency,) = told.currencies
    expected = [
        [str(day.figures.count), f"€{day.figures.gross.amount}", "€0.00", f"€{day.figures.net.amount}"]
        for day in reversed(currency.days)
    ]
    assert [row[1:] for row in rows] == expected
    assert total[1:] == [
        str(currency.total.count),
        f"€{currency.total.gross.amount}",
        "€0.00",
        f"€{currency.total.net.amount}",
    ]
    drawn = staff.page.one("figure").all("rect")
    assert [bar.one("title").text.rpartition(": ")[2] for bar in reversed(drawn)] == [row[2] for row in rows]
    heights = [Decimal(bar.attributes["height"]) for bar in reversed(drawn)]
    assert [height > 0 for height in heights] == [day.figures.gross.amount > 0 for day in reversed(currency.days)]
    top = Decimal(40) if days == 7 else Decimal(80)
    assert heights[0] == 40 * 100 / top
    assert [link.text for link in staff.page.all("a", aria_current="true")] == [f"{days} days"]
    headings = {link.attributes["href"].partition("#")[2] for link in staff.page.one("nav", class_="periods").all("a")}
    assert headings == {"sales-1"}, "each period leads back to its chart"


async def test_products_add_up_to_all_that_was_sold(office: Office) -> None:
    tenants = office.tenants
    card = tenants.owned["a1"].gift_card
    await sold_order(
        tenants, "a1", noon(1), SoldLine("30.00", 2), SoldLine("50.00", of={"gift_card_id": card}), delivery="4.90"
    )
    await paid_directly(tenants, "a1", noon(2), "15.00")
    staff = await office.open("a1", ROOT)
    _, *rows = table(staff, "bars")
    assert rows == [
        ["Candle", "× 2", "€60.00"],
        ["Gift cards", "× 1", "€50.00"],
        ["Payments without an order", "× 1", "€15.00"],
        ["Delivery", "× 1", "€4.90"],
    ]
    assert sums(staff)[2][0] == "€129.90"
    link = staff.page.one("table", class_="bars").one("a").attributes["href"]
    assert (await office.open("a1", link)).response.status_code == 200


async def test_what_is_sold_less_is_one_line(office: Office) -> None:
    tenants = office.tenants
    for n in range(9):
        product = await tenants.one(
            "INSERT INTO product SELECT (jsonb_populate_record(p, jsonb_build_object('id', nextval('product_id_seq')))).* "
            "FROM product p WHERE id = :id RETURNING id",
            id=tenants.owned["a1"].product,
        )
        line = SoldLine(f"{20 - n}.00", of={"product_id": product}, name=f"Thing {n}")
        await sold_order(tenants, "a1", noon(), line)
    _, *rows = table(await office.open("a1", ROOT), "bars")
    assert [row[0] for row in rows] == [*(f"Thing {n}" for n in range(8)), "All others"]
    assert rows[-1] == ["All others", "", "€12.00"]


async def test_liabilities_lead_to_their_gift_cards(office: Office) -> None:
    tenants = office.tenants
    for days, left in ((5, "50.00"), (100, "20.00"), (800, "30.00")):
        await gift_card(tenants, "a1", left, created_on=clock.now() - dt.timedelta(days=days))
    for _ in range(LEAST_HISTORY):
        ended = {"created_on": noon(800), "expires_on": noon(40), "status": GiftCardStatus.EXPIRED}
        await gift_card(tenants, "a1", "10.00", **ended)
    staff = await office.open("a1", ROOT)
    (_, *rows) = table(staff, "bars")
    assert rows == [
        ["Up to 3 months", "1", "€50.00", "€50.00"],
        ["Up to 6 months", "1", "€20.00", "€20.00"],
        ["Up to 12 months", "0", "€0.00", "–"],
        ["Over 12 months", "1", "€30.00", "€30.00"],
        ["Expired", str(LEAST_HISTORY), f"€{LEAST_HISTORY * 10}.00", "–"],
    ]
    for link in staff.page.one("table", class_="bars").all("a")[:3]:
        listed = await office.open("a1", link.attributes["href"])
        assert len(listed.page.all("th", scope="row")) == 1


async def test_each_currency_has_its_own_figures(office: Office) -> None:
    tenants = office.tenants
    await sold_order(tenants, "a1", noon(2), SoldLine("20.00"))
    await sold_order(tenants, "b1", noon(2), SoldLine("7.00"), currency="CHF")
    staff = await office.open("master", ROOT)
    first = [board.all("dd", class_="sum")[2].text for board in staff.page.all("dl", class_="sums")]
    assert first == ["CHF7.00", "€20.00"]
    assert len(staff.page.all("figure")) == 2


async def test_the_network_and_its_partners_are_told_apart(office: Office) -> None:
    tenants = office.tenants
    await gift_card(tenants, "a1", "50.00")
    await network_card(tenants, "a", "80.00")
    staff = await office.open("market a", ROOT)
    shown = [card.text for card in staff.page.one("section", aria_labelledby="owed").all("p", class_="sum")]
    assert shown == ["€80.00", "€50.00"]
    assert not (await office.open("market b", ROOT)).page.all("section", aria_labelledby="owed")


async def test_refunds_that_need_somebody_wait(office: Office) -> None:
    tenants = office.tenants
    payment = await paid_directly(tenants, "a1", noon(1), "15.00")
    await refund(tenants, payment, noon(1), "5.00", RefundState.NEEDS_ACTION)
    staff = await office.open("a1", ROOT)
    (tile,) = [link for link in staff.page.one("ul", class_="tiles").all("a") if "Refunds" in link.text]
    assert tile.text == "1 Refunds to see to"
    assert len((await office.open("a1", tile.attributes["href"])).page.all("th", scope="row")) == 1
    assert not (await office.open("a2", ROOT)).page.all("ul", class_="tiles")


async def test_a_partner_is_told_the_next_step_to_receive_payments(office: Office) -> None:
    staff = await office.open("a1", ROOT)
    needs = staff.page.one("div", class_="needs")
    assert needs.one("h3").text.startswith("To receive payments")
    links = {link.attributes["href"] for link in needs.all("a")}
    page = f"{ROOT}partners/{office.tenants.partners['a1'].uuid}/"
    assert links
    assert all(link.startswith((page, "http")) for link in links)
    staff = await office.open("market a", ROOT)
    assert {each.one("h3").one("a").text for each in staff.page.all("div", class_="needs")} == {"Shop a1", "Shop a2"}


async def test_nothing_waits_for_whoever_may_do_nothing(office: Office) -> None:
    of = {"partner_id": office.tenants.partners["a1"].id}
    await office.tenants.user("newcomer", "partner", [Permission.VIEW_ORDER], **of)
    await sold_order(office.tenants, "a1", noon(), SoldLine("20.00"))
    staff = await office.open("newcomer", ROOT)
    assert staff.page.one("p", class_="calm").text == "Nothing waits. Everything is done."
    assert not staff.page.all("dl", class_="sums")
    assert "20.00" not in staff.page.one("main").text


async def test_figures_lead_to_no_list_that_the_user_may_not_see(office: Office) -> None:
    every = GRANTABLE_PERMISSIONS - {Permission.VIEW_ORDER, Permission.VIEW_CATALOGUE, Permission.MANAGE_MASTERADMIN}
    await office.tenants.user("accountant", "partner", sorted(every), partner_id=office.tenants.partners["a1"].id)
    await sold_order(office.tenants, "a1", noon(), SoldLine("20.00"))
    staff = await office.open("accountant", ROOT)
    assert sums(staff)[0][0] == "€20.00"
    for link in staff.page.one("main").all("a"):
        if (url := link.attributes["href"]).startswith(ROOT):
            assert (await office.open("accountant", url)).response.status_code == 200, url


@pytest.mark.parametrize(("who", "name"), [("a1", "Shop a1"), ("market a", "a"), ("master", "Coffret")])
async def test_the_top_bar_names_whose_back_office_it_is(office: Office, who: str, name: str) -> None:
    staff = await office.open(who, ROOT)
    assert staff.page.one("a", class_="mark").text == name


async def test_the_hosts_of_shops_have_no_back_office(office: Office) -> None:
    client = office.tenants.client
    for path in (ROOT, f"{ROOT}orders/", f"{ROOT}log-in/"):
        answer = await client.get(f"http://a1.localhost{path}")
        assert (answer.status_code, answer.headers.get("location")) == (404, None)
        assert "admin.css" not in answer.text


# ---- charts


def test_a_scale_ends_with_a_round_number() -> None:
    ends = {"0": "1", "0.07": "0.08", "1": "1", "41": "50", "61.50": "80", "100": "100", "640": "800", "1001": "2000"}
    assert {value: str(rounded_up(Decimal(value)).normalize().__format__("f")) for value in ends} == ends


def test_bars_are_as_high_as_their_values() -> None:
    chart = bar_chart([(Decimal(value), value) for value in ("0", "0.01", "50", "100")])
    assert [bar.height for bar in chart.bars] == ["0", "1", "50", "100"]
    assert [bar.y for bar in chart.bars] == ["100", "99", "50", "0"]
    assert [bar.is_last for bar in chart.bars] == [False, False, False, True]
    assert (chart.top, chart.middle, chart.width) == (Decimal(100), Decimal(50), 40)
    assert all(bar.x >= 0 and bar.x + bar.width <= chart.width for bar in chart.bars)
    assert bar_chart([]).bars == []


def test_the_longest_bar_is_whole() -> None:
    assert shares([Decimal(30), Decimal(60), Decimal(0)]) == ["50", "100", "0"]
    assert shares([Decimal(0)]) == ["0"]
    assert shares([]) == []


def test_months_before_a_day() -> None:
    assert months_before(dt.date(2026, 5, 31), 3) == dt.date(2026, 2, 28)
    assert months_before(dt.date(2026, 2, 15), 12) == dt.date(2025, 2, 15)
    assert months_before(dt.date(2026, 1, 1), 1) == dt.date(2025, 12, 1)

"""What the lists, the reports and the search of the demo call things."""

import re
from urllib.parse import urlencode

import pytest

from admin.resources.registry import resources
from tests.admin.office import DEMO_STAFF, ROOT, Office
from tests.funnel.checkout.customer import Customer

pytestmark = pytest.mark.asyncio(loop_scope="session")
UUID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-")


def names(staff: Customer) -> list[str]:
    """The names of the rows of a list."""
    return [head.text for head in staff.page.all("th", scope="row")]


@pytest.mark.parametrize("who", DEMO_STAFF)
async def test_no_list_shows_what_only_programs_know(demo: Office, who: str) -> None:
    for resource in resources().values():
        staff = await demo.open(who, f"{ROOT}{resource.slug}/")
        if staff.response.status_code == 403:
            continue
        shown = " ".join(cell.text for cell in (*staff.page.all("td"), *staff.page.all("th")))
        assert not UUID.search(shown), resource.slug
        assert all(names(staff)), resource.slug


async def test_the_first_column_names_the_thing(demo: Office) -> None:
    number, first, last = (
        await demo.tenants.rows(
            "SELECT number, buyer_first_name, buyer_last_name FROM shop_order ORDER BY created_on DESC, id DESC LIMIT 1"
        )
    )[0]
    staff = await demo.open("master", f"{ROOT}orders/")
    assert names(staff)[0] == f"Order {number} · {first} {last}"
    assert staff.page.all("thead")[0].all("th")[1].text == "Order"
    staff = await demo.open("a", f"{ROOT}gift-cards/")
    assert all(re.fullmatch(r"Gift card •••• \w{4}", name) for name in names(staff))
    payouts = await demo.open("market a", f"{ROOT}payout-requests/")
    assert all(re.fullmatch(r"Payout \d+ · \w.+", name) for name in names(payouts))
    payouts = await demo.open("a", f"{ROOT}payout-requests/")
    assert all(re.fullmatch(r"Payout \d+", name) for name in names(payouts)), "there is only one partner"


async def test_a_settlement_statement_is_shown_whole(demo: Office) -> None:
    id = await demo.tenants.one("SELECT min(id) FROM marketplace")
    day = await demo.tenants.one("SELECT max(effective_on) FROM ledger_journal")
    query = urlencode({"from": f"{day.year}-01-01", "to": day.isoformat()})
    staff = await demo.open("market a", f"{ROOT}marketplaces/{id}/reports/settlement-statement/?{query}")
    assert staff.response.status_code == 200
    headings = [heading.text for heading in staff.page.all("h2")]
    assert headings[:2] == ["Currencies", "Products"]
    assert "Partners" in headings
    assert [field.attributes["name"] for field in staff.page.one("main").all("input")] == ["from", "to"]
    assert "Marketplace" not in [term.text for term in staff.page.one("main").all("dt")], "its number"


async def test_results_tell_what_they_are(demo: Office) -> None:
    number, last, id = (
        await demo.tenants.rows("SELECT number, buyer_last_name, id FROM shop_order ORDER BY id LIMIT 1")
    )[0]
    for words in (last, str(number)):
        staff = await demo.open("master", f"{ROOT}search/?{urlencode({'q': words})}")
        links = {link.attributes["href"]: link for link in staff.page.one("main").all("a")}
        result = links[f"{ROOT}orders/{id}/"]
        assert result.text.startswith(f"Order {number} · ")
        line = result.inside("li")
        assert line is not None
        assert "Paid" in line.one("p").text
        assert "€" in line.one("p").text
    assert any(href.startswith(f"{ROOT}orders/?number=") for href in links), "all of them in the list"


async def test_a_search_without_words_has_the_newest(demo: Office) -> None:
    staff = await demo.open("a", f"{ROOT}search/")
    assert [heading.text for heading in staff.page.all("h2")] == ["Orders", "Vouchers", "Gift cards", "Payments"]
    assert 0 < len(staff.page.all("ul", class_="found")[0].all("a")) <= 5
    assert "Ctrl+K" in staff.page.one("p", class_="about").text
    staff = await demo.open("a", f"{ROOT}search/?q=x")
    assert staff.page.all("h2") == []
    assert "at least two characters" in staff.page.one("p", class_="about").text
    staff = await demo.open("a", f"{ROOT}search/?q=nobodyhasthisname")
    assert "Nothing was found" in staff.page.one("p", class_="about").text


async def test_a_report_begins_with_the_present_month(demo: Office) -> None:
    staff = await demo.open("a", f"{ROOT}orders/reports/sales-report/")
    assert staff.response.status_code == 200
    fields = {each.attributes["name"]: each.attributes["value"] for each in staff.page.one("main").all("input")}
    assert fields.keys() == {"from", "to"}
    assert fields["from"].endswith("-01")
    assert fields["from"] <= fields["to"]

"""Imports from CSV files: encodings and marks of Europe, what is wrong at which line, the same bytes, nothing by halves."""

import csv
import io
from decimal import Decimal
from typing import Any

import pytest

from admin.imports.columns import UnreadableCell, columns_of, form_of, match_header
from admin.imports.table import MOST_BYTES, UnreadableTable, read_table
from admin.resources.imports import CSV_IMPORTS
from schema.core.permission import Permission
from store.core.codes import generate_code
from tests.admin.office import ROOT, Office, change_form, errors, notices
from tests.fixtures.gift_card import adds_up, gift_card
from tests.fixtures.voucher import sell
from tests.funnel.checkout.customer import Customer
from tests.funnel.checkout.page import fields_of

CARDS = f"{ROOT}gift-cards/import/"
VOUCHERS = f"{ROOT}vouchers/import/"
HEADER = "code;value;remainingValue;expiresOn;gifteeDetails.firstName\n"
GOOD = f"{HEADER}OLD 1;100,00;60,00;31.12.2031;Zoë\nOLD 2;1.234,50 €;;;\n"


async def upload(staff: Customer, url: str, content: bytes | str, **more: str) -> Customer:
    """Choose a file on the page of an import, and send it."""
    await staff.open(url)
    fields = {name: value for name, value in fields_of(change_form(staff), staff.page).items() if name != "file"} | more
    data = content.encode() if isinstance(content, str) else content
    answer = await staff.http.post(url, data=fields, files={"file": ("cards.csv", data, "text/csv")}, headers=ORIGIN)
    return await staff._follow(answer)


ORIGIN = {"Origin": "http://127.0.0.1:8000", "Sec-Fetch-Site": "same-origin"}


def form_fields(staff: Customer) -> dict[str, str]:
    """What the form on the page sends, without its buttons."""
    return fields_of(change_form(staff), staff.page)


def problems(staff: Customer) -> dict[str, str]:
    """What is wrong, by the number of the line."""
    rows = [row for row in staff.page.one("main").all("tr") if row.all("li", class_="wrong")]
    return {row.one("th").text: " ".join(it.text for it in row.all("li", class_="wrong")) for row in rows}


def rows_of(staff: Customer) -> list[list[str]]:
    """The lines of the file as they are shown."""
    rows = staff.page.one("main").one("tbody").all("tr")
    return [[cell.text for cell in (*row.all("th"), *row.all("td"))] for row in rows]


async def test_lines_are_shown_in_the_language_of_the_reader(office: Office) -> None:
    staff = office.browser("a1")
    staff.http.headers["accept-language"] = "fr"
    await upload(staff, CARDS, f"{HEADER}OLD 1;1234,50;;morgen;\n")
    told = "Valable jusqu’au : Saisissez un jour et une heure, par exemple 24/12/2026, 18:30."
    money = "1 234,50 €"
    assert rows_of(staff) == [["2", "OLD 1", told, money, "–", "morgen", "–"]]


async def test_a_file_is_checked_then_imported_once(office: Office) -> None:
    tenants = office.tenants
    before = await tenants.snapshot()
    staff = await upload(office.browser("a1"), CARDS, GOOD)
    assert staff.response.status_code == 200
    assert notices(staff) == ["Nothing is wrong with the file. Nothing has been imported yet."]
    facts = [each.text for each in staff.page.one("dl", class_="facts").all("dd")]
    assert facts == ["2", "0", "€1,334.50", "€1,294.50"]
    assert rows_of(staff) == [
        ["2", "OLD 1", "–", "€100.00", "€60.00", "31 Dec 2031", "Zoë"],
        ["3", "OLD 2", "–", "€1,234.50", "–", "–", "–"],
    ]
    assert await tenants.snapshot() == before, "it was only checked"
    fields = form_fields(staff) | {"_step": "import"}
    for _ in range(2):
        await staff.post(CARDS, fields)
        assert notices(staff) == ["2 are imported."]
    rows = await tenants.rows(
        "SELECT code, status, value_amount, remaining_amount, giftee_first_name, expires_on FROM gift_card "
        "WHERE normal_code LIKE 'OLD%' ORDER BY code"
    )
    assert [tuple(row)[:5] for row in rows] == [
        ("OLD 1", "using", Decimal("100.00"), Decimal("60.00"), "Zoë"),
        ("OLD 2", "paid", Decimal("1234.50"), Decimal("1234.50"), None),
    ]
    assert rows[0].expires_on.isoformat() == "2031-12-31T22:59:59+00:00", "the whole day in the shop's time zone"
    await adds_up(tenants)


async def test_what_is_wrong_is_told_at_its_line(office: Office) -> None:
    tenants = office.tenants
    own = await gift_card(tenants)
    ours = generate_code()
    slip = ours[:-1] + ("2" if ours[-1] != "2" else "3")
    lines = [
        "OLD 1;10;;;",
        "",
        "OLD-1;10;;;",
        f"{own.code};10;;;",
        f"{slip};10;;;",
        "OLD 2;ten;;;",
        "OLD 3;10;11;;",
        "OLD 4;1.000;;;",
        "OLD 5;10;;32.12.2031;",
        "OLD 6;;;;",
        '"OLD\n7";10;;;',
        "OLD 8;10;;;",
    ]
    before = await tenants.snapshot()
    staff = await upload(office.browser("a1"), CARDS, HEADER + "\n".join(lines))
    assert staff.response.status_code == 400
    told = problems(staff)
    assert told.keys() == {"2", "4", "5", "6", "7", "8", "9", "10", "11", "12"}
    assert told["2"] == told["4"] == "Code: This code was sent more than once."
    assert told["5"] == "Code: A gift card with this code exists already."
    assert told["6"].startswith("Code: This looks like one of our codes")
    assert told["7"] == "Value: Enter a number."
    assert told["8"] == "Balance: No more can be left than its value."
    assert "1.000 could be one or a thousand" in told["9"]
    assert told["10"] == "Valid until: Enter a day and a time, such as 24/12/2026, 18:30."
    assert told["11"] == "Value: Fill this in."
    assert told["12"].startswith("Code: A code must not contain")
    assert [each for each in change_form(staff).all("button") if each.attributes.get("value") == "import"] == []
    fields = form_fields(staff)
    await staff.post(CARDS, fields | {"_step": "import"})
    assert (staff.response.status_code, problems(staff)) == (400, told), "what is wrong is not imported"
    answer = await staff.http.post(CARDS, data=fields | {"_step": "report"}, headers=ORIGIN)
    assert answer.headers["content-disposition"] == 'attachment; filename="gift-cards-report.csv"'
    report = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig")), delimiter=";"))
    assert len(report) == 12
    assert report[1] == ["2", "OLD 1", "Code", "This code was sent more than once."]
    assert report[-1] == ["14", "OLD 8", "", ""]
    assert await tenants.snapshot() == before


@pytest.mark.parametrize("start", ["=1+1", "@SUM(A1)", "+49 1", "-7 x"])
async def test_a_report_has_no_formulas(office: Office, start: str) -> None:
    staff = await upload(office.browser("a1"), CARDS, f"code,value\n{start},0\n")
    answer = await staff.http.post(CARDS, data=form_fields(staff) | {"_step": "report"}, headers=ORIGIN)
    report = list(csv.reader(io.StringIO(answer.content.decode("utf-8-sig")), delimiter=";"))
    assert report[1][1] == f"'{start}"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "The file has no lines below its header."),
        (b"code;value\n\n", "The file has no lines below its header."),
        (b"\x89PNG\r\n\x1a\n\x00\x00", "This is no CSV file"),
        (b"\xff\xfe\x00", "This is no CSV file"),
        (b'code;value\n"OLD 1;5\n', "A quotation mark has no end."),
        (b"code;value\n" + b"x" * MOST_BYTES, "A file may have at most 700 KiB."),
        (b"code;value\n" + b"".join(b"OLD %d;5\n" % number for number in range(1001)), "at most 1000 lines"),
    ],
)
async def test_what_is_no_table_is_refused(office: Office, content: bytes, words: str) -> None:
    before = await office.tenants.snapshot()
    staff = await upload(office.browser("a1"), CARDS, content)
    assert staff.response.status_code == 400
    assert words in staff.page.one("p", id="f-file-wrong").text
    assert await office.tenants.snapshot() == before


async def test_without_a_file_it_is_asked_for(office: Office) -> None:
    staff = await office.open("a1", CARDS)
    await staff.post(CARDS, {"csrf": form_fields(staff)["csrf"]})
    assert (staff.response.status_code, staff.page.one("p", id="f-file-wrong").text) == (400, "Choose a file.")


async def test_columns_that_are_not_recognised_are_chosen(office: Office) -> None:
    staff = await upload(office.browser("a1"), CARDS, "Gutschein,Betrag,Notiz\nOLD 1,25.00,x\n")
    assert staff.response.status_code == 400
    assert [each.attributes["name"] for each in change_form(staff).all("select")] == [f"_column.{n}" for n in range(3)]
    assert "No column has: Code, Value" in notices(staff)
    fields = form_fields(staff)
    await staff.post(CARDS, fields | {"_column.0": "code", "_column.1": "code", "_column.2": ""})
    assert "Two columns have the same field." in notices(staff)
    await staff.post(CARDS, fields | {"_column.0": "code", "_column.1": "value", "_column.2": ""})
    assert staff.response.status_code == 200
    await staff.post(CARDS, form_fields(staff) | {"_step": "import"})
    assert notices(staff) == ["1 is imported."]
    assert (await office.tenants.newest("gift_card"))["value_amount"] == 25


async def test_a_code_of_somebody_else_is_not_told(office: Office) -> None:
    theirs = await gift_card(office.tenants, "b1")
    staff = await upload(office.browser("a1"), CARDS, f"code;value\n{theirs.code};5\nOLD 1;5\n")
    assert (staff.response.status_code, problems(staff)) == (200, {}), "before it is imported"
    await staff.post(CARDS, form_fields(staff) | {"_step": "import"})
    assert (staff.response.status_code, problems(staff)) == (400, {})
    assert any("one or more of these codes exist already" in each for each in notices(staff))


async def test_a_marketplace_says_for_which_partner(office: Office) -> None:
    browser = office.browser("market a")
    staff = await upload(browser, CARDS, GOOD)
    assert (staff.response.status_code, list(errors(staff))) == (400, ["partnerUuid"])
    of = {"partnerUuid": str(office.tenants.partners["a2"].uuid)}
    await staff.post(CARDS, form_fields(staff) | of)
    assert staff.response.status_code == 200
    await staff.post(CARDS, form_fields(staff) | {"_step": "import"})
    assert notices(staff) == ["2 are imported."]
    assert (await office.tenants.newest("gift_card"))["partner_id"] == office.tenants.partners["a2"].id
    stranger = {"partnerUuid": str(office.tenants.partners["b1"].uuid)}
    staff = await upload(browser, CARDS, "code;value\nOTHER 1;5\n", **stranger)
    assert (staff.response.status_code, list(errors(staff))) == (400, ["partnerUuid"])


async def test_vouchers_are_imported(office: Office) -> None:
    sold = await sell(office.tenants, "a1")
    head = "code;voucherPrototypeId;importedFrom;totalPrice;state;usedOn;createdOn;prototypeName.fr\n"
    lines = f"OLD 1;{sold.stay.id};Old shop;199,00;used;02/01/2025 10:30;01/01/2025;Nuit\nOLD 2;{sold.stay.id};Old shop;9;;;;\n"
    staff = await upload(office.browser("a1"), VOUCHERS, head + lines)
    assert (staff.response.status_code, problems(staff)) == (200, {})
    await staff.post(VOUCHERS, form_fields(staff) | {"_step": "import"})
    assert notices(staff) == ["2 are imported."]
    rows = await office.tenants.rows("SELECT state, kind, used_on, prototype_name FROM voucher ORDER BY code")
    assert [(row.state, row.kind) for row in rows] == [("used", "imported"), ("paid", "imported")]
    assert rows[0].used_on.isoformat() == "2025-01-02T09:30:00+00:00"
    assert rows[0].prototype_name == {"fr": "Nuit"}
    staff = await upload(office.browser("a1"), VOUCHERS, f"{head}OLD 3;0;;9;gone;;;\n")
    assert staff.response.status_code == 400


async def test_only_who_may_import_sees_the_page(office: Office) -> None:
    tenants = office.tenants
    await tenants.user("reader", "partner", [Permission.VIEW_GIFT_CARD], partner_id=tenants.partners["a1"].id)
    staff = await office.open("reader", f"{ROOT}gift-cards/")
    assert [a for a in staff.page.all("a") if a.attributes["href"] == CARDS] == []
    csrf = await office.csrf("reader")
    assert (await office.open("reader", CARDS)).response.status_code == 403
    assert (await office.open("reader", f"{CARDS}template/")).response.status_code == 403
    before = await tenants.snapshot()
    staff = await office.browser("reader").post(CARDS, {"csrf": csrf, "_content": "Y29kZQ==", "_step": "import"})
    assert staff.response.status_code == 403
    assert (await office.open("a1", f"{ROOT}orders/import/")).response.status_code == 404
    staff = await office.open("a1", f"{ROOT}gift-cards/")
    assert [a.text for a in staff.page.all("a") if a.attributes["href"] == CARDS] == ["Import from CSV"]
    assert await tenants.snapshot() == before


@pytest.mark.parametrize("content", ["no base64 at all!", "Zm9v!"])
async def test_bytes_that_were_changed_are_refused(office: Office, content: str) -> None:
    csrf = await office.csrf("a1")
    staff = await office.browser("a1").post(CARDS, {"csrf": csrf, "_content": content})
    assert staff.response.status_code == 400


@pytest.mark.parametrize("slug", CSV_IMPORTS)
async def test_the_template_is_a_file_of_its_import(office: Office, slug: str) -> None:
    of = CSV_IMPORTS[slug]
    answer = await office.browser("a1").http.get(f"{ROOT}{slug}/import/template/")
    table = read_table(answer.content)
    columns = columns_of(of.item)
    assert set(match_header(table.header, columns, str).values()) == {column.name for column in columns}
    assert of.example.keys() <= {column.name for column in columns}
    assert {column.name for column in columns if column.is_required} <= of.example.keys()
    assert {name for names in of.sums for name in names} <= {column.name for column in columns}


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("code;giftee\nA1;Zoë", "Zoë"),
        ("\ufeffcode,giftee\r\nA1,Zoë\r\n", "Zoë"),
        ("code\tgiftee\nA1\tZoë", "Zoë"),
        ('"co;de",giftee,x,y\nA1,"Zoë, Ada"', "Zoë, Ada"),
    ],
)
@pytest.mark.parametrize("encoding", ["utf-8", "cp1252", "utf-16"])
def test_tables_of_spreadsheets_are_read(content: str, name: str, encoding: str) -> None:
    text = content.removeprefix("\ufeff") if encoding != "utf-8" else content
    table = read_table(text.encode(encoding))
    assert (table.lines[0].number, table.lines[0].cells[:2]) == (2, ["A1", name])


@pytest.mark.parametrize(
    ("cell", "amount"),
    [
        ("100", "100"),
        ("1.234,50", "1234.50"),
        ("1,234.50", "1234.50"),
        ("1 234,5", "1234.5"),
        ("1'234.50 CHF", "1234.50"),
        ("12,5 €", "12.5"),
    ],
)
def test_amounts_of_europe_are_read(cell: str, amount: str) -> None:
    columns = {column.name: column for column in columns_of(CSV_IMPORTS["gift-cards"].item)}
    assert form_of([cell], {0: "value"}, columns) == ({"value": amount}, {})


def test_what_could_be_one_or_a_thousand_is_not_guessed() -> None:
    columns = {column.name: column for column in columns_of(CSV_IMPORTS["gift-cards"].item)}
    for cell in ("1.000", "1,000", "12.345 €"):
        assert form_of([cell], {0: "value"}, columns)[1].keys() == {"value"}, cell
    assert issubclass(UnreadableCell, ValueError)
    assert issubclass(UnreadableTable, ValueError)


def test_a_header_may_have_labels() -> None:
    columns = columns_of(CSV_IMPORTS["gift-cards"].item)
    found: dict[int, Any] = dict(
        match_header(["CODE", "Remaining value", "giftee details first name", "?"], columns, str)
    )
    assert found == {0: "code", 1: "remainingValue", 2: "gifteeDetails.firstName"}

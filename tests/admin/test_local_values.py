"""Days, times and numbers as people write them."""

import datetime as dt
from collections.abc import Callable

import pytest

from admin.forms.local_values import parse_day, parse_decimal, parse_moment
from admin.forms.typed import Typed
from admin.graph.schema_types import input_of
from store.core.localization.formats import Formats
from tests.admin.office import ROOT, Office, notices, send, typed


def is_refused(parse: Callable[[str], object], text: str) -> bool:
    """Whether a text cannot be read."""
    try:
        parse(text)
    except ValueError:
        return True
    return False


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("12.50", "12.50"),
        ("12,50", "12.50"),
        ("1234,5", "1234.5"),
        ("1.234,50", "1234.50"),
        ("1,234.50", "1234.50"),
        ("1 234,50", "1234.50"),
        ("1\N{NARROW NO-BREAK SPACE}234\N{NO-BREAK SPACE}567,5", "1234567.5"),
        ("1'234.50", "1234.50"),
        ("1.234.567", "1234567"),
        ("-1.234,5", "-1234.5"),
        ("1.234", "1.234"),
        ("1,234", "1.234"),
    ],
)
def test_a_number_may_have_a_comma_and_marks_between_thousands(text: str, number: str) -> None:
    assert parse_decimal(text) == number


@pytest.mark.parametrize(
    "text",
    ["", "ten", "1.2.3", "12.34,5", "1,23,456", "1 23", "1.234,5,6", "1e3", "1٣", "1 234 5", ".", "1.", "--1", "12 €x"],
)
def test_what_is_no_number_is_refused(text: str) -> None:
    assert is_refused(parse_decimal, text)


def test_a_day_may_begin_with_the_day() -> None:
    day = dt.date(2026, 12, 4)
    assert [parse_day(text) for text in ("2026-12-04", "4.12.2026", "04/12/2026", "4-12-2026")] == [day] * 4
    moment = dt.datetime(2026, 12, 4, 8, 30)  # noqa: DTZ001 - local times have no zone yet
    texts = ("2026-12-04T08:30", "4.12.2026, 8:30", "04/12/2026 08h30", "4.12.2026 8.30")
    assert [parse_moment(text) for text in texts] == [moment] * 4


@pytest.mark.parametrize("text", ["", "tomorrow", "31.02.2026", "12/31/2026", "4.12.26", "4.12", "٤.12.2026"])
def test_what_is_no_day_is_refused(text: str) -> None:
    assert is_refused(parse_day, text)


@pytest.mark.parametrize("text", ["4.12.2026", "4.12.2026 25:00", "4.12.2026 8", "31.02.2026 8:00"])
def test_what_is_no_time_is_refused(text: str) -> None:
    read = Typed({"startsOn": text}, "UTC")
    assert "startsOn" not in read.read(input_of("createCoupon"), {})
    assert ("startsOn", "Enter a day and a time, such as 24/12/2026, 18:30.") in read.problems


def test_decimals_are_written_as_in_the_language() -> None:
    marks = {language: Formats(language).decimal_mark for language in ("en", "fr", "es", "it", "de", "nl", "ca", "pt")}
    assert marks == dict.fromkeys(marks, ",") | {"en": "."}


async def test_a_form_in_german_has_and_takes_commas(office: Office) -> None:
    office.browser("a1").http.headers["accept-language"] = "de"
    form = f"{ROOT}coupons/{office.tenants.owned['a1'].coupon}/update-coupon/"
    id = office.tenants.owned["a1"].coupon
    await office.tenants.execute("UPDATE coupon SET discount_percentage = 12.5 WHERE id = :id", id=id)
    before = await office.tenants.row("coupon", id)
    staff = await office.open("a1", form)
    assert typed(staff)["discount.percentage"] == "12,50"
    await send(staff)
    assert await office.tenants.row("coupon", id) == before, "what was not touched is not sent"
    await office.open("a1", form)
    await send(staff, discount__percentage="7,25", endsOn="24.12.2030 18:30")
    assert len(notices(staff)) == 1
    changed = await office.tenants.row("coupon", id)
    assert changed["discount_percentage"] == 7.25
    assert dt.datetime.fromisoformat(str(changed["ends_on"])) == dt.datetime(2030, 12, 24, 17, 30, tzinfo=dt.UTC)
    await office.open("a1", form)
    await send(staff, discount__percentage="7,2,5")
    assert staff.response.status_code == 400
    assert typed(staff)["discount.percentage"] == "7,2,5", "as it was typed"

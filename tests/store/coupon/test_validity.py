"""What a coupon's validity says."""

import datetime as dt
from zoneinfo import ZoneInfo

import pytest

from store.coupon.validity import validity_end

PARIS = ZoneInfo("Europe/Paris")
NOW = dt.datetime(2026, 11, 21, 12, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("written", "end"),
    [
        ("6", "2027-05-21T23:59:59+02:00"),
        ("18", "2028-05-21T23:59:59+02:00"),
        ("P1Y6M", "2028-05-21T23:59:59+02:00"),
        ("P90D", "2027-02-19T23:59:59+01:00"),
        ("2027-06-30", "2027-06-30T23:59:59+02:00"),
    ],
)
def test_a_validity_ends_with_a_day_at_the_marketplace(written: str, end: str) -> None:
    assert validity_end(written, NOW, PARIS) == dt.datetime.fromisoformat(end)


@pytest.mark.parametrize("written", ["", "0", "P", "P0D", "soon", "2027-02-30", "-6", "1.5", "P1W", "99999"])
def test_what_says_no_validity_changes_nothing(written: str) -> None:
    assert validity_end(written, NOW, PARIS) is None


def test_a_last_day_that_is_over_changes_nothing() -> None:
    assert validity_end("2026-11-20", NOW, PARIS) is None
    assert validity_end("2026-11-21", NOW, PARIS) is not None


def test_a_last_day_that_ends_after_all_years_changes_nothing() -> None:
    assert validity_end("9999-12-31", NOW, ZoneInfo("America/New_York")) is None
    assert validity_end("9999-12-31", NOW, PARIS) is None  # in Apia that is another year

"""A simulation begins on the same day of the week and of the year, whenever it is run."""

import datetime as dt

import pytest

from coffret.simulation.run import first_day


@pytest.mark.parametrize(
    ("now", "first"),
    [
        (dt.datetime(2026, 11, 27, 13, 5, tzinfo=dt.UTC), 2029),
        (dt.datetime(2028, 12, 31, 23, 59, tzinfo=dt.UTC), 2029),
        (dt.datetime(2029, 1, 1, tzinfo=dt.UTC), 2035),
    ],
)
def test_it_begins_on_the_next_monday_that_is_the_first_of_a_common_year(now: dt.datetime, first: int) -> None:
    assert first_day(now) == dt.datetime(first, 1, 1, tzinfo=dt.UTC)

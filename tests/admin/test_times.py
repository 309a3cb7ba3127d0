"""Times on pages: those of the hour that the clocks repeat in autumn differ."""

import pytest

from admin.core.values import Reader
from store.core.localization.formats import Formats


@pytest.mark.parametrize(
    ("written", "zone", "shown"),
    [
        ("2026-10-25T00:30:00+00:00", "Europe/Paris", "25 October 2026, 02:30 (UTC+02:00)"),
        ("2026-10-25T01:30:00+00:00", "Europe/Paris", "25 October 2026, 02:30 (UTC+01:00)"),
        ("2026-10-24T23:59:00+00:00", "Europe/Paris", "25 October 2026, 01:59"),
        ("2026-10-25T02:00:00+00:00", "Europe/Paris", "25 October 2026, 03:00"),
        ("2026-03-29T01:30:00+00:00", "Europe/Paris", "29 March 2026, 03:30"),
        ("2026-10-25T01:30:00+00:00", "UTC", "25 October 2026, 01:30"),
        ("2026-11-01T06:30:00+00:00", "America/New_York", "1 November 2026, 01:30 (UTC-05:00)"),
    ],
)
def test_a_time_that_there_is_twice_has_its_offset(written: str, zone: str, shown: str) -> None:
    assert Reader(Formats("en"), zone, str).moment(written) == shown

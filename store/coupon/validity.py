"""The validity that a coupon gives to what is bought."""

import datetime as dt
import re
from zoneinfo import ZoneInfo

from store.voucher.activation import end_of_day, end_of_validity

MONTHS = re.compile(r"\d{1,3}")
PERIOD = re.compile(r"P(?=\d)(?:(\d{1,2})Y)?(?:(\d{1,3})M)?(?:(\d{1,4})D)?")
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def validity_end(text: str, now: dt.datetime, zone: ZoneInfo) -> dt.datetime | None:
    """The last second of what is sold now with this validity, in a marketplace's zone: months (`18`), an ISO 8601 period
    (`P1Y6M`, `P90D`), or a last day (`2027-06-30`).

    None for a text that says none, and for a last day that is over.
    """
    if MONTHS.fullmatch(text) and int(text):
        return end_of_validity(now, int(text), zone)
    if found := PERIOD.fullmatch(text):
        years, months, days = (int(part or 0) for part in found.groups())
        end = end_of_validity(now, 12 * years + months, zone)
        return end_of_day(end.astimezone(zone).date() + dt.timedelta(days), zone) if years + months + days else None
    if DAY.fullmatch(text):
        try:
            end = end_of_day(dt.date.fromisoformat(text), zone)
        except (ValueError, OverflowError):  # no such day, or one whose end is past the last year there is
            return None
        return end if end > now and end.year < dt.MAXYEAR else None
    return None

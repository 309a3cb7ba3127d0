"""The validity period that a coupon sets for purchased vouchers and gift cards."""

import datetime as dt
import re
from zoneinfo import ZoneInfo

from store.voucher.payment import end_of_day, end_of_validity

MONTHS_PATTERN = re.compile(r"\d{1,3}")
PERIOD_PATTERN = re.compile(r"P(?=\d)(?:(\d{1,2})Y)?(?:(\d{1,3})M)?(?:(\d{1,4})D)?")
DAY_PATTERN = re.compile(r"\d{4}-\d{2}-\d{2}")


def validity_end(text: str, now: dt.datetime, zone: ZoneInfo) -> dt.datetime | None:
    """The end of validity for a purchase made now, in the marketplace's time zone.

    `text` is a number of months (`18`), an ISO 8601 period (`P1Y6M`, `P90D`) or a last day (`2027-06-30`). Returns None
    for any other text and for a last day in the past.
    """
    if MONTHS_PATTERN.fullmatch(text) and int(text):
        return end_of_validity(now, int(text), zone)
    if match := PERIOD_PATTERN.fullmatch(text):
        years, months, days = (int(part or 0) for part in match.groups())
        end = end_of_validity(now, 12 * years + months, zone)
        return end_of_day(end.astimezone(zone).date() + dt.timedelta(days), zone) if years + months + days else None
    if DAY_PATTERN.fullmatch(text):
        try:
            end = end_of_day(dt.date.fromisoformat(text), zone)
        except (ValueError, OverflowError):  # an invalid day, or one whose end is after the last supported year
            return None
        return end if end > now and end.year < dt.MAXYEAR else None
    return None

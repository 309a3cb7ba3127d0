"""The validity that a coupon gives to what is bought."""

import datetime as dt
import re
from zoneinfo import ZoneInfo

from store.voucher_sales import end_of_day, end_of_validity

MONTHS = re.compile(r"(\d{1,3})(?:\s*(?:m|months?|mois))?", re.IGNORECASE)
PERIOD = re.compile(r"P(?=\d)(?:(\d{1,2})Y)?(?:(\d{1,3})M)?(?:(\d{1,4})D)?", re.IGNORECASE)
DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


def is_validity(text: str) -> bool:
    """Whether a text says a validity: months (`18`), an ISO 8601 period (`P1Y6M`, `P90D`), or a last day (`2027-06-30`)."""
    return validity_end(text, dt.datetime(1970, 1, 1, tzinfo=dt.UTC), ZoneInfo("UTC")) is not None


def validity_end(text: str, now: dt.datetime, zone: ZoneInfo) -> dt.datetime | None:
    """The last second of what is sold now with this validity, in a marketplace's zone.

    None for a text that says none, and for a last day that is over.
    """
    text = text.strip()
    if (found := MONTHS.fullmatch(text)) and int(found[1]):
        return end_of_validity(now, int(found[1]), zone)
    if found := PERIOD.fullmatch(text):
        years, months, days = (int(part or 0) for part in found.groups())
        end = end_of_validity(now, 12 * years + months, zone)
        return end_of_day(end.astimezone(zone).date() + dt.timedelta(days), zone) if years + months + days else None
    if DAY.fullmatch(text):
        try:
            end = end_of_day(dt.date.fromisoformat(text), zone)
        except ValueError:
            return None
        return end if end > now else None
    return None

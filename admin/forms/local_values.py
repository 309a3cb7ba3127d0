"""Days, times and numbers as people write them: `24.12.2026`, `1 234,50`. In our languages the day comes first."""

import datetime as dt
import re

DAY = re.compile(r"(\d{1,2})[./-](\d{1,2})[./-](\d{4})", re.ASCII)
MOMENT = re.compile(r"(\S+?)(?:T|,? +)(\d{1,2}[:h.]\d{2}(?::\d{2}(?:\.\d+)?)?)", re.ASCII)
"""A day, and a time behind it."""
SPACES = re.compile("[ \N{NO-BREAK SPACE}\N{NARROW NO-BREAK SPACE}'’]")
"""What stands between thousands, besides points and commas."""
DECIMAL = re.compile(r"[+-]?\d{1,15}([.,]\d{1,10})?", re.ASCII)
GROUPED = re.compile(r"[+-]?\d{1,3}(?P<mark>[.,])\d{3}(?:(?P=mark)\d{3})*(?:(?!(?P=mark))[.,]\d{1,10})?", re.ASCII)
"""A number with marks between its thousands: more than one mark, or one before another."""
SPACED = re.compile(r"[+-]?\d{1,3}( \d{3})+([.,]\d{1,10})?", re.ASCII)


def parse_day(text: str) -> dt.date:
    """A day: `24.12.2026`, `24/12/2026`, `24-12-2026` or `2026-12-24`. Raises ValueError for any other text."""
    written = DAY.fullmatch(text)
    if written is None:
        return dt.date.fromisoformat(text)
    day, month, year = (int(part) for part in written.groups())
    return dt.date(year, month, day)


def parse_moment(text: str) -> dt.datetime:
    """A day and a time: `24.12.2026, 18:30` or `2026-12-24T18:30`. Raises ValueError for any other text."""
    written = MOMENT.fullmatch(text)
    if written is None or DAY.fullmatch(written[1]) is None:
        return dt.datetime.fromisoformat(text)
    time = re.sub("[h.]", ":", written[2], count=1)
    return dt.datetime.combine(parse_day(written[1]), dt.time.fromisoformat(time.zfill(5)))


def parse_decimal(text: str) -> str:
    """A number with a point: of `1.234,50`, `1,234.50`, `1 234,50` or `1234,50`. Raises ValueError for any other text.

    A single mark is that of the decimals: `1.234` has three of them.
    """
    plain = SPACES.sub(" ", text)
    if SPACED.fullmatch(plain):
        plain = plain.replace(" ", "")
    grouped = GROUPED.fullmatch(plain)
    if grouped and (plain.count(grouped["mark"]) > 1 or {".", ","} <= set(plain)):
        plain = plain.replace(grouped["mark"], "")
    if not DECIMAL.fullmatch(plain):
        raise ValueError(text)
    return plain.replace(",", ".")

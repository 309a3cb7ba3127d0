"""Rates of requests or attempts, as the settings write them."""

import datetime as dt
import re
from functools import lru_cache
from typing import NamedTuple

OFF = "off"
UNITS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "month": 30 * 86_400, "year": 360 * 86_400}
"""The seconds of each unit."""
_RATE = re.compile(rf"(\d+)\s*(?:/|per)\s*(\d*)\s*({'|'.join(UNITS)})s?", re.ASCII | re.IGNORECASE)


class Rate(NamedTuple):
    """An amount in each window."""

    amount: int
    seconds: int

    @property
    def window(self) -> dt.timedelta:
        return dt.timedelta(seconds=self.seconds)


@lru_cache(maxsize=64)
def rate_of(text: str) -> Rate | None:
    """Parse a rate: `600/minute`, `20 per hour`, `5 per 10 minutes`; None for `off`. Raises ValueError."""
    if text == OFF:
        return None
    written = _RATE.fullmatch(text.strip())
    if written is None or int(written[1]) < 1:
        raise ValueError("Write a rate such as 600/minute or 5 per 10 minutes, or off.")
    return Rate(int(written[1]), (int(written[2] or 0) or 1) * UNITS[written[3].lower()])

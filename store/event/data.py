"""How amounts and times are written in the data of events."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import overload


def told_money(amount: Decimal, currency: str) -> Mapping[str, str]:
    """`{"amount": "12.50", "currency": "EUR"}`"""
    return {"amount": str(amount), "currency": currency}


@overload
def told_moment(value: dt.datetime) -> str: ...
@overload
def told_moment(value: None) -> None: ...
def told_moment(value: dt.datetime | None) -> str | None:
    """ISO 8601 in UTC, with microseconds; null where there is none."""
    return None if value is None else value.astimezone(dt.UTC).isoformat(timespec="microseconds")[:26] + "Z"

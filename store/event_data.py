"""How amounts and times are written in the data of events."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal


def told_money(amount: Decimal, currency: str) -> Mapping[str, str]:
    """`{"amount": "12.50", "currency": "EUR"}`"""
    return {"amount": str(amount), "currency": currency}


def told_moment(value: dt.datetime) -> str:
    """ISO 8601 in UTC, with microseconds."""
    return value.astimezone(dt.UTC).isoformat(timespec="microseconds")[:26] + "Z"

"""The format of amounts and times in the data of events."""

import datetime as dt
from collections.abc import Mapping
from decimal import Decimal
from typing import overload


def money_data(amount: Decimal, currency: str) -> Mapping[str, str]:
    """`{"amount": "12.50", "currency": "EUR"}`"""
    return {"amount": str(amount), "currency": currency}


@overload
def datetime_data(value: dt.datetime) -> str: ...
@overload
def datetime_data(value: None) -> None: ...
def datetime_data(value: dt.datetime | None) -> str | None:
    """ISO 8601 in UTC, with microseconds; null for None."""
    return None if value is None else value.astimezone(dt.UTC).isoformat(timespec="microseconds")[:26] + "Z"

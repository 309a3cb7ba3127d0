"""Dates as inputs: written out, never as seconds since 1970."""

import datetime as dt
import re
from typing import Annotated, Any

from pydantic import AfterValidator, BeforeValidator
from pydantic_core import PydanticCustomError

from schema.validation.contact import EmptyToNone

FIRST_YEAR, LAST_YEAR = 1000, 9998
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}", re.ASCII)


def _require_written_date(value: Any) -> Any:
    """Reject numbers and digits, which pydantic reads as seconds since 1970: `"86400"` as 2 January 1970."""
    if value is None or isinstance(value, dt.date) or (isinstance(value, str) and _DAY.match(value)):
        return value
    raise PydanticCustomError("day", "Send a date, such as 2030-12-31.")


Day = Annotated[dt.date, BeforeValidator(_require_written_date)]
"""A date: `2030-12-31`, or its midnight as returned by the API, `2030-12-31T00:00:00.000000Z`."""
OptionalDay = Annotated[Day | None, EmptyToNone]
"""A date; null and `""` mean none."""


def _require_written_time(value: Any) -> Any:
    """Reject numbers and digits too, and times that have no century."""
    if value is None or isinstance(value, dt.datetime) or (isinstance(value, str) and _DAY.match(value)):
        return value
    raise PydanticCustomError("moment", "Send a time, such as 2030-12-31T12:00:00Z.")


def _require_calendar_year(moment: dt.datetime) -> dt.datetime:
    """Reject times that have no counterpart in every time zone, as GraphQL does."""
    if not FIRST_YEAR <= moment.year <= LAST_YEAR:
        raise PydanticCustomError("moment", "Send a time of the years 1000 to 9998.")
    return moment


Moment = Annotated[dt.datetime, BeforeValidator(_require_written_time), AfterValidator(_require_calendar_year)]
"""A time, or a date for its beginning. Without an offset it is in the marketplace's time zone: see `moment_in`."""


def _to_end_of_day(value: Any) -> Any:
    """The last second of a date that was sent without a time."""
    return f"{value}T23:59:59" if isinstance(value, str) and _DAY.fullmatch(value) else value


LastMoment = Annotated[Moment, BeforeValidator(_to_end_of_day)]
"""A time until which something lasts, or a date, which it includes. Without an offset as `Moment`."""


def moment_in(zone: dt.tzinfo, moment: dt.datetime | None) -> dt.datetime | None:
    """A time that was sent, in UTC. One without an offset is in this zone."""
    if moment is None:
        return None
    return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(dt.UTC)

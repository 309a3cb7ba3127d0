"""The scalars of the schema, each with strict parsing and one output format."""

import datetime as dt
import decimal
import math
import re
import uuid
from collections.abc import Callable, Mapping
from typing import Any

import orjson
from strawberry.exceptions import StrawberryInputCoercionError
from strawberry.types.scalar import ScalarDefinition

from schema.validation.numbers import DECIMAL

LARGEST_EXPONENT = 40
YEARS = range(1000, 9999)
"""Accepted years of a time. Some times in the years 1 and 9999 do not exist in some time zones and cannot be displayed.
"""
SPECIFICATIONS: Mapping[str, str] = {
    "UUID": "https://www.rfc-editor.org/rfc/rfc9562",
    "DateTime": "https://www.rfc-editor.org/rfc/rfc3339",
    "Date": "https://www.rfc-editor.org/rfc/rfc3339",
    "LocalTime": "https://www.rfc-editor.org/rfc/rfc3339",
    "Decimal": "https://speleotrove.com/decimal/daconvs.html",
}
UPLOAD_SPECIFICATION = "https://github.com/jaydenseric/graphql-multipart-request-spec"
"""Specification of `Upload`, a scalar of Strawberry."""
_UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)
_TIME = re.compile(r"\d\d:\d\d(:\d\d)?", re.ASCII)


def format_datetime(value: dt.datetime) -> str:
    """A point in time in the output format: `2026-11-21T04:45:32.000000Z`."""
    if value.tzinfo is not dt.UTC:
        value = value.astimezone(dt.UTC)
    written = orjson.dumps(value, option=orjson.OPT_UTC_Z)  # four times as fast as isoformat
    return written[1:-1].decode() if value.microsecond else written[1:20].decode() + ".000000Z"


def require_finite(value: float) -> float:
    """The number, if JSON can represent it. Raises OverflowError for the others."""
    if not math.isfinite(value):
        raise OverflowError(value)
    return value


def _parse_datetime(value: object) -> dt.datetime:
    if isinstance(value, str) and len(value) > len("2026-11-21"):
        try:
            read = dt.datetime.fromisoformat(value)
            if read.utcoffset() is not None and read.year in YEARS:
                return read.astimezone(dt.UTC)
        except (ValueError, OverflowError):
            pass
    wanted = f"a time of the years {YEARS[0]} to {YEARS[-1]} with its offset from UTC, such as 2026-11-21T04:45:32Z"
    raise _coercion_error("DateTime", wanted)


def _parse_date(value: object) -> dt.date:
    if isinstance(value, str) and _DATE.fullmatch(value):
        try:
            return dt.date.fromisoformat(value)
        except ValueError:
            pass
    raise _coercion_error("Date", "a date, such as 2026-11-21")


def _parse_time(value: object) -> dt.time:
    if isinstance(value, str) and _TIME.fullmatch(value):
        try:
            return dt.time.fromisoformat(value)
        except ValueError:
            pass
    raise _coercion_error("LocalTime", "a time of a day without an offset, such as 18:30")


def _parse_uuid(value: object) -> uuid.UUID:
    if isinstance(value, str) and _UUID.fullmatch(value):
        return uuid.UUID(value)
    raise _coercion_error("UUID", "a UUID, such as 123e4567-e89b-42d3-a456-426614174000")


def _parse_decimal(value: object) -> decimal.Decimal:
    """A JSON number has the value that it prints. The field itself limits the number of decimals."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        text = str(value).strip()
        if DECIMAL.fullmatch(text) and abs((read := decimal.Decimal(text)).adjusted()) <= LARGEST_EXPONENT:
            return read
    raise _coercion_error("Decimal", 'a decimal number, such as "12.50"')


def _coercion_error(name: str, expected: str) -> StrawberryInputCoercionError:
    return StrawberryInputCoercionError(f"{name} cannot be read: send {expected}.")


def _scalar(
    name: str, description: str, serialize: Callable[[Any], Any], parse: Callable[[object], Any], origin: type
) -> ScalarDefinition:
    return ScalarDefinition(name, description, SPECIFICATIONS[name], serialize, parse, None, origin=origin)


SCALARS: Mapping[object, ScalarDefinition] = {
    uuid.UUID: _scalar("UUID", "A UUID, 36 characters.", str, _parse_uuid, uuid.UUID),
    dt.datetime: _scalar(
        "DateTime",
        "A point in time. Output is in UTC with microseconds: `2026-11-21T04:45:32.000000Z`. "
        f"Input may have any offset from UTC, in the years {YEARS[0]} to {YEARS[-1]}.",
        format_datetime,
        _parse_datetime,
        dt.datetime,
    ),
    dt.date: _scalar("Date", "A date: `2026-11-21`.", dt.date.isoformat, _parse_date, dt.date),
    dt.time: _scalar(
        "LocalTime", "A time of a day, without an offset: `18:30`.", dt.time.isoformat, _parse_time, dt.time
    ),
    decimal.Decimal: _scalar(
        "Decimal",
        'An exact decimal number. Output is a string: `"12.50"`. Input may be a string or a number.',
        str,
        _parse_decimal,
        decimal.Decimal,
    ),
}

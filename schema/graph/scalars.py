"""The scalars of the schema, read strictly and written in one way."""

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
"""Of a time that is sent. In the years 1 and 9999 there are times that some zones cannot tell: kept, they break what shows them."""
SPECIFICATIONS: Mapping[str, str] = {
    "UUID": "https://www.rfc-editor.org/rfc/rfc9562",
    "DateTime": "https://www.rfc-editor.org/rfc/rfc3339",
    "Date": "https://www.rfc-editor.org/rfc/rfc3339",
    "Decimal": "https://speleotrove.com/decimal/daconvs.html",
}
UPLOADS = "https://github.com/jaydenseric/graphql-multipart-request-spec"
"""What specifies `Upload`, a scalar of Strawberry's own."""
_UUID = re.compile(r"[0-9a-f]{8}-?(?:[0-9a-f]{4}-?){3}[0-9a-f]{12}", re.IGNORECASE)
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)


def moment(value: dt.datetime) -> str:
    """A point in time as it is answered: `2026-11-21T04:45:32.000000Z`."""
    if value.tzinfo is not dt.UTC:
        value = value.astimezone(dt.UTC)
    written = orjson.dumps(value, option=orjson.OPT_UTC_Z)  # four times as fast as isoformat
    return written[1:-1].decode() if value.microsecond else written[1:20].decode() + ".000000Z"


def finite(value: float) -> float:
    """A number that JSON has; OverflowError for the others."""
    if not math.isfinite(value):
        raise OverflowError(value)
    return value


def _read_moment(value: object) -> dt.datetime:
    if isinstance(value, str) and len(value) > len("2026-11-21"):
        try:
            read = dt.datetime.fromisoformat(value)
            if read.utcoffset() is not None and read.year in YEARS:
                return read.astimezone(dt.UTC)
        except (ValueError, OverflowError):
            pass
    wanted = f"a time of the years {YEARS[0]} to {YEARS[-1]} with its offset from UTC, such as 2026-11-21T04:45:32Z"
    raise _unreadable("DateTime", wanted)


def _read_date(value: object) -> dt.date:
    if isinstance(value, str) and _DATE.fullmatch(value):
        try:
            return dt.date.fromisoformat(value)
        except ValueError:
            pass
    raise _unreadable("Date", "a date, such as 2026-11-21")


def _read_uuid(value: object) -> uuid.UUID:
    if isinstance(value, str) and _UUID.fullmatch(value):
        return uuid.UUID(value)
    raise _unreadable("UUID", "a UUID, such as 123e4567-e89b-42d3-a456-426614174000")


def _read_decimal(value: object) -> decimal.Decimal:
    """A JSON number is what it prints as; how many decimals it may have is the field's to say."""
    if isinstance(value, str | int | float) and not isinstance(value, bool):
        text = str(value).strip()
        if DECIMAL.fullmatch(text) and abs((read := decimal.Decimal(text)).adjusted()) <= LARGEST_EXPONENT:
            return read
    raise _unreadable("Decimal", 'a decimal number, such as "12.50"')


def _unreadable(name: str, wanted: str) -> StrawberryInputCoercionError:
    return StrawberryInputCoercionError(f"{name} cannot be read: send {wanted}.")


def _scalar(
    name: str, description: str, serialize: Callable[[Any], Any], parse: Callable[[object], Any], origin: type
) -> ScalarDefinition:
    return ScalarDefinition(name, description, SPECIFICATIONS[name], serialize, parse, None, origin=origin)


SCALARS: Mapping[object, ScalarDefinition] = {
    uuid.UUID: _scalar("UUID", "A UUID, in 36 characters.", str, _read_uuid, uuid.UUID),
    dt.datetime: _scalar(
        "DateTime",
        "A point in time. Answered in UTC with microseconds, `2026-11-21T04:45:32.000000Z`; sent with any offset from UTC, "
        f"of the years {YEARS[0]} to {YEARS[-1]}.",
        moment,
        _read_moment,
        dt.datetime,
    ),
    dt.date: _scalar("Date", "A day: `2026-11-21`.", dt.date.isoformat, _read_date, dt.date),
    decimal.Decimal: _scalar(
        "Decimal",
        'An exact decimal number. Answered as a string, `"12.50"`; sent as a string or a number.',
        str,
        _read_decimal,
        decimal.Decimal,
    ),
}

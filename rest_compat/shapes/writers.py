"""Serializes values in the documented formats. Each format has the types that it accepts and its OpenAPI schema."""

import datetime as dt
import enum
import uuid
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import orjson

Schema = Mapping[str, Any]

EPOCH, MILLISECOND = dt.datetime(1970, 1, 1, tzinfo=dt.UTC), dt.timedelta(milliseconds=1)


@dataclass(frozen=True)
class ValueWriter:
    """A format: its name, the types that it accepts, its schema, and its function (None: orjson writes the value)."""

    name: str
    reads: tuple[type, ...]
    schema: Schema
    write: Callable[[Any], Any] | None = None
    many: bool = False
    """True if it writes a whole list at once."""

    @property
    def is_text(self) -> bool:
        """True if it is documented as a string, which is empty instead of null."""
        return self.schema.get("type") == "string"


def _utc(value: dt.datetime) -> str:
    if value.tzinfo is not dt.UTC:
        value = value.astimezone(dt.UTC)
    return value.isoformat(timespec="microseconds")[:26] + "Z"


def _milliseconds(value: dt.datetime) -> int:
    return (value - EPOCH) // MILLISECOND


def _by_id(value: Mapping[int, Any]) -> dict[str, Any]:
    return {str(key): inner for key, inner in value.items()}


def _whole_digits(value: str) -> int | None:
    return int(value) if value.isascii() and value.isdigit() else None


TEXT = ValueWriter("text", (str,), {"type": "string"})
INTEGER = ValueWriter("integer", (int,), {"type": "integer"})
BOOLEAN = ValueWriter("boolean", (bool,), {"type": "boolean"})
FLOAT = ValueWriter("float", (float, int), {"type": "number"})
UUID = ValueWriter("uuid", (uuid.UUID,), {"type": "string", "format": "uuid"}, str)
DATE = ValueWriter("date", (dt.date,), {"type": "string", "format": "date"})
MOMENT = ValueWriter("moment", (dt.datetime,), {"type": "string", "format": "date-time"}, _utc)
DECIMAL_STRING = ValueWriter(
    "decimal string",
    (Decimal,),
    {"type": "string", "pattern": r"^-?\d+\.\d{2}$", "examples": ["10.00"]},
    "{:.2f}".format,
)
NUMBER = ValueWriter(
    "number", (Decimal,), {"type": "number", "examples": [10.0]}, lambda value: orjson.Fragment(f"{value:.2f}")
)
STORED_NUMBER = ValueWriter(
    "number stored as text",
    (Decimal,),
    {"type": "number", "examples": [10.0]},
    lambda value: orjson.Fragment(str(value)),
)
"""For amounts in JSON columns. Rows hold them as text, in the form that an object's `Decimal` prints."""
DATE_AS_MOMENT = ValueWriter(
    "date as moment", (dt.date,), {"type": "string", "format": "date-time"}, "{:%Y-%m-%d}T00:00:00.000000Z".format
)
MILLISECONDS = ValueWriter("milliseconds", (dt.datetime,), {"type": "integer"}, _milliseconds)
DIGITS = ValueWriter("digits", (str,), {"type": ["integer", "null"]}, _whole_digits)
BY_ID = ValueWriter("by id", (dict,), {"type": "object", "additionalProperties": {"type": "string"}}, _by_id)
OBJECT = ValueWriter("object", (dict,), {"type": "object"})

BY_TYPE: Mapping[type, ValueWriter] = {
    w.reads[0]: w for w in (TEXT, INTEGER, BOOLEAN, FLOAT, UUID, DATE, MOMENT, OBJECT)
}
"""The default writer of each type. A Decimal has none: it is documented in two formats."""


def of_enum(kind: type[enum.Enum]) -> ValueWriter:
    """Writes an enum as its values."""
    return ValueWriter(kind.__name__, (kind,), {"type": "string", "enum": [member.value for member in kind]})


def enum_codes(kind: type[enum.Enum], numbers: Mapping[Any, int]) -> ValueWriter:
    """Writes an enum as the documented number of each member. Raises LookupError if a member has none.

    Lists read stored values, so members must equal them. Raises TypeError for other enums.
    """
    if not issubclass(kind, str | int):
        raise TypeError(f"{kind.__name__} must be a StrEnum or an IntEnum.")
    left_out = [member.name for member in kind if member not in numbers]
    if left_out:
        raise LookupError(f"{kind.__name__} has members without a documented number: {', '.join(left_out)}.")
    return ValueWriter(
        f"codes of {kind.__name__}",
        (kind,),
        {"type": "integer", "enum": sorted(set(numbers.values()))},
        numbers.__getitem__,
    )

"""How values are written in REST: the forms that are documented, each with what it reads and how OpenAPI shows it."""

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
class Writer:
    """A form: its name, the types it can write, what it makes of a value (None: orjson writes it as it is)."""

    name: str
    reads: tuple[type, ...]
    schema: Schema
    write: Callable[[Any], Any] | None = None
    many: bool = False
    """Whether it writes a whole list of these at once."""

    @property
    def text(self) -> bool:
        """Whether it is documented as a string, which is empty rather than null."""
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


TEXT = Writer("text", (str,), {"type": "string"})
INTEGER = Writer("integer", (int,), {"type": "integer"})
BOOLEAN = Writer("boolean", (bool,), {"type": "boolean"})
FLOAT = Writer("float", (float, int), {"type": "number"})
UUID = Writer("uuid", (uuid.UUID,), {"type": "string", "format": "uuid"}, str)
DATE = Writer("date", (dt.date,), {"type": "string", "format": "date"})
MOMENT = Writer("moment", (dt.datetime,), {"type": "string", "format": "date-time"}, _utc)
DECIMAL_STRING = Writer(
    "decimal string",
    (Decimal,),
    {"type": "string", "pattern": r"^-?\d+\.\d{2}$", "examples": ["10.00"]},
    "{:.2f}".format,
)
NUMBER = Writer(
    "number", (Decimal,), {"type": "number", "examples": [10.0]}, lambda value: orjson.Fragment(f"{value:.2f}".encode())
)
KEPT_NUMBER = Writer(
    "number kept as text",
    (Decimal,),
    {"type": "number", "examples": [10.0]},
    lambda value: orjson.Fragment(str(value).encode()),
)
"""For amounts in JSON columns, where rows hold them as the text that an object's `Decimal` makes too."""
DATE_AS_MOMENT = Writer(
    "date as moment", (dt.date,), {"type": "string", "format": "date-time"}, "{:%Y-%m-%d}T00:00:00.000000Z".format
)
MILLISECONDS = Writer("milliseconds", (dt.datetime,), {"type": "integer"}, _milliseconds)
DIGITS = Writer("digits", (str,), {"type": ["integer", "null"]}, _whole_digits)
BY_ID = Writer("by id", (dict,), {"type": "object", "additionalProperties": {"type": "string"}}, _by_id)
OBJECT = Writer("object", (dict,), {"type": "object"})

BY_TYPE: Mapping[type, Writer] = {w.reads[0]: w for w in (TEXT, INTEGER, BOOLEAN, FLOAT, UUID, DATE, MOMENT, OBJECT)}
"""How a value is written where a shape does not say. A Decimal always needs saying: it is documented in two forms."""


def of_enum(kind: type[enum.Enum]) -> Writer:
    """A closed set, by its values."""
    return Writer(kind.__name__, (kind,), {"type": "string", "enum": [member.value for member in kind]})


def codes(kind: type[enum.Enum], numbers: Mapping[Any, int]) -> Writer:
    """A closed set, by the documented number of each member. Lists read the value stored, so the members must equal it."""
    if not issubclass(kind, str | int):
        raise TypeError(f"{kind.__name__} must be a StrEnum or an IntEnum.")
    left_out = [member.name for member in kind if member not in numbers]
    if left_out:
        raise LookupError(f"{kind.__name__} has members without a documented number: {', '.join(left_out)}.")
    return Writer(
        f"codes of {kind.__name__}",
        (kind,),
        {"type": "integer", "enum": sorted(set(numbers.values()))},
        numbers.__getitem__,
    )

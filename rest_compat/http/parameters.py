"""Query parameters of lists: from the names and forms that shops send to the fields of a filter."""

import datetime as dt
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from schema.core.errors import Path, Problem

Read = Callable[[str, ZoneInfo], tuple[Any, ...]]
"""From the text of a parameter to a value for each of its fields; raises ValueError with a sentence."""
Narrow = Callable[[Any, Any], Any]
"""Of two values for one field the one that lets less through: what is sent holds together."""

_LOST_PLUS = re.compile(r"(:\d\d(?:\.\d+)?) (\d\d:?\d\d)$")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)

WHEN = {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]}


@dataclass(frozen=True)
class Parameter:
    """One parameter: its name, the fields of the filter it fills, how its text is read, how OpenAPI shows it."""

    name: str
    fields: tuple[str, ...]
    read: Read
    description: str
    schema: Mapping[str, Any] | None = None
    """None: that of the filter's field."""
    zoned: bool = False
    """Whether a time without an offset is meant in the marketplace's zone."""
    narrow: tuple[Narrow, ...] = ()
    """For each field; none where no other parameter fills it."""


def exactly(name: str, field: str, description: str) -> Parameter:
    """A value that the filter's field checks by its own type."""
    return Parameter(name, (field,), lambda text, _: (text,), description)


def since(name: str, field: str, description: str) -> Parameter:
    """A first moment; a date alone means from its midnight on."""

    def read(text: str, zone: ZoneInfo) -> tuple[Any, ...]:
        return (first_moment(text, zone),)

    return Parameter(name, (field,), read, description, WHEN, zoned=True, narrow=(max,))


def until(name: str, field: str, description: str) -> Parameter:
    """A last moment; a date alone includes that whole day."""

    def read(text: str, zone: ZoneInfo) -> tuple[Any, ...]:
        return (last_moment(text, zone),)

    return Parameter(name, (field,), read, description, WHEN, zoned=True, narrow=(min,))


def between(name: str, first: str, last: str, description: str) -> Parameter:
    """Two moments separated by a comma, both included."""

    def read(text: str, zone: ZoneInfo) -> tuple[Any, ...]:
        start, comma, end = text.partition(",")
        if not comma or "," in end:
            raise ValueError("Send two dates, separated by a comma.")
        return first_moment(start, zone), last_moment(end, zone)

    schema = {"type": "string", "examples": ["2030-01-01,2030-01-31"]}
    return Parameter(name, (first, last), read, description, schema, zoned=True, narrow=(max, min))


def first_moment(text: str, zone: ZoneInfo) -> dt.datetime:
    """The moment a text names, in UTC: of a date alone its midnight in the zone."""
    return _moment(text, zone, dt.time.min)


def last_moment(text: str, zone: ZoneInfo) -> dt.datetime:
    """The moment a text names, in UTC: of a date alone the last microsecond of that day in the zone."""
    return _moment(text, zone, dt.time.max)


def _moment(text: str, zone: ZoneInfo, of_day: dt.time) -> dt.datetime:
    text = _LOST_PLUS.sub(r"\1+\2", text.strip())  # an offset's + that was not escaped arrives as a space
    try:
        if _DATE.fullmatch(text):
            moment = dt.datetime.combine(dt.date.fromisoformat(text), of_day)
        else:
            moment = dt.datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        raise ValueError("Send a date or a time, such as 2030-12-31 or 2030-12-31T12:00:00Z.") from None


@dataclass(frozen=True)
class Given:
    """What the parameters of a request say."""

    fields: Mapping[str, Any]
    problems: tuple[Problem, ...]


class Parameters:
    """All parameters of a list, and the way back from a field of the filter to the parameter that filled it."""

    def __init__(self, *parameters: Parameter) -> None:
        self.all = {p.name: p for p in parameters}
        self._sources: dict[str, list[str]] = {}
        for parameter in parameters:
            for field in parameter.fields:
                sources = self._sources.setdefault(field, [])
                sources.append(parameter.name)
                if len(sources) > 1 and not parameter.narrow:
                    raise TypeError(f"{' and '.join(sources)} both fill {field}, and nothing says how both can hold.")

    def zoned(self, query: Mapping[str, str]) -> bool:
        """Whether reading these needs the marketplace's zone."""
        return any(p.zoned and query.get(p.name) for p in self.all.values())

    def read(self, query: Mapping[str, str], zone: ZoneInfo) -> Given:
        """The fields that were given. Unknown and empty parameters are left out; two for one field both hold."""
        fields: dict[str, Any] = {}
        problems = []
        for name, parameter in self.all.items():
            text = query.get(name, "")
            if not text:
                continue
            try:
                values = parameter.read(text, zone)
            except ValueError as error:
                problems.append(Problem((name,), "INVALID", str(error)))
                continue
            for at, (field, value) in enumerate(zip(parameter.fields, values, strict=True)):
                fields[field] = parameter.narrow[at](fields[field], value) if field in fields else value
        return Given(fields, tuple(problems))

    def names(self, path: Path) -> Path:
        """From a field of the filter to the parameter; values of one list are one parameter."""
        sources = self._sources.get(str(path[0])) if path else None
        return (sources[0],) if sources else path[:1]


@dataclass(frozen=True)
class Ordering:
    """The `ordering` of a list: names that shops send -> columns of the list's order."""

    columns: Mapping[str, str]

    def read(self, text: str, allowed: Mapping[str, Any]) -> str | None:
        """The list's order that a text names, None for an empty one. Raises ValueError for one there is not."""
        if not text:
            return None
        sign, name = ("-", text[1:]) if text.startswith("-") else ("", text)
        order = f"{sign}{self.columns.get(name, '')}"
        if order not in allowed:
            raise ValueError(f"Order by one of {', '.join(self.choices(allowed))}.")
        return order

    def choices(self, allowed: Mapping[str, Any]) -> list[str]:
        """All that may be sent."""
        signs = ("", "-")
        return [
            f"{sign}{name}" for name, column in self.columns.items() for sign in signs if f"{sign}{column}" in allowed
        ]

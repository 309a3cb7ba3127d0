"""Query parameters of lists: maps their names and formats to the fields of a filter."""

import datetime as dt
import enum
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any
from zoneinfo import ZoneInfo

from schema.core.errors import Problem, ProblemPath

Read = Callable[[str, ZoneInfo], tuple[Any, ...]]
"""Parses the text of a parameter into one value per field. Raises ValueError with a sentence for the client."""
Narrow = Callable[[Any, Any], Any]
"""Of two values for one field, the more restrictive one: all parameters must hold."""

_LOST_PLUS = re.compile(r"(:\d\d(?:\.\d+)?) (\d\d:?\d\d)$")
_DATE = re.compile(r"\d{4}-\d\d-\d\d", re.ASCII)

WHEN = {"anyOf": [{"type": "string", "format": "date"}, {"type": "string", "format": "date-time"}]}


@dataclass(frozen=True)
class Parameter:
    """A query parameter: its name, the filter fields that it fills, its parser and its documentation."""

    name: str
    fields: tuple[str, ...]
    read: Read
    description: str
    schema: Mapping[str, Any] | None = None
    """JSON schema; None: the schema of the filter field."""
    needs_time_zone: bool = False
    """True if a time without an offset is in the marketplace's time zone."""
    narrow: tuple[Narrow, ...] = ()
    """One function per field; empty if no other parameter fills these fields."""


def exactly(name: str, field: str, description: str) -> Parameter:
    """A value that the type of the filter field validates."""
    return Parameter(name, (field,), lambda text, _: (text,), description)


def among(name: str, field: str, kind: type[enum.StrEnum], description: str) -> Parameter:
    """Values of an enum, separated by commas."""

    def read(text: str, _: ZoneInfo) -> tuple[Any, ...]:
        return (_members(text.split(","), kind),)

    one = "|".join(kind)
    schema = {"type": "string", "pattern": f"^(?:{one})(?:,(?:{one}))*$", "examples": [",".join(list(kind)[:2])]}
    return Parameter(name, (field,), read, description, schema)


def by_boolean(name: str, field: str, if_true: Sequence[Any], if_false: Sequence[Any], description: str) -> Parameter:
    """`true` or `false`, each of which allows other values of a list. What several parameters allow must all hold."""

    def read(text: str, _: ZoneInfo) -> tuple[Any, ...]:
        match text.lower():
            case "true" | "1":
                return (list(if_true),)
            case "false" | "0":
                return (list(if_false),)
        raise ValueError("Send true or false.")

    return Parameter(name, (field,), read, description, {"type": "boolean"}, narrow=(_in_both,))


def any_of(name: str, field: str, kind: type[enum.StrEnum], description: str, *, many: bool = False) -> Parameter:
    """A value of an enum (or `many`, separated by commas) for a list. What several parameters allow must all hold."""

    def read(text: str, _: ZoneInfo) -> tuple[Any, ...]:
        return (_members(text.split(",") if many else [text], kind),)

    schema = among(name, field, kind, description).schema if many else {"type": "string", "enum": list(kind)}
    return Parameter(name, (field,), read, description, schema, narrow=(_in_both,))


def _members(texts: Sequence[str], kind: type[enum.StrEnum]) -> list[Any]:
    try:
        return [kind(each.strip()) for each in texts]
    except ValueError:
        raise ValueError(f"Send {'one' if len(texts) == 1 else 'each as one'} of {', '.join(kind)}.") from None


def _in_both(first: Sequence[Any], second: Sequence[Any]) -> list[Any]:
    return [each for each in first if each in second]


def since(name: str, field: str, description: str) -> Parameter:
    """Earliest time, included. A date alone means its midnight."""

    def read(text: str, zone: ZoneInfo) -> tuple[Any, ...]:
        return (first_moment(text, zone),)

    return Parameter(name, (field,), read, description, WHEN, needs_time_zone=True, narrow=(max,))


def until(name: str, field: str, description: str) -> Parameter:
    """Latest time, included. A date alone includes the whole day."""

    def read(text: str, zone: ZoneInfo) -> tuple[Any, ...]:
        return (last_moment(text, zone),)

    return Parameter(name, (field,), read, description, WHEN, needs_time_zone=True, narrow=(min,))


def between(name: str, first: str, last: str, description: str) -> Parameter:
    """Two times separated by a comma, both included."""

    def read(text: str, zone: ZoneInfo) -> tuple[Any, ...]:
        start, comma, end = text.partition(",")
        if not comma or "," in end:
            raise ValueError("Send two dates, separated by a comma.")
        return first_moment(start, zone), last_moment(end, zone)

    schema = {"type": "string", "examples": ["2030-01-01,2030-01-31"]}
    return Parameter(name, (first, last), read, description, schema, needs_time_zone=True, narrow=(max, min))


def days_since(name: str, field: str, description: str) -> Parameter:
    """First day, included."""
    return Parameter(name, (field,), lambda text, _: (_day(text),), description, narrow=(max,))


def days_until(name: str, field: str, description: str) -> Parameter:
    """Last day, included."""
    return Parameter(name, (field,), lambda text, _: (_day(text),), description, narrow=(min,))


def days_between(name: str, first: str, last: str, description: str) -> Parameter:
    """Two days separated by a comma, both included."""

    def read(text: str, _: ZoneInfo) -> tuple[Any, ...]:
        try:
            start, end = map(_day, text.split(","))
        except ValueError:
            raise ValueError("Send two days, separated by a comma, such as 2030-01-01,2030-01-31.") from None
        return start, end

    schema = {"type": "string", "examples": ["2030-01-01,2030-01-31"]}
    return Parameter(name, (first, last), read, description, schema, narrow=(max, min))


def _day(text: str) -> dt.date:
    """Raises ValueError."""
    if _DATE.fullmatch(text.strip()):
        with suppress(ValueError):
            return dt.date.fromisoformat(text.strip())
    raise ValueError("Send a day, such as 2030-12-31.")


def first_moment(text: str, zone: ZoneInfo) -> dt.datetime:
    """The time in UTC; a date alone is its midnight in the zone. Raises ValueError."""
    return _moment(text, zone, dt.time.min)


def last_moment(text: str, zone: ZoneInfo) -> dt.datetime:
    """The time in UTC; a date alone is the last microsecond of its day in the zone. Raises ValueError."""
    return _moment(text, zone, dt.time.max)


def _moment(text: str, zone: ZoneInfo, of_day: dt.time) -> dt.datetime:
    text = _LOST_PLUS.sub(r"\1+\2", text.strip())  # an unescaped + of an offset arrives as a space
    try:
        if _DATE.fullmatch(text):
            moment = dt.datetime.combine(dt.date.fromisoformat(text), of_day)
        else:
            moment = dt.datetime.fromisoformat(text)
        return (moment if moment.tzinfo else moment.replace(tzinfo=zone)).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        raise ValueError("Send a date or a time, such as 2030-12-31 or 2030-12-31T12:00:00Z.") from None


@dataclass(frozen=True)
class ParsedParameters:
    """The filter fields and the problems of a request's parameters."""

    fields: Mapping[str, Any]
    problems: tuple[Problem, ...]


class Parameters:
    """All parameters of a list, with the map from filter fields back to parameters."""

    def __init__(self, *parameters: Parameter) -> None:
        self.all = {p.name: p for p in parameters}
        self._sources: dict[str, list[str]] = {}
        for parameter in parameters:
            for field in parameter.fields:
                sources = self._sources.setdefault(field, [])
                sources.append(parameter.name)
                if len(sources) > 1 and not parameter.narrow:
                    raise TypeError(f"{' and '.join(sources)} both fill {field}, and nothing says how both can hold.")

    def needs_time_zone(self, query: Mapping[str, str]) -> bool:
        """Whether parsing the query needs the marketplace's time zone."""
        return any(p.needs_time_zone and query.get(p.name) for p in self.all.values())

    def read(self, query: Mapping[str, str], zone: ZoneInfo) -> ParsedParameters:
        """Parse a query. Unknown and empty parameters are ignored; of two values for one field the narrower one
        applies.
        """
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
        return ParsedParameters(fields, tuple(problems))

    def key_path_of(self, path: ProblemPath) -> ProblemPath:
        """Convert a filter field to its parameter. All values of a list belong to one parameter."""
        sources = self._sources.get(str(path[0])) if path else None
        return (sources[0],) if sources else path[:1]


@dataclass(frozen=True)
class Ordering:
    """The `ordering` parameter of a list: REST name -> column of the list's order.

    With `several`, it takes several of them, separated by commas.
    """

    columns: Mapping[str, str]
    several: bool = False

    def read(self, text: str, allowed: Mapping[str, Any]) -> str | None:
        """The list's order for a text; None for an empty text. Raises ValueError for an unknown order."""
        if not text:
            return None
        return ",".join(self._read_one(each, allowed) for each in (text.split(",") if self.several else [text]))

    def _read_one(self, text: str, allowed: Mapping[str, Any]) -> str:
        sign, name = ("-", text[1:]) if text.startswith("-") else ("", text)
        order = f"{sign}{self.columns.get(name, '')}"
        if order not in allowed:
            several = ", or by several of them, separated by commas" if self.several else ""
            raise ValueError(f"Order by one of {', '.join(self.choices(allowed))}{several}.")
        return order

    def schema(self, allowed: Mapping[str, Any]) -> Mapping[str, Any]:
        """The JSON schema of the parameter."""
        choices = self.choices(allowed)
        if not self.several:
            return {"type": "string", "enum": choices}
        one = f"(?:{'|'.join(choices)})"
        return {"type": "string", "pattern": f"^{one}(?:,{one})*$", "examples": [choices[-1]]}

    def choices(self, allowed: Mapping[str, Any]) -> list[str]:
        """All accepted values."""
        signs = ("", "-")
        return [
            f"{sign}{name}" for name, column in self.columns.items() for sign in signs if f"{sign}{column}" in allowed
        ]

"""Typed values: from the fields of a form to the variables of a mutation, with the problems of what cannot be read."""

import datetime as dt
import re
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from graphql import GraphQLInputObjectType
from starlette.datastructures import UploadFile

from admin.forms.kinds import InputField, Kind, fields_of
from admin.forms.local_values import parse_day, parse_decimal, parse_moment
from funnel.core.messages import N_
from schema.validation.languages import LANGUAGES

INTEGER = re.compile(r"[+-]?\d{1,10}", re.ASCII)
YES, NO = "1", "0"
MOST_ROWS = 100
COUNT = "#"
"""The name, below that of a list, of the number of its rows on the form."""
OMITTED: Any = object()
"""Nothing is sent for a field."""


@dataclass(frozen=True, slots=True)
class Typed:
    """The fields of a form as they were typed, and as they were before: with these only what differs is sent."""

    form: Mapping[str, str]
    time_zone: str
    before: Mapping[str, str] | None = None
    files: Mapping[str, UploadFile] = field(default_factory=dict)
    problems: list[tuple[str, str]] = field(default_factory=list)
    """Names of fields, and what is wrong with them."""

    def read(self, kind: GraphQLInputObjectType, fixed: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
        """The value of an input type. `fixed` are the values of fields that the form does not have."""
        values = dict(fixed)
        for each in fields_of(kind):
            if each.name not in fixed and (value := self._value(each, prefix + each.name)) is not OMITTED:
                values[each.name] = value
        return values

    def read_one(self, of: InputField) -> Any:
        """The value of a single field; OMITTED if nothing is typed, or if it cannot be read."""
        return self._value(of, of.name)

    def _value(self, of: InputField, name: str) -> Any:
        match of.kind:
            case Kind.TRANSLATED:
                return self._translated(of, name)
            case Kind.GROUP:
                return self._group(of, name)
            case Kind.ROWS:
                return self._rows(of, name)
        if of.kind is Kind.REFERENCES:
            return self._references(of, name)
        if self.before is not None and not self._has_changed(name):
            return OMITTED
        return self._leaf(of, name)

    def _has_changed(self, name: str) -> bool:
        assert self.before is not None
        names = {
            key
            for each in (self.form, self.before)
            for key in each
            if (key == name or key.startswith(f"{name}.")) and not key.endswith(f".{TEXT_IS_REQUIRED}")
        }
        return any(_one_line(self.form.get(key, "")) != _one_line(self.before.get(key, "")) for key in names)

    # ---- composed values

    def _translated(self, of: InputField, name: str) -> Any:
        said = {each: self.form.get(f"{name}.{each}", "").strip() for each in LANGUAGES}
        if self.before is None:
            said = {each: text for each, text in said.items() if text}
            if not said and of.is_required:
                self.problems.append((f"{name}.{LANGUAGES[0]}", REQUIRED))
            return said or OMITTED
        changed: dict[str, str | None] = {
            each: text or None for each, text in said.items() if self._has_changed(f"{name}.{each}")
        }
        return changed or OMITTED

    def _group(self, of: InputField, name: str) -> Any:
        needs_all = any(each.is_required for each in fields_of(of.input))
        if self.before is not None and needs_all:
            if not self._has_changed(name):
                return OMITTED
            whole = Typed(self.form, self.time_zone, None, self.files, self.problems)
            return (
                None
                if of.is_nullable and whole.is_blank(of.input, f"{name}.")
                else whole.read(of.input, {}, f"{name}.")
            )
        if self.before is None and not of.is_required and self.is_blank(of.input, f"{name}."):
            return OMITTED
        value = self.read(of.input, {}, f"{name}.")
        if not value and of.is_required and not any(told.startswith(f"{name}.") for told, _ in self.problems):
            self.problems.append((name, ONE_IS_REQUIRED))
        return value or OMITTED

    def _rows(self, of: InputField, name: str) -> Any:
        if self.before is not None and not self._has_changed(name):
            return OMITTED
        whole = Typed(self.form, self.time_zone, None, self.files, self.problems)
        rows = [whole.read(of.input, {}, prefix) for prefix in self.rows(name) if not whole.is_blank(of.input, prefix)]
        return OMITTED if not rows and self.before is None and not of.is_required else rows

    def rows(self, name: str) -> Iterator[str]:
        """The prefixes of the rows of a list."""
        return (f"{name}.{number}." for number in range(count_of(self.form, name)))

    def is_blank(self, kind: GraphQLInputObjectType, prefix: str) -> bool:
        """Whether nothing was typed in a group or a row: switches count only if they differ from their defaults."""
        return all(self._is_untouched(each, prefix + each.name) for each in fields_of(kind))

    def _is_untouched(self, of: InputField, name: str) -> bool:
        if of.kind is Kind.BOOLEAN:
            return (self.form.get(name) == YES) is bool(of.default)
        if of.kind is Kind.GROUP:
            return self.is_blank(of.input, f"{name}.")
        if of.kind is Kind.SELECT and of.default is not None:
            return self.form.get(name, "") in ("", _member(of.default))
        typed = [value.strip() for key, value in self.form.items() if key == name or key.startswith(f"{name}.")]
        return name not in self.files and all(value in ("", _plain(of.default)) for value in typed)

    # ---- single values

    def _leaf(self, of: InputField, name: str) -> Any:
        match of.kind:
            case Kind.BOOLEAN:
                return self.form.get(name) == YES
            case Kind.CHECKBOXES:
                return self._choices(of, name, of.members)
            case Kind.FILE:
                return self._file(of, name)
        text = self.form.get(name, "")
        text = text.replace("\r\n", "\n") if of.kind in (Kind.PASSWORD, Kind.LONG) else text.strip()
        if not text:
            return self._blank(of, name)
        try:
            return self._parse(of, text)
        except (ValueError, OverflowError):
            self.problems.append((name, PROBLEMS.get(of.kind, INVALID)))
            return OMITTED

    def _blank(self, of: InputField, name: str) -> Any:
        if of.is_required:
            self.problems.append((name, REQUIRED))
            return OMITTED
        if self.before is None:
            return "" if of.default == "" else OMITTED
        if of.kind is Kind.LINES:
            return []
        return "" if self.before.get(f"{name}.{TEXT_IS_REQUIRED}") == YES else None

    def _parse(self, of: InputField, text: str) -> Any:
        match of.kind:
            case Kind.DATETIME:
                local = parse_moment(text).replace(tzinfo=ZoneInfo(self.time_zone))
                return local.astimezone(dt.UTC).isoformat()
            case Kind.SELECT if text not in of.members:
                raise ValueError(text)
            case Kind.LINES:
                return [_scalar(of.type.name, line.strip()) for line in text.split("\n") if line.strip()]
        read = PARSERS.get(of.kind)
        return _scalar(of.type.name, text) if read is None else read(text)

    def _references(self, of: InputField, name: str) -> Any:
        """The chosen objects: first those that were chosen before, in their order."""
        chosen = chosen_in(self.form, name)
        if self.before is not None:
            earlier = chosen_in(self.before, name)
            if set(chosen) == set(earlier):
                return OMITTED
            chosen = [*(each for each in earlier if each in chosen), *(each for each in chosen if each not in earlier)]
        return self._values(of, name, chosen)

    def _choices(self, of: InputField, name: str, values: Sequence[str]) -> Any:
        return self._values(of, name, [value for value in values if self.form.get(f"{name}.{value}") == YES])

    def _values(self, of: InputField, name: str, texts: Sequence[str]) -> Any:
        if not texts and self.before is None and not of.is_required:
            return OMITTED
        try:
            return [_scalar(of.type.name, value) for value in texts]
        except ValueError:
            self.problems.append((name, INVALID))
            return OMITTED

    def _file(self, of: InputField, name: str) -> Any:
        file = self.files.get(name)
        if file is None:
            if of.is_required:
                self.problems.append((name, REQUIRED))
            return OMITTED
        return file


REMOVED = "-"
"""The name, below that of a row, of the box that removes it."""
TEXT_IS_REQUIRED = "!"
"""The name, below that of a text, that tells that it is empty rather than null when nothing is typed."""
REQUIRED = N_("Fill this in.")
ONE_IS_REQUIRED = N_("Fill in one of these.")
INVALID = N_("This is not valid.")
PROBLEMS = {
    Kind.INTEGER: N_("Enter a whole number."),
    Kind.DECIMAL: N_("Enter a number."),
    Kind.DATETIME: N_("Enter a day and a time, such as 24/12/2026, 18:30."),
    Kind.DATE: N_("Enter a day, such as 24/12/2026."),
    Kind.TIME: N_("Enter a time."),
    Kind.SELECT: N_("Choose one of the list."),
}


def chosen_in(form: Mapping[str, str], name: str) -> list[str]:
    """The chosen values of a list: those that are ticked, and those that are typed, one on each line."""
    prefix = f"{name}."
    ticked = [key.removeprefix(prefix) for key, value in form.items() if key.startswith(prefix) and value == YES]
    typed = [line.strip() for line in form.get(name, "").split("\n") if line.strip()]
    return list(dict.fromkeys([*ticked, *typed]))


def count_of(form: Mapping[str, str], name: str) -> int:
    """The number of rows of a list on the form."""
    written = form.get(f"{name}.{COUNT}", "0")
    return min(int(written), MOST_ROWS) if INTEGER.fullmatch(written) else 0


def without_removed_rows(form: Mapping[str, str]) -> dict[str, str]:
    """The fields of a form without the rows that were marked to be removed. Those behind them move up."""
    left = dict(form)
    for name in [key.removesuffix(f".{COUNT}") for key in form if key.endswith(f".{COUNT}")]:
        kept = 0
        for number in range(count_of(form, name)):
            old, new = f"{name}.{number}.", f"{name}.{kept}."
            of_row = {key: left.pop(key) for key in list(left) if key.startswith(old)}
            if of_row.get(f"{old}{REMOVED}") != YES:
                left |= {new + key.removeprefix(old): value for key, value in of_row.items()}
                kept += 1
        if f"{name}.{COUNT}" in left:
            left[f"{name}.{COUNT}"] = str(kept)
    return left


def _one_line(text: str) -> str:
    return text.replace("\r\n", "\n")


def _member(value: Any) -> str:
    return str(getattr(value, "name", value))


def _plain(value: Any) -> str:
    return "" if value is None else str(value)


def _integer(text: str) -> int:
    """A number of GraphQL's type `Int`. Raises ValueError for any other text."""
    if not INTEGER.fullmatch(text) or not -(2**31) <= int(text) < 2**31:
        raise ValueError(text)
    return int(text)


PARSERS: Mapping[Kind, Callable[[str], Any]] = {
    Kind.INTEGER: _integer,
    Kind.DECIMAL: parse_decimal,
    Kind.TRISTATE: YES.__eq__,
    Kind.DATE: lambda text: parse_day(text).isoformat(),
    Kind.TIME: lambda text: dt.time.fromisoformat(text).isoformat(),
    Kind.JSON: orjson.loads,
    Kind.SELECT: str,
}


def _scalar(kind: str, text: str) -> Any:
    match kind:
        case "Int":
            return _integer(text)
        case "Decimal":
            return parse_decimal(text)
        case "UUID":
            return str(uuid.UUID(text))
    return text

"""The present values of an object as the fields of a form: what is selected of it, and how its values are typed."""

import datetime as dt
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit
from zoneinfo import ZoneInfo

import orjson
from graphql import (
    GraphQLField,
    GraphQLInputObjectType,
    GraphQLNamedType,
    GraphQLObjectType,
    get_named_type,
    is_leaf_type,
    is_non_null_type,
)

from admin.core.values import value_at
from admin.forms.kinds import SUFFIXES, InputField, Kind, fields_of, reference_key
from admin.forms.typed import COUNT, NO, TEXT_IS_REQUIRED, YES
from admin.graph.schema_types import MONEY, TEXT, is_many
from admin.graph.selections import value_selection
from schema.validation.languages import LANGUAGES

SOURCES = {("Box", "partnerUuids"): "allowedPartners", ("VoucherOption", "voucherPrototypeIds"): "prototypeLinks"}
"""Fields with present values that the names of inputs do not tell, by type and input."""
REFERENCE_KEYS = "id", "uuid"
UPLOADED = "/media/"
"""Begins the paths of uploaded pictures."""


@dataclass(frozen=True, slots=True)
class WritingStyle:
    """How a reader writes times and numbers."""

    time_zone: str
    decimal_mark: str = "."


SELECTED_MONEY, SELECTED_TEXT = "{ amount currency }", f"{{ {' '.join(LANGUAGES)} }}"


def source_of(of: InputField, kind: GraphQLObjectType) -> tuple[str, GraphQLField] | None:
    """The field of an object with the present value of an input's field; None if there is none."""
    if (same := kind.fields.get(of.name)) is not None:
        return of.name, same
    if (source := SOURCES.get((kind.name, of.name))) is not None:
        return source, kind.fields[source]
    for suffix in SUFFIXES:
        stem = of.name.removesuffix(suffix)
        for name in (f"{stem}s", stem) if suffix.endswith("s") else (stem,):
            field = kind.fields.get(name)
            if of.name.endswith(suffix) and field is not None and not is_leaf_type(get_named_type(field.type)):
                return name, field
    return None


def selection(of: GraphQLInputObjectType, kind: GraphQLObjectType) -> str:
    """What to select of an object to know the present values of an input's fields."""
    parts = []
    for each in fields_of(of):
        found = source_of(each, kind)
        if found is not None and (selected := _selected(each, *found)) is not None:
            parts.append(selected)
    return " ".join(dict.fromkeys(parts))


def _selected(of: InputField, name: str, field: GraphQLField) -> str | None:
    named = get_named_type(field.type)
    if is_leaf_type(named):
        return name if of.kind not in (Kind.GROUP, Kind.ROWS, Kind.TRANSLATED) else None
    if named.name == MONEY:
        return f"{name} {SELECTED_MONEY}"
    if named.name == TEXT:
        return f"{name} {SELECTED_TEXT}"
    assert isinstance(named, GraphQLObjectType)
    if of.kind in (Kind.GROUP, Kind.ROWS):
        inner = selection(of.input, named)
        return f"{name} {{ {inner} }}" if inner else None
    if (path := path_of_reference(of, named)) is not None:
        return f"{name} {{ {value_selection(named, path)} }}"
    return None


def path_of_reference(of: InputField, kind: GraphQLObjectType) -> str | None:
    """Where objects of a type have what a reference holds: they are its targets, or lead to them. None if nowhere."""
    if not of.name.endswith(SUFFIXES):
        return None
    key = reference_key(of.name)
    if of.target is None or of.target.type is kind:
        return key if key in kind.fields else None
    target = of.target.type
    for name, field in kind.fields.items():
        if get_named_type(field.type) is target and not is_many(field.type):
            return f"{name}.{key}"
    name = f"{target.name[0].lower()}{target.name[1:]}{key.capitalize()}"
    return name if name in kind.fields else None


def typed_values(
    of: GraphQLInputObjectType,
    kind: GraphQLObjectType,
    values: Mapping[str, Any],
    style: "WritingStyle",
    prefix: str = "",
) -> Iterator[tuple[str, str]]:
    """The fields of a form with the present values of an object."""
    for each in fields_of(of):
        found = source_of(each, kind)
        if found is not None and values.get(found[0]) is not None:
            yield from _form_values(each, found[1], values[found[0]], style, prefix + each.name)
        if found is not None and is_non_null_type(found[1].type) and is_text(each):
            yield f"{prefix}{each.name}.{TEXT_IS_REQUIRED}", YES


def is_text(of: InputField) -> bool:
    """Whether a field is a text, which can be empty rather than null."""
    is_address = of.kind is Kind.REFERENCE and of.key not in REFERENCE_KEYS
    return is_address or of.kind in (Kind.TEXT, Kind.LONG, Kind.EMAIL)


def _form_values(
    of: InputField, field: GraphQLField, value: Any, style: "WritingStyle", name: str
) -> Iterator[tuple[str, str]]:
    named = get_named_type(field.type)
    match of.kind:
        case Kind.TRANSLATED:
            yield from ((f"{name}.{language}", value.get(language) or "") for language in LANGUAGES)
        case Kind.GROUP if isinstance(named, GraphQLObjectType):
            yield from typed_values(of.input, named, value, style, f"{name}.")
        case Kind.ROWS if isinstance(named, GraphQLObjectType):
            yield f"{name}.{COUNT}", str(len(value))
            for number, row in enumerate(value):
                yield from typed_values(of.input, named, row, style, f"{name}.{number}.")
        case Kind.CHECKBOXES | Kind.REFERENCES:
            yield from ((f"{name}.{_single(of, each, style, named)}", YES) for each in value)
        case Kind.LINES if is_many(field.type):
            yield name, "\n".join(_single(of, each, style, named) for each in value)
        case _:
            yield name, _single(of, value, style, named)


def _single(of: InputField, value: Any, style: "WritingStyle", kind: GraphQLNamedType) -> str:
    if isinstance(kind, GraphQLObjectType):
        path = "amount" if kind.name == MONEY else path_of_reference(of, kind)
        value = value_at(value, path) if path is not None else None
    match of.kind:
        case Kind.REFERENCE if of.key not in REFERENCE_KEYS:
            return own_path(str(value))
        case Kind.BOOLEAN | Kind.TRISTATE:
            return YES if value else NO
        case Kind.DATETIME:
            return local_time(value, style.time_zone)
        case Kind.TIME:
            return str(value)[:5]
        case Kind.DECIMAL:
            return str(value).replace(".", style.decimal_mark)
        case Kind.JSON:
            return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()
    return str(value)


def own_path(address: str) -> str:
    """The address of an uploaded picture without its host, as choices have it; any other address as it is."""
    path = urlsplit(address).path
    return path if path.startswith(UPLOADED) else address


def local_time(written: str, time_zone: str) -> str:
    """A point in time as it is typed: `2026-11-21T05:45`, in the reader's time zone."""
    return dt.datetime.fromisoformat(written).astimezone(ZoneInfo(time_zone)).strftime("%Y-%m-%dT%H:%M")

"""The filter of a list, derived from the filter of the API: typed in the query of the address."""

import datetime as dt
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from zoneinfo import ZoneInfo

from starlette.datastructures import QueryParams

from admin.core.request import AdminRequest
from admin.forms.form_fields import Choices, FormBuilder, FormField
from admin.forms.kinds import InputField, Kind, fields_of
from admin.forms.local_values import parse_day
from admin.forms.typed import OMITTED, PROBLEMS, Typed
from admin.graph.schema_types import list_filter_of
from admin.pages.details import DONE
from admin.resources.operations import operation_called
from admin.resources.resource import Resource
from resolvers.core.caller import Role

NEVER_SHOWN = frozenset({"ids", "partnerId", "marketplaceId", "tokenId", "userId", "customerId"})
"""Fields for programs, which have the same as another or what people do not know."""
OF_PAGE = frozenset({"after", "before", "size", DONE})
"""What an address says about the page of a list, and not about its filter."""
LAST_MOMENT = dt.time(23, 59, 59, 999999)


@dataclass(frozen=True)
class ListFilter:
    """The typed filter: its variables, and what is wrong with it."""

    resource: Resource
    form: Mapping[str, str]
    hidden: frozenset[str]
    variables: dict[str, Any] = field(default_factory=dict)
    problems: dict[str, str] = field(default_factory=dict)

    @property
    def is_set(self) -> bool:
        """Whether it leaves something out."""
        return bool(self.variables or self.problems)

    def hidden_problems(self, request: AdminRequest) -> list[str]:
        """What is wrong with fields that are not shown, which an address can have."""
        return [request.translate(text) for name, text in self.problems.items() if name in self.hidden]

    def fields(self, choices: Mapping[str, Choices]) -> list[FormField]:
        """Its fields as a form."""
        kind = list_filter_of(self.resource.query)
        shown = [each for each in fields_of(kind) if each.name not in self.hidden]
        builder = FormBuilder(self.form, self.problems, choices)
        fields = builder.build(kind, self.hidden)
        return [_as_filter(of, full, self.form) for of, full in zip(shown, fields, strict=True)]


def read_filter(resource: Resource, query: QueryParams, request: AdminRequest) -> ListFilter:
    """The filter in the query of an address."""
    kind = list_filter_of(resource.query)
    form = {name: value for name, value in query.items() if value.strip()}
    filter = ListFilter(resource, form, hidden_fields(resource, request))
    typed = Typed(form, request.reader.time_zone)
    for each in fields_of(kind):
        value = _value(each, query, typed)
        if value is not OMITTED:
            filter.variables[each.name] = (
                operation_called(value, request.translate) if each.name == "operation" else value
            )
    filter.problems.update(typed.problems)
    return filter


def hidden_fields(resource: Resource, request: AdminRequest) -> frozenset[str]:
    """Fields that people do not need: another has the same, or all that they see is of one tenant."""
    fields = {each.name: each for each in fields_of(list_filter_of(resource.query))}
    hidden = NEVER_SHOWN & fields.keys()
    if request.required_caller.role is not Role.MASTER:
        hidden |= {"marketplaceUuid"} & fields.keys()
    if request.is_partner:
        hidden |= {"partnerUuid"} & fields.keys()
    many = {each.type.name for each in fields.values() if each.kind is Kind.CHECKBOXES}
    single = {each.type.name for each in fields.values() if each.kind is Kind.SELECT}
    return hidden | {
        each.name for each in fields.values() if each.kind is Kind.CHECKBOXES and each.type.name in many & single
    }


def _value(of: InputField, query: QueryParams, typed: Typed) -> Any:
    """The value of a field; several values of a list repeat its name."""
    if of.kind in (Kind.CHECKBOXES, Kind.LINES):
        values = [value for value in query.getlist(of.name) if value]
        if of.kind is Kind.CHECKBOXES and not set(values) <= set(of.members):
            typed.problems.append((of.name, PROBLEMS[Kind.SELECT]))
            return OMITTED
        return values or OMITTED
    if of.kind is Kind.DATETIME and (day := query.get(of.name, "").strip()):
        return _moment(of.name, day, typed)
    return typed.read_one(of)


def _moment(name: str, day: str, typed: Typed) -> Any:
    """The first or the last moment of a day in the reader's time zone."""
    try:
        local = _end_of(name, parse_day(day.partition("T")[0]), ZoneInfo(typed.time_zone))
        return local.astimezone(dt.UTC).isoformat()
    except (ValueError, OverflowError):
        typed.problems.append((name, PROBLEMS[Kind.DATE]))
        return OMITTED


def _end_of(name: str, day: dt.date, zone: ZoneInfo) -> dt.datetime:
    """The first moment of a day, or its last for the end of a period."""
    return dt.datetime.combine(day, LAST_MOMENT if name.endswith("Until") else dt.time(), zone)


def day_of(name: str, written: str, zone: ZoneInfo) -> str | None:
    """The day that is typed for a point in time; None if it is no end of a day, as those of other programs."""
    try:
        moment = dt.datetime.fromisoformat(written)
        day = moment.astimezone(zone).date()
        end = _end_of(name, day, zone).astimezone(dt.UTC)
    except (ValueError, OverflowError):
        return None
    is_end = moment.tzinfo is not None and end - dt.timedelta(seconds=1) < moment <= end
    return day.isoformat() if is_end else None


def _iso_day(text: str) -> str:
    """A day as the date fields of browsers have it; what is no day stays as it is."""
    try:
        return parse_day(text.partition("T")[0]).isoformat()
    except ValueError:
        return text


def _as_filter(of: InputField, full: FormField, form: Mapping[str, str]) -> FormField:
    """The field with a short form: one choice of a list, a day of a time, one line of a long text."""
    label, value = full.label, form.get(of.name, "")
    common: dict[str, Any] = {"name": of.name, "label": label, "value": value, "error": full.error}
    match of.kind:
        case Kind.CHECKBOXES:
            return FormField(**common, kind=Kind.SELECT, choices=full.choices)
        case Kind.DATETIME:
            return FormField(**{**common, "value": _iso_day(value)}, kind=Kind.DATE)
        case Kind.LONG | Kind.LINES | Kind.EMAIL | Kind.INTEGER | Kind.DECIMAL:
            return FormField(**common, kind=Kind.TEXT)
    return FormField(**common, kind=full.kind, choices=full.choices)

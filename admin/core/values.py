"""Values of the API as cells of a page: amounts, times and names in the reader's language."""

import datetime as dt
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import orjson
from graphql import GraphQLEnumType, GraphQLField, GraphQLNamedType, get_named_type

from admin.graph.labels import label_of, translated_label, value_label
from admin.graph.schema_types import MONEY, TEXT, is_many
from admin.graph.words import CODED, CODES
from admin.resources.operations import operation_label
from funnel.core.languages import NAMES
from funnel.core.messages import N_
from schema.core.derived import mask_code
from schema.validation.languages import LANGUAGES
from store.core.localization.formats import Formats
from store.core.telemetry.logs import MASK, is_secret, mask_secrets

PICTURES = frozenset({"thumbUrl", "pictureUrl", "logoUrl", "cardUrl"})
"""Fields with the address of a picture."""
GOOD = frozenset(
    [
        "ACCEPTED",
        "ACTIVE",
        "APPROVED",
        "BOOKED",
        "CAPTURED",
        "COLLECTED",
        "COMPLETED",
        "DELIVERED",
        "DONE",
        "FULL",
        "OK",
        "PAID",
        "READY",
        "RESOLVED",
        "SENT",
        "USABLE",
        "VALIDATED",
        "WON",
    ]
)
BAD = frozenset(
    [
        "CANCELLED",
        "CHARGED_BACK",
        "DEACTIVATED",
        "DECLINED",
        "DISABLED",
        "DISPUTED",
        "ERROR",
        "EXPIRED",
        "FAILED",
        "INACTIVE",
        "LOST",
        "OUT_OF_DATE",
        "REFUSED",
        "REJECTED",
        "REVERSED",
        "WITHDRAWN",
    ]
)
WAITS = frozenset(
    [
        "CREATED",
        "DRAFT",
        "IN_PROGRESS",
        "NEEDS_ACTION",
        "NEEDS_RESPONSE",
        "NEW",
        "OPEN",
        "PARTIAL",
        "PAUSED",
        "PENDING",
        "PENDING_USER_ACTION",
        "PROCESSING",
        "QUEUED",
        "READY_TO_COLLECT",
        "REQUESTED",
        "REVIEW",
        "RUNNING",
        "SUBMITTED",
        "TO_BE_VALIDATED",
        "TO_PREPARE",
        "TO_SEND",
        "UNDER_REVIEW",
        "VALIDATION_ASKED",
        "WAITING",
    ]
)
LIST_NAME, TYPE_NAME = "list", "subjectType"
OPERATIONS = frozenset({"operation", "operations", "action"})
"""Fields with the name of a list, of a type and of an operation of the API."""
FIELD_PATH = "field"
"""The field with the path of a field of the API."""
LONGEST_LINK = 60
"""Longest address that is shown itself, in characters."""


@dataclass(frozen=True, slots=True)
class Cell:
    """A displayed value: its kind for the template, its text, and where it leads."""

    kind: str
    text: str = ""
    url: str = ""
    tone: str = ""
    title: str = ""
    """The whole of what is shortened."""
    items: Sequence["Cell"] = field(default_factory=tuple)


EMPTY = Cell("empty")
REFUNDED_ON, REFUNDED = "refundedOn", "REFUNDED"
"""The field that tells that a barred voucher was refunded, and what its state is called then."""
NOTHING = "NONE"
"""The value of an enum that is shown as if it were empty."""
RATES = re.compile(r"([rR]ate|[pP]ercentage)$")
"""Names of rates in percent."""
SIZE, FILTER, ORDER = "size", "filter", "orderBy"
"""What an export has of its file and of its list."""
UNITS = "B", "kB", "MB", "GB"
COUNTRY = re.compile(r"[cC]ountry(Code)?$")


@dataclass(frozen=True)
class Reader:
    """Who reads a page: the language and the time zone of its values."""

    formats: Formats
    time_zone: str
    translate: Callable[[str], str]
    is_partner: bool = False
    """Whether it is a user of one partner."""
    this_year: int = 0
    """The present year: its days are written without it."""

    def cell(self, name: str, of: GraphQLField, value: Any) -> Cell:
        """The cell of a field."""
        if value is None or value in ("", []):
            return EMPTY
        kind = get_named_type(of.type)
        if is_many(of.type):
            items = [self._single(name, kind, each) for each in _on_one_level(value)]
            return Cell("items", items=items) if items else EMPTY
        return self._single(name, kind, value)

    def text(self, of: GraphQLField, name: str, value: Any) -> str:
        """The value as one line of text."""
        cell = self.cell(name, of, value)
        return ", ".join(each.text for each in cell.items) if cell.items else cell.text

    def _single(self, name: str, kind: GraphQLNamedType, value: Any) -> Cell:
        if value is None:
            return EMPTY
        if isinstance(kind, GraphQLEnumType):
            label = self.translate(value_label(value))
            return Cell("chip", label, tone=tone_of(value)) if value != NOTHING else EMPTY
        match kind.name:
            case "Boolean":
                return Cell("yes" if value else "no", self.translate(N_("Yes") if value else N_("No")))
            case "DateTime":
                return Cell("time", self.short_moment(value), tone=value, title=self.moment(value))
            case "Date":
                return Cell("time", self.formats.days(dt.date.fromisoformat(value)), tone=value)
            case "Decimal" | "Int" | "Float":
                return Cell("number", self._number(name, kind.name, value))
            case "JSON":
                return self._json_cell(name, value)
        if kind.name == MONEY:
            return Cell("number", self.formats.money(Decimal(value["amount"]), value["currency"]))
        if kind.name == TEXT:
            return Cell("text", in_language(value, self.formats.language))
        return self._text_cell(name, str(value))

    def _number(self, name: str, kind: str, value: Any) -> str:
        if kind != "Decimal":
            return self._size(value) if name == SIZE else str(value)
        return self.formats.percent(Decimal(value)) if RATES.search(name) else self.formats.number(Decimal(value))

    def _json_cell(self, name: str, value: Any) -> Cell:
        if name == FILTER and isinstance(value, dict):
            return Cell("items", items=[self._condition(*each) for each in value.items()]) if value else EMPTY
        return Cell("code", orjson.dumps(without_secrets(value), option=orjson.OPT_INDENT_2).decode())

    def _size(self, count: int) -> str:
        """A number of bytes: `1.4 kB`."""
        exponent = min((len(str(count)) - 1) // 3, len(UNITS) - 1)
        return f"{self.formats.number(round(Decimal(count) / 1000**exponent, 1))} {UNITS[exponent]}"

    def _condition(self, name: str, value: Any) -> Cell:
        """A condition of the filter of a list: "Status: Paid"."""
        values = value if isinstance(value, list) else [value]
        words = ", ".join(self._condition_word(each) for each in values)
        return Cell("text", f"{self.translate(label_of(name))}{self.formats.colon} {words}")

    def _condition_word(self, value: Any) -> str:
        if isinstance(value, bool):
            return self.translate(N_("Yes") if value else N_("No"))
        is_member = isinstance(value, str) and value.isupper() and value.replace("_", "").isalpha()
        return self.translate(value_label(value)) if is_member else str(without_secrets(value))

    def _text_cell(self, name: str, value: str) -> Cell:
        is_link = value.startswith(("http://", "https://", "/"))
        if name == ORDER:
            return Cell("text", self.translate(value_label(value)))
        if name == FIELD_PATH:
            return Cell(
                "text",
                translated_label(self.translate, ": ".join(map(label_of, value.split("."))), self.formats.colon),
                title=value,
            )
        if name in OPERATIONS and not is_link:
            label = operation_label(value, self.translate, self.formats.colon)
            return Cell("text", label, title=value if label != value else "")
        if name in (LIST_NAME, TYPE_NAME):
            return Cell("text", self.translate(label_of(value)))
        if name in PICTURES:
            return Cell("picture", url=value, tone="logo" if name == "logoUrl" else "")
        if is_link and (name in OPERATIONS or name.lower().endswith("url")):
            text = value if len(value) <= LONGEST_LINK else self.translate(N_("Open it"))
            return Cell("link", text, url=value)
        if name.lower().endswith("email"):
            return Cell("text", value, url=f"mailto:{value}")
        if name == "language":
            return Cell("text", NAMES.get(value, value))
        if COUNTRY.search(name):
            return Cell("text", self.formats.country(value))
        return Cell("text", self._word(value) if name in CODED else value)

    def _word(self, value: str) -> str:
        """A word of programs, of the service or of others: "Spa" for `spa`."""
        if value in CODES:
            return self.translate(CODES[value])
        return value.capitalize() if value.isalpha() and value.islower() else value

    def day(self, text: str) -> str:
        """A day in the reader's language: `24 Dec 2026` of `2026-12-24`; what is no day stays as it is."""
        try:
            return self.formats.days(dt.date.fromisoformat(text))
        except ValueError:
            return text

    def short_moment(self, written: str) -> str:
        """A point in time in the reader's time zone, without the present year."""
        return self.formats.short_moment(dt.datetime.fromisoformat(written), self.time_zone, self.this_year)

    def moment(self, written: str) -> str:
        """A point in time in the reader's time zone, with its offset in the hour that the clocks repeat in autumn."""
        moment = dt.datetime.fromisoformat(written)
        text = self.formats.moment(moment, self.time_zone)
        offset = repeated_offset(moment.astimezone(ZoneInfo(self.time_zone)))
        return f"{text} ({offset})" if offset else text


def repeated_offset(local: dt.datetime) -> str:
    """The offset (`UTC+02:00`) of a local time that there is twice; empty for all others."""
    earlier, later = local.replace(fold=0).utcoffset(), local.replace(fold=1).utcoffset()
    assert earlier is not None
    assert later is not None
    return f"UTC{local.isoformat()[-len('+00:00') :]}" if earlier > later else ""


def in_language(text: Mapping[str, str | None], language: str) -> str:
    """A translated text in a language, or in the first that it has."""
    return next((found for each in (language, *LANGUAGES) if (found := text.get(each))), "")


def without_secrets(value: Any, name: str = "") -> Any:
    """JSON as pages show it: what has the name of a secret is masked to its end, and so are the addresses of documents."""
    if isinstance(value, dict):
        return {key: without_secrets(inner, key) for key, inner in value.items()}
    if isinstance(value, list):
        return [without_secrets(inner, name) for inner in value]
    if not isinstance(value, str) or value.startswith(MASK):
        return value
    return mask_code(value) if value and is_secret(name) else mask_secrets(value)


def _on_one_level(values: Sequence[Any]) -> Sequence[Any]:
    """The values of a list; of a list of lists, such as the tags of several partners, each once."""
    if not any(isinstance(each, list) for each in values):
        return values
    return list(dict.fromkeys(each for inner in values for each in inner))


def tone_of(value: str) -> str:
    """The colour of a state: good, bad, waiting or none."""
    return next((tone for tone, names in (("good", GOOD), ("bad", BAD), ("waits", WAITS)) if value in names), "")


def value_at(object_: Mapping[str, Any] | None, path: str) -> Any:
    """The value along a path; None where something along it is null."""
    found: Any = object_
    for name in path.split("."):
        if found is None:
            return None
        found = REFUNDED if name == "state" and is_refunded(found) else found.get(name)
    return found


def is_refunded(object_: Mapping[str, Any]) -> bool:
    """Whether an object is barred because it was refunded, which the API tells by the day only."""
    return bool(object_.get("state") == "ERROR" and object_.get(REFUNDED_ON))

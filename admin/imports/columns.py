"""The columns of an import: the fields of an input type, what they are called in a header, how their cells are read."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass

from graphql import GraphQLInputObjectType

from admin.forms.kinds import InputField, Kind, fields_of
from admin.forms.local_values import parse_day, parse_decimal, parse_moment
from admin.forms.typed import NO, YES
from admin.graph.labels import label_of
from funnel.core.messages import N_
from schema.validation.languages import LANGUAGES

LAST_MINUTE = "23:59:59"
CURRENCIES = re.compile(r"[€£$]|EUR|CHF|GBP")
UNCLEAR = re.compile(r"[+-]?\d+[.,]\d{3}", re.ASCII)
POSITIVE, NEGATIVE = frozenset({"1", "yes", "true", "x"}), frozenset({"0", "no", "false"})


NO_ANSWER = N_("Write yes or no.")
AMBIGUOUS = N_("Write it with two decimals: 1.000 could be one or a thousand.")


class UnreadableCell(ValueError):
    """A cell cannot be read; the message says why."""


@dataclass(frozen=True, slots=True)
class CsvColumn:
    """A field that a column can hold: its name with dots, its labels from the outside in, and how it is typed."""

    name: str
    labels: Sequence[str]
    of: InputField
    is_required: bool

    @property
    def label(self) -> str:
        """Its label: "Giftee details: First name"."""
        return ": ".join(self.labels)


def columns_of(kind: GraphQLInputObjectType) -> Sequence[CsvColumn]:
    """The columns of an input type. Lists have none."""
    return list(_columns(kind, "", (), is_required=True))


def _columns(
    kind: GraphQLInputObjectType, prefix: str, around: tuple[str, ...], *, is_required: bool
) -> Iterator[CsvColumn]:
    for each in fields_of(kind):
        name, labels, required = prefix + each.name, (*around, label_of(each.name)), is_required and each.is_required
        match each.kind:
            case Kind.GROUP:
                yield from _columns(each.input, f"{name}.", labels, is_required=required)
            case Kind.TRANSLATED:
                yield from (CsvColumn(f"{name}.{it}", (*labels, it), each, is_required=False) for it in LANGUAGES)
            case Kind.ROWS | Kind.REFERENCES | Kind.CHECKBOXES | Kind.LINES | Kind.FILE:
                continue
            case _:
                yield CsvColumn(name, labels, each, required)


def match_header(
    header: Sequence[str], columns: Sequence[CsvColumn], translate: Callable[[str], str]
) -> Mapping[int, str]:
    """The fields of the columns of a header by position, as far as their names or their labels tell."""
    names: dict[str, str] = {}
    for column in columns:
        labels = [" ".join(map(translate, column.labels)), " ".join(column.labels)]
        for text in (column.name, *labels):
            names.setdefault(_plain(text), column.name)
    found: dict[int, str] = {}
    for at, text in enumerate(header):
        name = names.get(_plain(text))
        if name is not None and name not in found.values():
            found[at] = name
    return found


def form_of(
    cells: Sequence[str], fields: Mapping[int, str], columns: Mapping[str, CsvColumn]
) -> tuple[dict[str, str], dict[str, str]]:
    """The cells of a line as the fields of a form, and what is wrong with those that cannot be read, by name."""
    form, problems = dict[str, str](), dict[str, str]()
    for at, name in fields.items():
        if at < len(cells) and cells[at]:
            try:
                form[name] = _normal(columns[name], cells[at])
            except UnreadableCell as error:
                form[name], problems[name] = cells[at], str(error)
    return form, problems


def _plain(text: str) -> str:
    return "".join(character for character in text.casefold() if character.isalnum())


def _normal(column: CsvColumn, cell: str) -> str:
    """A cell as it would be typed in a form."""
    match column.of.kind:
        case Kind.DATETIME:
            return _moment(cell, is_end=column.name.endswith("expiresOn"))
        case Kind.DATE:
            return _moment(cell, is_end=False)[:10]
        case Kind.DECIMAL:
            return _amount(cell)
        case Kind.BOOLEAN | Kind.TRISTATE:
            return _answer(cell)
        case Kind.SELECT:
            return cell.upper().replace(" ", "_")
    return cell


def _moment(cell: str, *, is_end: bool) -> str:
    """A day or a time as ISO 8601 has it. A day alone begins at midnight; what ends then ends with the day."""
    with suppress(ValueError):
        return f"{parse_day(cell).isoformat()}T{LAST_MINUTE if is_end else '00:00'}"
    with suppress(ValueError):
        return parse_moment(cell).isoformat()
    return cell


def _answer(cell: str) -> str:
    if cell.casefold() not in POSITIVE | NEGATIVE:
        raise UnreadableCell(NO_ANSWER)
    return YES if cell.casefold() in POSITIVE else NO


def _amount(cell: str) -> str:
    """An amount with a point. Raises UnreadableCell for a single mark before three digits: `1.000` is one in some countries and a
    thousand in others.
    """
    text = CURRENCIES.sub("", cell).strip()
    if UNCLEAR.fullmatch(text):
        raise UnreadableCell(AMBIGUOUS)
    try:
        return parse_decimal(text)
    except ValueError:
        return text

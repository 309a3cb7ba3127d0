"""The values of an object as labelled facts, and its lists as tables."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from graphql import GraphQLField, GraphQLObjectType, get_named_type

from admin.core.titles import title_of, url_of
from admin.core.values import EMPTY, REFUNDED, Cell, Reader, is_refunded
from admin.graph.labels import label_of
from admin.graph.schema_types import is_many
from admin.graph.selections import leaf_selection, node_of
from admin.graph.words import FILLERS
from admin.resources.registry import resources_by_type
from admin.resources.resource import Resource
from admin.resources.tables import TABLE_COLUMNS

MOST_COLUMNS = 12
KEYS = "id", "uuid"
"""What objects are found by, which people need not know."""
FOR_PROGRAMS = frozenset({"contentType", "payinResultCode", "reasonCode", "resultCode", "sourceKind"})
"""Codes of the provider and of programs."""
FOR_PEOPLE = frozenset({"bookingEngineId", "reservationId"})
"""Numbers that people have from elsewhere."""


@dataclass(frozen=True, slots=True)
class Fact:
    """A labelled value."""

    name: str
    label: str
    cell: Cell


@dataclass(frozen=True, slots=True)
class Table:
    """Objects below each other: the labels of the columns, and for each object its cells and its own values."""

    labels: Sequence[str]
    rows: Sequence[tuple[Sequence[Cell], Mapping[str, Any]]]
    names: Sequence[str] = ()
    """The names of the fields in the columns."""
    sums: Sequence[Cell] = ()
    """The row below all others, with a cell for each column; empty without sums."""

    def is_number(self, column: int) -> bool:
        """Whether a column has numbers."""
        return any(cells[column].kind == "number" for cells, _ in self.rows)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a page with a heading: facts, or a table."""

    name: str
    label: str
    facts: Sequence[Fact] = ()
    table: Table | None = None


def facts_of(kind: GraphQLObjectType, values: Mapping[str, Any], reader: Reader) -> Iterator[Fact]:
    """The values of an object that are not null, and the objects that it leads to."""
    for name, field in _present(kind, values, reader):
        value = REFUNDED if name == "state" and is_refunded(values) else values[name]
        cell = _cell(name, field, value, reader)
        if cell is not None and cell.kind != "empty":
            yield Fact(name, label_of(name), cell)


def parts_of(
    kind: GraphQLObjectType, values: Mapping[str, Any], reader: Reader, page: str = "", *, is_report: bool = False
) -> Iterator[Part]:
    """The embedded objects of an object, and its lists of objects. What they have in common, the `page`, is left out.

    Below the tables of a report are the lists of the objects in them, and in their last row the sums that it has.
    """
    for name, field in _present(kind, values, reader):
        inner = get_named_type(field.type)
        if leaf_selection(field) is not None or not isinstance(inner, GraphQLObjectType):
            continue
        if (node := node_of(inner)) is not None:
            if table := table_of_objects(node, values[name]["nodes"], reader, page):
                yield Part(name, label_of(name), table=_with_sums(table, kind, values, reader) if is_report else table)
        elif is_many(field.type):
            if table := table_of_objects(inner, values[name], reader, page):
                yield Part(name, label_of(name), table=_with_sums(table, kind, values, reader) if is_report else table)
            if is_report and inner.name not in resources_by_type():
                yield from _tables_in_rows(name, inner, values[name], reader)
        elif inner.name not in resources_by_type():
            facts = list(_deep_facts(inner, values[name], reader, page))
            if facts:
                yield Part(name, label_of(name), facts)
            yield from _tables_in(name, inner, values[name], reader, page)


def _tables_in(
    name: str, kind: GraphQLObjectType, values: Mapping[str, Any], reader: Reader, page: str
) -> Iterator[Part]:
    """The lists of objects of an embedded object. Other facts within it are among its own."""
    for part in parts_of(kind, values, reader, page):
        if part.table is not None:
            yield Part(part.name, _label_within(name, part.label), table=part.table)


def _tables_in_rows(
    name: str, kind: GraphQLObjectType, objects: Sequence[Mapping[str, Any]], reader: Reader
) -> Iterator[Part]:
    """The lists of each object of a table, of several under the first of its values."""
    for each in objects:
        facts = _deep_facts(kind, each, reader, "") if len(objects) > 1 else ()
        first = next((fact.cell.text for fact in facts if fact.cell.text), "")
        for part in parts_of(kind, each, reader, is_report=True):
            if part.table is not None:
                yield Part(part.name, _label_within(name, first, part.label), table=part.table)


def _label_within(name: str, *labels: str) -> str:
    """The label of what is within a field: "Wallet: Transfers"."""
    return ": ".join(label for label in ("" if name in FILLERS else label_of(name), *labels) if label)


def _with_sums(table: Table, kind: GraphQLObjectType, values: Mapping[str, Any], reader: Reader) -> Table:
    """The table with the sums that the object around it has: amounts of the same names as its columns."""
    facts = {fact.name: fact.cell for fact in facts_of(kind, values, reader) if fact.cell.kind == "number"}
    aliases = {**facts, **({"amount": facts["total"]} if "total" in facts else {})}
    sums = [aliases.get(name, EMPTY) if table.is_number(at) else EMPTY for at, name in enumerate(table.names)]
    return replace(table, sums=sums) if any(cell is not EMPTY for cell in sums) else table


def is_technical(name: str) -> bool:
    """Whether a value is for programs rather than for people."""
    return name in KEYS or name in FOR_PROGRAMS or (name.endswith(("Id", "Uuid")) and name not in FOR_PEOPLE)


def _deep_facts(kind: GraphQLObjectType, values: Mapping[str, Any], reader: Reader, page: str) -> Iterator[Fact]:
    """The facts of an embedded object, and of those that are embedded in it, without their keys and links to the page."""
    for fact in facts_of(kind, values, reader):
        if not is_technical(fact.name) and not (page and fact.cell.url == page):
            yield fact
    for name, field in _present(kind, values, reader):
        inner = get_named_type(field.type)
        if _is_embedded(field, inner) and isinstance(inner, GraphQLObjectType):
            for fact in _deep_facts(inner, values[name], reader, page):
                yield Fact(fact.name, _label_within(name, fact.label), fact.cell)


def _present(kind: GraphQLObjectType, values: Mapping[str, Any], reader: Reader) -> Iterator[tuple[str, GraphQLField]]:
    """The fields with a value: without the keys of objects that are there too, and the one partner of the reader."""
    for name, field in kind.fields.items():
        stem = name.removesuffix("Uuid").removesuffix("Id")
        is_told = stem != name and values.get(stem) is not None
        is_own = reader.is_partner and get_named_type(field.type).name == "Partner" and not is_many(field.type)
        if values.get(name) is not None and not is_told and not is_own:
            yield name, field


def _is_embedded(field: GraphQLField, inner: Any) -> bool:
    if leaf_selection(field) is not None:
        return False
    is_list = is_many(field.type) or node_of(inner) is not None
    return not is_list and inner.name not in resources_by_type()


def _cell(name: str, field: GraphQLField, value: Any, reader: Reader) -> Cell | None:
    """A value, or a link to an object with a page; None for embedded objects and for lists of objects."""
    if leaf_selection(field) is not None:
        return reader.cell(name, field, value)
    resource = resources_by_type().get(get_named_type(field.type).name)
    if resource is None or is_many(field.type):
        return None
    return link_to(resource, value, reader)


def link_to(resource: Resource, values: Mapping[str, Any], reader: Reader) -> Cell:
    """The name of an object, which leads to its page if the reader may see it."""
    title = title_of(resource, values, reader)
    if resource.is_of_network and reader.is_partner:
        return Cell("text", title)
    return Cell("object", title, url_of(resource, values))


def table_of_objects(
    kind: GraphQLObjectType, objects: Sequence[Mapping[str, Any]], reader: Reader, page: str = ""
) -> Table | None:
    """The objects of a list. Columns in which no object has a value are left out."""
    if not objects:
        return None
    resource = resources_by_type().get(kind.name)
    if resource is not None:
        return Table([""], [([link_to(resource, each, reader)], each) for each in objects])
    found = [{fact.name + fact.label: fact for fact in _deep_facts(kind, each, reader, page)} for each in objects]
    labels = {key: fact.label for facts in found for key, fact in facts.items()}
    names = {key: fact.name for facts in found for key, fact in facts.items()}
    wanted = TABLE_COLUMNS.get(kind.name, ())
    first = [next(key for key in names if names[key] == name) for name in wanted if name in names.values()]
    keys = (first if wanted else list(labels))[:MOST_COLUMNS]
    if not keys:
        return None
    rows = [
        ([facts[key].cell if key in facts else EMPTY for key in keys], each)
        for facts, each in zip(found, objects, strict=True)
    ]
    if wanted:  # their names are told apart by themselves
        labels = {key: label.rpartition(": ")[2] for key, label in labels.items()}
    return Table([labels[key] for key in keys], rows, [names[key] for key in keys])

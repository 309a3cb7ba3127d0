"""Reads related rows in the statement of the rows themselves, which saves round trips.

A look-up reads all that is related to its row, as arrays of records. A page joins the single rows that its rows are
related to.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlalchemy import (
    ARRAY,
    JSON,
    ColumnElement,
    Dialect,
    FromClause,
    Integer,
    Select,
    String,
    func,
    select,
)
from sqlalchemy.types import TypeEngine, UserDefinedType
from strawberry.types import get_object_definition

from schema.core.field_source import Relation
from store.database.loaders import TableOf, key_column, order_columns
from store.database.projection_fields import LoadFunction, LoadSource, RelatedRows
from store.database.statement_cache import result_converter_of, stored_type_of

KeyedRows = dict[tuple[Relation, tuple[str, ...]], dict[Any, list[Any]]]
"""The rows of each relation with these columns, by key. A key without rows has an empty list."""


def _readable(column: ColumnElement[Any]) -> ColumnElement[Any]:
    """A column as the driver can read it within a record. It knows no arrays there: they come as JSON.

    Members of an enum are their stored texts then. TypeError for an array whose values JSON would change.
    """
    kind = stored_type_of(column.type)
    if not isinstance(kind, ARRAY):
        return column
    if isinstance(kind.item_type, Integer | String):
        return func.to_jsonb(column, type_=JSON)
    raise TypeError(f"{column} cannot be read within a record.")


class _Records(UserDefinedType[Any]):
    """An array of records whose columns have these types."""

    cache_ok = True

    def __init__(self, *kinds: TypeEngine[Any]) -> None:
        self.kinds = kinds

    def result_processor(self, dialect: Dialect, coltype: object) -> Callable[[Any], Any] | None:  # noqa: ARG002
        readers = [(at, read) for at, kind in enumerate(self.kinds) if (read := result_converter_of(kind, dialect))]

        def convert(records: Sequence[Any]) -> list[Any]:
            rows = [tuple(record) for record in records]
            for at, read in readers:
                rows = [(*row[:at], None if row[at] is None else read(row[at]), *row[at + 1 :]) for row in rows]
            return rows

        return convert


def related_rows(kind: type, name: str, columns: Sequence[str], *related: RelatedRows) -> RelatedRows:
    """The rows of a published relation of a type, with these columns."""
    field = get_object_definition(kind, strict=True).get_field(name)
    link = None if field is None else field.metadata.get("compiled")
    if not isinstance(link, Relation):
        raise TypeError(f"{kind.__name__}.{name} is no relation.")
    return RelatedRows(link, "id" if link.many else link.by, tuple(columns), related)


def related_column(related: RelatedRows, owner: FromClause, table_of: TableOf) -> ColumnElement[Any]:
    """The related rows of a row of `owner`, as (key, id, *columns, *the rows related to them)."""
    link = related.relation
    rows = table_of(link.target).__table__.alias()
    key = rows.c[key_column(link)]
    columns = [key, *(_readable(rows.c[name]) for name in ("id", *related.columns))]
    columns += [related_column(each, rows, table_of) for each in related.related]
    query = (
        select(func.row(*columns))
        .where(key == owner.c[related.key_column])
        .order_by(*order_columns(link, rows, table_of))
    )
    return func.array(query.correlate(owner).scalar_subquery(), type_=_Records(*(each.type for each in columns)))


def join_related(
    rows: FromClause, columns: Sequence[str], joined: Sequence[RelatedRows], table_of: TableOf
) -> Select[Any]:
    """`columns` of rows that are cut to a page already, and of each single row that they are related to its id and
    columns. No order.
    """
    tables = rows
    selected = [rows.c[name] for name in columns]
    for each in joined:
        one = table_of(each.relation.target).__table__.alias()
        tables = tables.outerjoin(one, one.c.id == rows.c[each.key_column])
        selected += [one.c[name] for name in ("id", *each.columns)]
    return select(*selected).select_from(tables)


def split_joined(
    rows: Sequence[Any], columns: Sequence[str], joined: Sequence[RelatedRows]
) -> tuple[Sequence[Any], KeyedRows]:
    """Rows (order key, id, *columns, *(id and columns of each joined row)): the rows, and the joined by relation and key."""
    by_relation: KeyedRows = {}
    at = width = 2 + len(columns)
    for each in joined:
        by_key = by_relation.setdefault((each.relation, each.columns), {})
        end = at + 1 + len(each.columns)
        for row in rows:
            if (key := row[at]) is not None and key not in by_key:
                by_key[key] = [(key, *row[at:end])]
        at = end
    return [row[:width] for row in rows], by_relation


def split_related(
    rows: Sequence[Any], columns: Sequence[str], related: Sequence[RelatedRows]
) -> tuple[list[Any], KeyedRows]:
    """Rows (order key, id, *columns, *related rows): without the related rows, and these by relation and key."""
    by_relation: KeyedRows = {}
    return _split(rows, columns, related, by_relation), by_relation


def _split(
    rows: Sequence[Any], columns: Sequence[str], related: Sequence[RelatedRows], by_relation: KeyedRows
) -> list[Any]:
    width = 2 + len(columns)
    for at, each in enumerate(related, start=width):
        by_key = by_relation.setdefault((each.relation, each.columns), {})
        key_at = 2 + columns.index(each.key_column)
        for row in rows:
            by_key[row[key_at]] = _split(row[at], each.columns, each.related, by_relation)
    return [row[:width] for row in rows]


def load_first_from(by_relation: KeyedRows, load: LoadFunction) -> LoadFunction:
    """A function that takes the rows that were read, and loads others."""

    async def load_rest(link: LoadSource, keys: Sequence[Any], columns: Sequence[str] | None) -> Mapping[Any, Any]:
        by_key = by_relation.get((link, tuple(columns))) if isinstance(link, Relation) and columns is not None else None
        if by_key is None or not isinstance(link, Relation):
            return await load(link, keys, columns)
        held = {key: by_key[key] for key in keys if key in by_key}
        answer: dict[Any, Any] = held if link.many else {key: rows[0] for key, rows in held.items() if rows}
        missing = [key for key in keys if key not in held]
        return {**answer, **await load(link, missing, columns)} if missing else answer

    return load_rest

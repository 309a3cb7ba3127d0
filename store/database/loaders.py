"""Rows of published resources: their columns, and one statement per level of a query."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias

from sqlalchemy import ARRAY, ColumnElement, FromClause, any_, bindparam
from sqlmodel import select
from strawberry.dataloader import DataLoader
from strawberry.types import get_object_definition

from schema.core.field_permission import FieldPermission
from schema.core.field_source import Computed, ComputedCall, Relation
from store.database.projection_fields import CONTEXT, LoadSource
from store.database.statement_cache import Statement
from store.database.transaction_reader import DatabaseReader


def column(table: Any, name: str) -> Any:
    return table.__table__.c[name]


def is_any_of(tested: Any, values: Sequence[Any] | None = None, name: str | None = None) -> ColumnElement[bool]:
    """`column = ANY(values)`: one parameter for any number of values, so that the statement can be cached."""
    condition: ColumnElement[bool] = tested == any_(bindparam(name, values, type_=ARRAY(tested.type), required=False))
    return condition


TableOf: TypeAlias = Callable[[Any], Any]
"""The table class of a published resource: `table_of` of `store/tables.py`, which is above this package."""


class LoaderContext(Protocol):
    """The caller of a query: what it may see, and the values computed for it."""

    def is_visible(self, field_permission: FieldPermission, owner: tuple[Any, ...]) -> bool:
        """True if the caller sees a protected value of this partner and marketplace.

        Raises if it lacks the permission.
        """

    async def compute(self, value: Computed, ids: Sequence[int], **arguments: Any) -> Mapping[int, Any]:
        """The computed value of the objects with these ids."""


class Loaders:
    """Related rows and computed values in batches, one load per level; created anew for each request."""

    def __init__(self, db: DatabaseReader, context: LoaderContext, table_of: TableOf) -> None:
        self.db = db
        self.context = context
        self.table_of = table_of
        self.loaders: dict[Relation | Computed | ComputedCall, DataLoader[Any, Any]] = {}

    async def load(
        self, link: LoadSource | ComputedCall, keys: Sequence[Any], columns: Sequence[str] | None = None
    ) -> Mapping[Any, Any]:
        """The loaded value of each key.

        Related rows are whole objects or, with `columns`, tuples of plain data (key, id, *columns). Computed values are
        keyed by the id of their object. For a field permission, the keys are owners, and only those whose rows the
        caller sees are returned. For `CONTEXT`, the value is the context.
        """
        keys_once = list({k for k in keys if k is not None})
        if not keys_once:
            return {}
        if link is CONTEXT:
            return dict.fromkeys(keys_once, self.context)
        if isinstance(link, FieldPermission):
            return {owner: True for owner in keys_once if self.context.is_visible(link, owner)}
        if isinstance(link, Computed):
            return await self.context.compute(link, sorted(keys_once))
        if isinstance(link, ComputedCall):
            return await self.context.compute(link.value, sorted(keys_once), **dict(link.arguments))
        if link.scope_column is not None:
            return await self._load_of_owners(link, link.scope_column, keys_once, columns)
        rows = await (
            self._objects(link, keys_once) if columns is None else self._tuples(link, keys_once, tuple(columns))
        )
        of: Callable[[Any], Any] = (
            operator.itemgetter(0) if columns is not None else operator.attrgetter(key_column(link))
        )
        if not link.many:
            return {of(row): row for row in rows}
        grouped: dict[Any, list[Any]] = {k: [] for k in keys_once}
        for row in rows:
            grouped[of(row)].append(row)
        return grouped

    async def _load_of_owners(
        self, link: Relation, name: str, keys: list[tuple[Any, Any]], columns: Sequence[str] | None
    ) -> Mapping[Any, Any]:
        """The rows of pairs of an owner and an id: of the rows with these ids, those of the same owner."""
        ids = list({id for _, id in keys})
        if columns is None:
            return {(getattr(row, name), row.id): row for row in await self._objects(link, ids)}
        rows = await self._tuples(link, ids, (*columns, name))
        return {(row[-1], row[0]): row[:-1] for row in rows}

    async def _objects(self, link: Relation, keys: list[Any]) -> Sequence[Any]:
        table = self.table_of(link.target)
        statement: Any = (
            select(table)
            .where(is_any_of(column(table, key_column(link)), keys))
            .order_by(*order_columns(link, table.__table__, self.table_of))
        )
        async with self.db.read_sessions() as session:
            rows: Sequence[Any] = (await session.exec(statement)).all()
        return rows

    async def _tuples(self, link: Relation, keys: list[Any], columns: tuple[str, ...]) -> Sequence[Any]:
        def build() -> Statement:
            table = self.table_of(link.target)
            key = column(table, key_column(link))
            selected = (column(table, name) for name in ("id", *columns))
            query: Statement = (
                select(key, *selected)
                .where(is_any_of(key, name="keys"))
                .order_by(*order_columns(link, table.__table__, self.table_of))
            )
            return query

        return await self.db.statements.rows((link, columns), build, {"keys": keys})

    def loader_for(self, link: Relation | Computed | ComputedCall) -> DataLoader[Any, Any]:
        """`load` for graphql-core, which resolves object by object."""
        if link not in self.loaders:

            async def load(keys: list[Any]) -> list[Any]:
                rows_by_key = await self.load(link, keys)
                absent: Any = [] if isinstance(link, Relation) and link.many else None
                return [rows_by_key.get(k, absent) for k in keys]

            self.loaders[link] = DataLoader(load_fn=load, cache=False)  # a later mutation may change the row
        return self.loaders[link]


def key_column(link: Relation) -> str:
    """The column of related rows with the key by which they are found."""
    return link.by if link.many else "id"


def order_columns(link: Relation, rows: FromClause, table_of: TableOf) -> list[Any]:
    """What orders related rows, which are those of their table or of an alias of it."""
    return [_order_column(link.target, rows, name, table_of) for name in dict.fromkeys((link.order, "id"))]


def _order_column(kind: Any, rows: FromClause, name: str, table_of: TableOf) -> Any:
    """The column that orders related rows: their own, or `option.ranking`, a column of the single row they are related
    to.
    """
    step, _, rest = name.rpartition(".")
    if not step:
        return rows.c[rest]
    field = get_object_definition(kind, strict=True).get_field(step)
    related = None if field is None else field.metadata["compiled"]
    if not isinstance(related, Relation) or related.many:
        raise LookupError(f"{kind.__name__}.{step} is no single row to be ordered by.")
    other = table_of(related.target)
    one = select(column(other, rest)).where(column(other, "id") == rows.c[related.by])
    return one.correlate(rows).scalar_subquery()

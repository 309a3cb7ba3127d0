"""Rows of published resources: their table, their columns, and one statement for each level of a query."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from sqlalchemy import ARRAY, ColumnElement, any_, bindparam
from sqlmodel import select
from strawberry.dataloader import DataLoader
from strawberry.types import get_object_definition

from schema.core.field_permission import Guard
from schema.core.field_source import Computed, Relation
from store.database.projection_fields import ASKING, Loaded
from store.database.statement_cache import Statement
from store.database.transaction_reader import Reads


def find_table(kind: Any) -> Any | None:
    """The table class of a published type; None for one that is not kept in the database."""
    return next((s for s in kind.__subclasses__() if hasattr(s, "__table__")), None)


def table_of(kind: Any) -> Any:
    """The table class of a published resource; LookupError when there is none."""
    table = find_table(kind)
    if table is None:
        raise LookupError(f"{kind.__name__} has no table: import the module of store/ that declares its row class.")
    return table


def column(table: Any, name: str) -> Any:
    """A column of a table class, by its name."""
    return table.__table__.c[name]


def among(tested: Any, values: Sequence[Any] | None = None, name: str | None = None) -> ColumnElement[bool]:
    """Whether a column is one of these values: one parameter, however many they are, so that the statement is kept."""
    found: ColumnElement[bool] = tested == any_(bindparam(name, values, type_=ARRAY(tested.type), required=False))
    return found


class Asking(Protocol):
    """Whoever reads: what is shown to it, and what is worked out for it."""

    def shows(self, guard: Guard, owner: tuple[Any, ...]) -> bool:
        """Whether a guarded value of this partner and marketplace is shown; refuses who lacks the permission."""

    async def compute(self, value: Computed, ids: Sequence[int]) -> Mapping[int, Any]:
        """A computed value of the objects with these ids."""


class Loaders:
    """Related rows and computed values in batches, one load a level; made anew for each request."""

    def __init__(self, db: Reads, asking: Asking) -> None:
        self.db = db
        self.asking = asking
        self.loaders: dict[Relation | Computed, DataLoader[Any, Any]] = {}

    async def level(self, link: Loaded, keys: Sequence[Any], columns: Sequence[str] | None = None) -> Mapping[Any, Any]:
        """What belongs to each key.

        Related rows are whole objects, or tuples of plain data (key, id, *columns); computed values are found by the id
        of their object. Of a guard the keys are owners, and those whose rows are shown are answered. For `ASKING` it is
        whoever asks.
        """
        wanted = list({k for k in keys if k is not None})
        if not wanted:
            return {}
        if link is ASKING:
            return dict.fromkeys(wanted, self.asking)
        if isinstance(link, Guard):
            return {owner: True for owner in wanted if self.asking.shows(link, owner)}
        if isinstance(link, Computed):
            return await self.asking.compute(link, sorted(wanted))
        if link.within is not None:
            return await self._within(link, link.within, wanted, columns)
        rows = await (self._objects(link, wanted) if columns is None else self._tuples(link, wanted, tuple(columns)))
        of: Callable[[Any], Any] = operator.itemgetter(0) if columns is not None else operator.attrgetter(_key(link))
        if not link.many:
            return {of(row): row for row in rows}
        grouped: dict[Any, list[Any]] = {k: [] for k in wanted}
        for row in rows:
            grouped[of(row)].append(row)
        return grouped

    async def _within(
        self, link: Relation, name: str, keys: list[tuple[Any, Any]], columns: Sequence[str] | None
    ) -> Mapping[Any, Any]:
        """What belongs to pairs of an owner and an id: of the rows with these ids, those of the same owner."""
        ids = list({id for _, id in keys})
        if columns is None:
            return {(getattr(row, name), row.id): row for row in await self._objects(link, ids)}
        rows = await self._tuples(link, ids, (*columns, name))
        return {(row[-1], row[0]): row[:-1] for row in rows}

    async def _objects(self, link: Relation, keys: list[Any]) -> Sequence[Any]:
        table = table_of(link.to)
        statement: Any = select(table).where(among(column(table, _key(link)), keys)).order_by(*_order(link))
        async with self.db.sessions() as session:
            found: Sequence[Any] = (await session.exec(statement)).all()
        return found

    async def _tuples(self, link: Relation, keys: list[Any], columns: tuple[str, ...]) -> Sequence[Any]:
        def build() -> Statement:
            table = table_of(link.to)
            key = column(table, _key(link))
            wanted = (column(table, name) for name in ("id", *columns))
            made: Statement = select(key, *wanted).where(among(key, name="keys")).order_by(*_order(link))
            return made

        return await self.db.kept.rows((link, columns), build, {"keys": keys})

    def one(self, link: Relation | Computed) -> DataLoader[Any, Any]:
        """The same for graphql-core, which asks object by object."""
        if link not in self.loaders:

            async def load(keys: list[Any]) -> list[Any]:
                found = await self.level(link, keys)
                absent: Any = [] if link.many and isinstance(link, Relation) else None
                return [found.get(k, absent) for k in keys]

            self.loaders[link] = DataLoader(load_fn=load, cache=False)  # a later mutation may change the row
        return self.loaders[link]


def _key(link: Relation) -> str:
    return link.by if link.many else "id"


def _order(link: Relation) -> list[Any]:
    return [_place(link.to, name) for name in dict.fromkeys((link.order, "id"))]


def _place(kind: Any, name: str) -> Any:
    """What related rows are ordered by: a column, or `option.ranking`, that of the one row which they are related to."""
    step, _, rest = name.rpartition(".")
    table = table_of(kind)
    if not step:
        return column(table, rest)
    field = get_object_definition(kind, strict=True).get_field(step)
    related = None if field is None else field.metadata["compiled"]
    if not isinstance(related, Relation) or related.many:
        raise LookupError(f"{kind.__name__}.{step} is no single row to be ordered by.")
    other = table_of(related.to)
    one = select(column(other, rest)).where(column(other, "id") == column(table, related.by))
    return one.correlate(table).scalar_subquery()

"""Rows of published resources: their table, their columns, and one statement for each level of a query."""

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sqlmodel import select
from strawberry.dataloader import DataLoader

from schema.values import Relation
from store.db import Database


def table_of(kind: Any) -> Any:
    """The table class of a published resource."""
    return next(s for s in kind.__subclasses__() if hasattr(s, "__table__"))


def column(table: Any, name: str) -> Any:
    """A column of a table class, by its name."""
    return table.__table__.c[name]


class Loaders:
    """Related rows in batches, one statement a level; made anew for each request."""

    def __init__(self, db: Database) -> None:
        self.db = db
        self.loaders: dict[Relation, DataLoader[Any, Any]] = {}

    async def level(
        self, link: Relation, keys: Sequence[Any], columns: Sequence[str] | None = None
    ) -> Mapping[Any, Any]:
        """The related rows by key: whole objects, or tuples of (key, id, *columns)."""
        table = table_of(link.to)
        wanted = {k for k in keys if k is not None}
        if not wanted:
            return {}
        key = link.by if link.many else "id"
        what = [table] if columns is None else [column(table, c) for c in (key, "id", *columns)]
        order = [column(table, c) for c in dict.fromkeys((link.order, "id"))]
        statement: Any = select(*what).where(column(table, key).in_(wanted)).order_by(*order)
        of: Callable[[Any], Any]
        if columns is None:
            async with self.db.sessions() as session:
                rows: Sequence[Any] = (await session.exec(statement)).all()
            of = operator.attrgetter(key)
        else:
            rows = await self.db.rows(statement)
            of = operator.itemgetter(0)
        if not link.many:
            return {of(row): row for row in rows}
        grouped: dict[Any, list[Any]] = {k: [] for k in wanted}
        for row in rows:
            grouped[of(row)].append(row)
        return grouped

    def one(self, link: Relation) -> DataLoader[Any, Any]:
        """The same for graphql-core, which asks object by object."""
        if link not in self.loaders:

            async def load(keys: list[Any]) -> list[Any]:
                found = await self.level(link, keys)
                return [found.get(k, [] if link.many else None) for k in keys]

            self.loaders[link] = DataLoader(load_fn=load)
        return self.loaders[link]

"""Pages of rows that pass tests of which nobody knows beforehand how many rows pass them.

PostgreSQL's guess of it is a guess about texts that are alike in many rows. Guessing too few, it would sort half a table to
show the first twenty; guessing too many, it would walk through the whole of it for the one row. So both ways are bounded:
first the next rows of the list, so many, are looked at; where they do not fill a page, the rows that pass are few, or far
away, and the index of what is tested finds them.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sqlalchemy
from sqlalchemy import ColumnElement, FromClause, Integer, bindparam, literal_column, select

from store.database.keyset import Order
from store.database.statement_cache import Statement

NEXT = 5000
"""How many rows are looked at before the index is asked."""
MANY = 500
"""Where so many of the next rows pass, all that pass are counted without the index: they would be found on every page of it."""


@lru_cache(maxsize=64)
def _named(table: Any) -> FromClause:
    """The next rows of a table's list, for statements that begin with them."""
    return sqlalchemy.table("near", *(sqlalchemy.column(each.name, each.type) for each in table.__table__.c))


@dataclass(frozen=True)
class SiftedPage:
    """The statements of one page; both answer `size` rows at most of (order column, id, *others wanted)."""

    order: Order
    wanted: Sequence[Any]
    turned: bool
    size: int
    offset: int

    @property
    def key(self) -> Hashable:
        """What the statements are kept by, besides their tests."""
        return (self.order, tuple(each.name for each in self.wanted), self.turned, bool(self.offset))

    @property
    def values(self) -> dict[str, Any]:
        """The named parameters."""
        return {"size": self.size} | ({"offset": self.offset} if self.offset else {})

    @property
    def next_rows(self) -> FromClause:
        """What is tested by the tests that `among_next` does not put inside."""
        return _named(self.order.table)

    def among_next(self, inside: int, *conditions: ColumnElement[bool]) -> Statement:
        """Those of the next rows that pass; the first `inside` conditions say what the next rows are."""
        near, within = self.next_rows, select(self.order.table.__table__).where(*conditions[:inside])
        within = within.order_by(*self.order.clauses(turned=self.turned)).limit(literal_column(str(NEXT)))
        passing = select(*(near.c[each.name] for each in self.wanted)).where(*conditions[inside:])
        order = [near.c[each.name] for each in self.order.columns]
        return self._page(passing.add_cte(within.cte("near")), order)

    def among_all(self, tests: int, branches: Sequence[int], *conditions: ColumnElement[bool]) -> Statement:
        """All that pass, fetched and then sorted: the order's own index is not to be walked along."""
        ranges = iter(conditions[tests:])
        spans = [sqlalchemy.and_(sqlalchemy.true(), *(next(ranges) for _ in range(length))) for length in branches]
        named = [each.label(f"c{at}") for at, each in enumerate(self.wanted)]
        found = select(*named).where(*conditions[:tests], sqlalchemy.or_(*spans)).cte("found")
        passing = found.prefix_with("MATERIALIZED")
        return self._page(select(*passing.c), [passing.c.c0, passing.c.c1])

    def _page(self, passing: Any, order: Sequence[Any]) -> Statement:
        down = self.order.down is not self.turned
        ordered = passing.order_by(*(each.desc() if down else each.asc() for each in order))
        ordered = ordered.limit(bindparam("size", type_=Integer))
        page: Statement = ordered.offset(bindparam("offset", type_=Integer)) if self.offset else ordered
        return page

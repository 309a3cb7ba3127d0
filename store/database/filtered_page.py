"""Pages of rows that pass filters whose number of matches is unknown beforehand.

PostgreSQL's estimates for texts are unreliable. If it expects too few matches, it sorts half a table to show the first
twenty rows. If it expects too many, it walks through the whole table for a single row. So both ways are bounded. First
a fixed number of the list's next rows is scanned. If they do not fill a page, the matches are few or far away, and the
index of the filter finds them.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import sqlalchemy
from sqlalchemy import ColumnElement, FromClause, Integer, bindparam, literal_column, select

from store.database.keyset import KeysetOrder
from store.database.statement_cache import Statement

SCANNED_ROWS = 5000
"""Number of rows that are scanned before the index is used."""
MANY_MATCHES = 500
"""If this many of the next rows match, all matches are counted without the index: they lie on every page of the
table."""


@lru_cache(maxsize=64)
def _next_rows_of(table: Any) -> FromClause:
    """The next rows of a table's list, as the common table expression that the statements begin with."""
    return sqlalchemy.table("near", *(sqlalchemy.column(each.name, each.type) for each in table.__table__.c))


@dataclass(frozen=True)
class FilteredPage:
    """The statements of one page. Both return at most `size` rows of (order column, id, *further columns)."""

    order: KeysetOrder
    columns: Sequence[Any]
    backwards: bool
    size: int
    offset: int

    @property
    def cache_key(self) -> Hashable:
        """The cache key of the statements, without their conditions."""
        return (self.order, tuple(each.name for each in self.columns), self.backwards, bool(self.offset))

    @property
    def values(self) -> dict[str, Any]:
        """The named parameters."""
        return {"size": self.size} | ({"offset": self.offset} if self.offset else {})

    @property
    def next_rows(self) -> FromClause:
        """The rows to which the outer conditions of `scan_first` apply."""
        return _next_rows_of(self.order.table)

    def scan_first(self, inside: int, *conditions: ColumnElement[bool]) -> Statement:
        """The matches among the next rows. The first `inside` conditions define the next rows."""
        near, within = self.next_rows, select(self.order.table.__table__).where(*conditions[:inside])
        within = within.order_by(*self.order.clauses(backwards=self.backwards)).limit(literal_column(str(SCANNED_ROWS)))
        passing = select(*(near.c[each.name] for each in self.columns)).where(*conditions[inside:])
        order = [near.c[each.name] for each in self.order.columns]
        return self._page(passing.add_cte(within.cte("near")), order)

    def filter_first(self, tests: int, branches: Sequence[int], *conditions: ColumnElement[bool]) -> Statement:
        """All matches, fetched and then sorted, so that the planner cannot walk along the order's own index."""
        ranges = iter(conditions[tests:])
        spans = [sqlalchemy.and_(sqlalchemy.true(), *(next(ranges) for _ in range(length))) for length in branches]
        named = [each.label(f"c{at}") for at, each in enumerate(self.columns)]
        matches = select(*named).where(*conditions[:tests], sqlalchemy.or_(*spans)).cte("found")
        passing = matches.prefix_with("MATERIALIZED")
        return self._page(select(*passing.c), [passing.c.c0, passing.c.c1])

    def _page(self, passing: Any, order: Sequence[Any]) -> Statement:
        down = self.order.descending is not self.backwards
        ordered = passing.order_by(*(each.desc() if down else each.asc() for each in order))
        ordered = ordered.limit(bindparam("size", type_=Integer))
        page: Statement = ordered.offset(bindparam("offset", type_=Integer)) if self.offset else ordered
        return page

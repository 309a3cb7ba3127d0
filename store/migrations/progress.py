"""Long steps of revisions: they run over ranges of ids, and say how far they are."""

from collections.abc import Mapping

import structlog
from alembic import op
from sqlalchemy import text

log = structlog.get_logger(__name__)
RANGE = 100_000


def by_range(table: str, *statements: str) -> None:
    """Run statements over all ids of a table, a range after the other. Each has the parameters `first` and `last`."""
    connection = op.get_bind()
    least, greatest = connection.execute(text(f"SELECT min(id), max(id) FROM {table}")).one()  # noqa: S608 - of a name in a revision
    if least is None:
        return
    for first in range(least, greatest + 1, RANGE):
        last = min(first + RANGE - 1, greatest)
        for statement in statements:
            connection.execute(text(statement), {"first": first, "last": last})
        if greatest - least >= RANGE:
            log.info("migrating", table=table, done=last - least + 1, total=greatest - least + 1)


def by_step(steps: Mapping[str, str]) -> None:
    """Run statements one after the other, each with a name for what it does."""
    connection = op.get_bind()
    for name, statement in steps.items():
        rows = connection.execute(text(statement)).rowcount
        if rows >= RANGE:
            log.info("migrating", step=name, done=rows)

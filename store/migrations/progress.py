"""Long steps of revisions: they run over ranges of ids, and say how far they are."""

import contextlib
from collections.abc import Callable, Iterator, Mapping
from contextvars import ContextVar
from typing import TypeAlias

import structlog
from alembic import op
from sqlalchemy import text

log = structlog.get_logger(__name__)
RANGE = 100_000
ProgressListener: TypeAlias = Callable[[str, int, int], None]
"""Is told the table, how many of its ids are done, and of how many."""
_listener: ContextVar[ProgressListener | None] = ContextVar("progress_listener", default=None)


@contextlib.contextmanager
def progress_listener(listener: ProgressListener) -> Iterator[None]:
    """Tell the progress to this function, instead of to the log, while the block runs."""
    token = _listener.set(listener)
    try:
        yield
    finally:
        _listener.reset(token)


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
            _tell(table, last - least + 1, greatest - least + 1)


def by_step(steps: Mapping[str, str]) -> None:
    """Run statements one after the other, each with a name for what it does."""
    connection = op.get_bind()
    for number, (name, statement) in enumerate(steps.items(), start=1):
        rows = connection.execute(text(statement)).rowcount
        if rows >= RANGE:
            _tell(name, number, len(steps))


def _tell(table: str, done: int, total: int) -> None:
    listener = _listener.get()
    if listener is None:
        log.info("migrating", table=table, done=done, total=total)
    else:
        listener(table, done, total)

"""Transactions of operations: a violated constraint ends one with the error that it means."""

import contextlib
from collections.abc import AsyncIterator, Callable

from prometheus_client import Counter
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import CONSTRAINT_ERRORS, AppError
from store.database.db import Database, violated_constraint


@contextlib.asynccontextmanager
async def open_transaction(database: Database) -> AsyncIterator[AsyncSession]:
    """A transaction that commits at its end, and rolls back if anything is raised.

    Raises the error of a violated constraint: see `constraint_error`.
    """
    try:
        async with database.sessions() as db, db.begin():
            yield db
    except IntegrityError as error:
        raise constraint_error(error) from error


def count_if_committed(db: AsyncSession, *counters: Counter) -> None:
    """Raise counters by one when the session's transaction has committed."""

    def count(_: object) -> None:
        for counter in counters:
            counter.inc()

    event.listen(db.sync_session, "after_commit", count, once=True)


def constraint_error(error: IntegrityError) -> BaseException:
    """The error of a violated constraint. A concurrent request can pass the operation's checks and then violate it."""
    known: Callable[[], AppError] | None = CONSTRAINT_ERRORS.get(violated_constraint(error))
    return known() if known else error

"""Transactions of operations: a violated constraint ends one with the error that it means."""

import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable

from prometheus_client import Counter
from sqlalchemy import event
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session as SyncSession
from sqlalchemy.orm import SessionTransaction
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import CONSTRAINT_ERRORS, AppError
from store.database.db import Database, Session, violated_constraint

METRICS = "metrics_of_the_commit"
WORK = "work_after_the_commit"


@contextlib.asynccontextmanager
async def open_transaction(database: Database) -> AsyncIterator[AsyncSession]:
    """A transaction that commits at its end, and rolls back if anything is raised.

    Raises the error of a violated constraint: see `constraint_error`.
    """
    try:
        async with database.sessions() as db:
            async with db.begin():
                yield db
            for work in db.sync_session.info.pop(WORK, ()):
                await work()
    except IntegrityError as error:
        raise constraint_error(error) from error


@contextlib.asynccontextmanager
async def roll_back_transaction(database: Database) -> AsyncIterator[AsyncSession]:
    """A transaction that rolls back at its end, whatever happens in it.

    Raises the error of a violated constraint: see `constraint_error`.
    """
    try:
        async with database.sessions() as db, db.begin() as transaction:
            try:
                yield db
            finally:
                await transaction.rollback()
    except IntegrityError as error:
        raise constraint_error(error) from error


def do_after_commit(db: AsyncSession, work: Callable[[], Awaitable[object]]) -> None:
    """Do something outside the database when the transaction of an operation has committed, and not if it rolls back. If it
    fails, so does the request, whose effect stays.
    """
    db.sync_session.info.setdefault(WORK, []).append(work)


def count_if_committed(db: AsyncSession, metric: Counter) -> None:
    """Raise a metric by one when the session's transaction has committed."""
    db.sync_session.info.setdefault(METRICS, []).append(metric)


@event.listens_for(Session.sync_session_class, "after_commit")
def _count(session: SyncSession) -> None:
    if not session.in_nested_transaction():  # it is told of released savepoints too
        for metric in session.info.pop(METRICS, ()):
            metric.inc()


@event.listens_for(Session.sync_session_class, "after_soft_rollback")
def _count_nothing(session: SyncSession, transaction: SessionTransaction) -> None:
    if transaction.parent is None:
        session.info.pop(METRICS, None)


def constraint_error(error: IntegrityError) -> BaseException:
    """The error of a violated constraint. A concurrent request can pass the operation's checks and then violate it."""
    known: Callable[[], AppError] | None = CONSTRAINT_ERRORS.get(violated_constraint(error))
    return known() if known else error

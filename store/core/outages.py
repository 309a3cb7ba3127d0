"""When something behind us is out of reach: which of the database's errors say so, how it is told, logged and counted."""

import time

import asyncpg
import structlog
from prometheus_client import Counter
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from schema.core.errors import OutcomeUnknown, Unavailable

log = structlog.get_logger(__name__)
UNAVAILABLE = Counter("coffret_unavailable", "Times that something behind us could not be reached.", ["what"])

DATABASE = "The database"
QUIET_SECONDS = 10.0
"""An outage fails thousands of requests; one line of the log in so many seconds tells of it."""
ABSENT = (
    asyncpg.AdminShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.CrashShutdownError,
    asyncpg.PostgresConnectionError,
    asyncpg.TooManyConnectionsError,
)
"""Why a server does not take or keep a connection, as it says itself or as the driver notices."""
LEAVING = "another operation (2) is in progress"
"""What the driver says between the server's good-bye on an idle connection and the end of that connection."""
_told_at: dict[str, float] = {}


def unavailable(what: str, error: BaseException) -> Unavailable:
    """What to raise, from `error`, because something (`The database`) cannot be reached."""
    _note(what, error)
    return Unavailable(what=what)


def database_outage(error: BaseException, *, committing: bool = False) -> Unavailable | None:
    """What an error of the database means to a client, if it means that the database is away; None for every other.

    Where a session had come to its commit, an error of no statement is one of COMMIT: that leaves open whether it was done,
    unless it was not even sent.
    """
    if isinstance(error, PoolTimeoutError):
        return unavailable(DATABASE, error)
    cause = driver_error(error)
    not_sent = _not_sent(cause)
    if not not_sent and not isinstance(cause, ABSENT):
        return None
    if committing and not not_sent and isinstance(error, DBAPIError) and error.statement is None:
        _note(DATABASE, error)
        return OutcomeUnknown()
    return unavailable(DATABASE, error)


def _not_sent(cause: BaseException) -> bool:
    """Whether the driver knows that its connection is gone, and has sent nothing."""
    if isinstance(cause, asyncpg.InternalClientError):
        return LEAVING in str(cause)
    return isinstance(cause, asyncpg.InterfaceError) and "closed" in str(cause)


def driver_error(error: BaseException) -> BaseException:
    """What the driver raised, without what SQLAlchemy and its dialect have put around it."""
    wrapped = getattr(error, "orig", None)
    return (wrapped and wrapped.__cause__) or wrapped or error


def _note(what: str, error: BaseException) -> None:
    UNAVAILABLE.labels(what.removeprefix("The ")).inc()
    now = time.monotonic()
    if now - _told_at.get(what, -QUIET_SECONDS) >= QUIET_SECONDS:
        _told_at[what] = now
        cause = driver_error(error)
        log.error("out of reach", what=what, because=f"{type(cause).__name__}: {cause}")

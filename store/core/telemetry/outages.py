"""Outages of dependencies: which database errors indicate one, and how outages are reported, logged and counted."""

import time

import asyncpg
import structlog
from prometheus_client import Counter
from sqlalchemy.exc import DBAPIError
from sqlalchemy.exc import TimeoutError as PoolTimeoutError

from schema.core.errors import OutcomeUnknown, Unavailable

log = structlog.get_logger(__name__)
UNAVAILABLE = Counter("coffret_unavailable", "Errors because a dependency could not be reached.", ["what"])

DATABASE = "The database"
LOG_INTERVAL_SECONDS = 10.0
"""Seconds between two log lines about the same outage, which may fail thousands of requests."""
CONNECTION_ERRORS = (
    asyncpg.AdminShutdownError,
    asyncpg.CannotConnectNowError,
    asyncpg.CrashShutdownError,
    asyncpg.PostgresConnectionError,
    asyncpg.TooManyConnectionsError,
)
"""Errors of a refused or lost connection, reported by the server or by the driver."""
CONCURRENT_USE_MESSAGE = "another operation (2) is in progress"
"""The driver's message after the server has closed an idle connection and before the connection has ended."""
_logged_at: dict[str, float] = {}


def report_unavailable(what: str, error: BaseException) -> Unavailable:
    """Log and count an outage, and return the error to raise. `what` names the dependency, such as `The database`."""
    _log_outage(what, error)
    return Unavailable(what=what)


def database_outage(error: BaseException, *, committing: bool = False) -> Unavailable | None:
    """The error to raise if a database error indicates an outage; None for any other error.

    While a session commits, an error without a statement is one of COMMIT. Its outcome is then unknown, unless COMMIT
    was not even sent.
    """
    if isinstance(error, PoolTimeoutError):
        return report_unavailable(DATABASE, error)
    cause = driver_error(error)
    not_sent = _not_sent(cause)
    if not not_sent and not isinstance(cause, CONNECTION_ERRORS):
        return None
    if committing and not not_sent and isinstance(error, DBAPIError) and error.statement is None:
        _log_outage(DATABASE, error)
        return OutcomeUnknown()
    return report_unavailable(DATABASE, error)


def _not_sent(cause: BaseException) -> bool:
    """True if the driver knows that its connection is closed and has sent nothing."""
    if isinstance(cause, asyncpg.InternalClientError):
        return CONCURRENT_USE_MESSAGE in str(cause)
    return isinstance(cause, asyncpg.InterfaceError) and "closed" in str(cause)


def driver_error(error: BaseException) -> BaseException:
    """The driver's error, without the wrappers of SQLAlchemy and its dialect."""
    wrapped = getattr(error, "orig", None)
    return (wrapped and wrapped.__cause__) or wrapped or error


def _log_outage(what: str, error: BaseException) -> None:
    UNAVAILABLE.labels(what.removeprefix("The ")).inc()
    now = time.monotonic()
    if now - _logged_at.get(what, -LOG_INTERVAL_SECONDS) >= LOG_INTERVAL_SECONDS:
        _logged_at[what] = now
        cause = driver_error(error)
        log.error("a dependency is unreachable", what=what, because=f"{type(cause).__name__}: {cause}")

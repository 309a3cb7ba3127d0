"""Limits of log-in attempts: a client with too many failures waits before any password is checked."""

import asyncio
import contextlib
import datetime as dt
import hashlib
import math
from collections.abc import AsyncIterator
from dataclasses import dataclass
from weakref import WeakValueDictionary

import structlog

from schema.core.errors import TooManyRequests, WrongCredentials
from store.core.client_network import client_network_of
from store.limits.backoff import Backoff
from store.limits.counters import REFUSALS, SharedCounters

log = structlog.get_logger(__name__)

PAIR_BACKOFF = Backoff(free_misses=4, max_delay=dt.timedelta(hours=1), memory=dt.timedelta(hours=24))
"""Failures of one user name from one address."""
USER_BACKOFF = Backoff(free_misses=9, max_delay=dt.timedelta(seconds=30), memory=dt.timedelta(hours=1))
"""Failures of one user name from anywhere. Its delays are so short that a stranger cannot lock anybody out."""
ADDRESS_BACKOFF = Backoff(free_misses=49, max_delay=dt.timedelta(minutes=15), memory=dt.timedelta(hours=24))
"""Failures from one address, whatever the user names."""
SECOND_FACTOR_BACKOFF = Backoff(free_misses=9, max_delay=dt.timedelta(hours=1), memory=dt.timedelta(hours=24))
"""Wrong one-time codes of one user from anywhere. Its delays may be long: who is asked for a code knows the password, so
that a stranger cannot lock anybody out."""
KNOWN_ADDRESS_LIFE = dt.timedelta(days=90)
"""How long an address from which a user has logged in is limited only by that user's own failures there."""
MAX_CONCURRENT = 8
"""Passwords that a process checks at a time. More would only wait for its processors, and count as failures
meanwhile."""
RESERVED_FOR_KNOWN = 2
"""How many of these are reserved for users at an address where they have logged in, so that a flood of other
attempts cannot block them."""
MAX_WAITING = 200
"""Maximum number of waiting attempts, which is some seconds of work. Further ones get TooManyRequests."""
RETRY_AFTER_SECONDS = 5


class AdmissionQueue:
    """Runs `at_once` attempts at a time and lets `waiting` more wait. Further ones get TooManyRequests."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self._slots = asyncio.Semaphore(at_once)
        self._waiting, self._most = 0, waiting

    @contextlib.asynccontextmanager
    async def slot(self) -> AsyncIterator[None]:
        """Wait for a slot, and hold it during the block."""
        if self._waiting >= self._most and self._slots.locked():
            REFUSALS.labels("log_in").inc()
            raise TooManyRequests(RETRY_AFTER_SECONDS)
        self._waiting += 1
        try:
            await self._slots.acquire()
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._slots.release()


@dataclass
class LogInAttempt:
    """An admitted attempt. It stays counted as a failure unless `succeeded` is set."""

    succeeded: bool = False


class LogInLimiter:
    """Counts the attempts of all users, by user name and address. Unknown user names count like any other."""

    def __init__(self, counts: SharedCounters) -> None:
        self._counters = counts
        self._queue_for_known = AdmissionQueue(RESERVED_FOR_KNOWN, MAX_WAITING)
        self._queue = AdmissionQueue(MAX_CONCURRENT - RESERVED_FOR_KNOWN, MAX_WAITING)
        self._pair_locks: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @contextlib.asynccontextmanager
    async def attempt(self, username: str, address: str) -> AsyncIterator[LogInAttempt]:
        """An attempt to log in, counted before the block begins.

        TooManyRequests if it is delayed or too many attempts wait; nothing is counted then.

        Within a process, attempts of the same user from the same address run one after another, so that honest
        simultaneous ones do not count against each other. If the block raises anything but `WrongCredentials`, the
        attempt does not count as a failure.
        """
        origin = client_network_of(address)
        user = hashlib.sha256(username.encode(errors="surrogatepass")).hexdigest()[:32]
        pair = f"{user}:{origin}"
        async with self._pair_locks.setdefault(pair, asyncio.Lock()):
            backoffs = await self._backoffs(user, origin, pair)
            line = self._queue_for_known if backoffs.keys() == {_pair_key(pair)} else self._queue
            async with line.slot():
                async with self._counted_attempt(backoffs, username, origin) as attempt:
                    yield attempt
                if attempt.succeeded and origin:
                    await self._counters.run(lambda kv: kv.delete(_pair_key(pair)))
                    await self._counters.run(lambda kv: kv.write(_known_key(pair), b"", KNOWN_ADDRESS_LIFE))

    @contextlib.asynccontextmanager
    async def otp_attempt(self, user_id: int, username: str) -> AsyncIterator[LogInAttempt]:
        """An attempt with a one-time code by a user whose password was right, counted like `attempt`. Wrong codes before a
        right one are forgotten after a day only.
        """
        backoffs = {f"coffret:log-in:second-factor:{user_id}": SECOND_FACTOR_BACKOFF}
        async with self._counted_attempt(backoffs, username, "") as attempt:
            yield attempt

    @contextlib.asynccontextmanager
    async def _counted_attempt(
        self, backoffs: dict[str, Backoff], username: str, origin: str
    ) -> AsyncIterator[LogInAttempt]:
        """An attempt that counts as a failure, unless it succeeds or raises another error than `WrongCredentials`."""
        await self._count(backoffs, username, origin)
        attempt = LogInAttempt()
        try:
            yield attempt
        except WrongCredentials:
            raise
        except Exception:
            await self._undo_attempt(backoffs)
            raise
        if attempt.succeeded:
            await self._undo_attempt({key: backoff for key, backoff in backoffs.items() if backoff is not PAIR_BACKOFF})

    async def _backoffs(self, user: str, origin: str, pair: str) -> dict[str, Backoff]:
        """The backoffs that the attempt counts for. Without an address, only the one that can lock nobody out."""
        everywhere = {f"coffret:log-in:user:{user}": USER_BACKOFF}
        if not origin:
            return everywhere
        here = {_pair_key(pair): PAIR_BACKOFF}
        if await self._counters.run(lambda kv: kv.get(_known_key(pair))) is not None:
            return here
        return {**here, **everywhere, f"coffret:log-in:address:{origin}": ADDRESS_BACKOFF}

    async def _count(self, backoffs: dict[str, Backoff], username: str, origin: str) -> None:
        counted: dict[str, Backoff] = {}
        for key, backoff in backoffs.items():
            wait = await self._counters.count_attempt(key, backoff)
            if wait is not None:
                await self._undo_attempt(counted)
                seconds = math.ceil(wait.total_seconds())
                REFUSALS.labels("log_in").inc()
                log.warning(
                    "a log-in is blocked after too many attempts",
                    user=f"{username[:1]}…",
                    address=origin,
                    seconds=seconds,
                )
                raise TooManyRequests(seconds)
            counted[key] = backoff

    async def _undo_attempt(self, backoffs: dict[str, Backoff]) -> None:
        for key, backoff in backoffs.items():
            await self._counters.undo_attempt(key, backoff)


def _pair_key(pair: str) -> str:
    return f"coffret:log-in:pair:{pair}"


def _known_key(pair: str) -> str:
    return f"coffret:log-in:known:{pair}"

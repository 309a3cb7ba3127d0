"""Log-in attempts: who has missed too often waits, before any password is looked at."""

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
from store.limits.backoff import Ladder
from store.limits.client_network import origin_of
from store.limits.counters import REFUSALS, Counts

log = structlog.get_logger(__name__)

PAIR = Ladder(free=4, longest=dt.timedelta(hours=1), remembered=dt.timedelta(hours=24))
"""Misses of one user name from one address."""
USER = Ladder(free=9, longest=dt.timedelta(seconds=30), remembered=dt.timedelta(hours=1))
"""Misses of one user name from anywhere: held so shortly that a stranger can't lock anybody out."""
ADDRESS = Ladder(free=49, longest=dt.timedelta(minutes=15), remembered=dt.timedelta(hours=24))
"""Misses from one address, whatever the user names."""
KNOWN_FOR = dt.timedelta(days=90)
"""How long an address from which a user has logged in is measured by their own misses there only."""
AT_ONCE = 8
"""Passwords that a process checks at a time; more would only wait for its processors, and count as misses meanwhile."""
FOR_KNOWN = 2
"""Of these so many are checked only for users at an address where they have logged in, so that no flood of others stops them."""
IN_LINE = 200
"""Attempts that wait for their turn at most: some seconds. Whoever comes then is told to come again."""
COME_AGAIN = 5
"""Seconds."""


class Line:
    """So many at a time, and so many more that wait; TooManyRequests for everybody else."""

    def __init__(self, at_once: int, waiting: int) -> None:
        self._slots = asyncio.Semaphore(at_once)
        self._waiting, self._most = 0, waiting

    @contextlib.asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait for a turn, and have it for the block."""
        if self._waiting >= self._most and self._slots.locked():
            REFUSALS.labels("log_in").inc()
            raise TooManyRequests(COME_AGAIN)
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
class Attempt:
    """An attempt that was let through. It stays counted as a miss unless it is told to have succeeded."""

    succeeded: bool = False


class LogIns:
    """Counts the attempts of all users, by user name and address. Names that nobody has count like any other."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts
        self._known = Line(FOR_KNOWN, IN_LINE)
        self._others = Line(AT_ONCE - FOR_KNOWN, IN_LINE)
        self._turns: WeakValueDictionary[str, asyncio.Lock] = WeakValueDictionary()

    @contextlib.asynccontextmanager
    async def attempt(self, username: str, address: str) -> AsyncIterator[Attempt]:
        """An attempt to log in, counted before the block begins. TooManyRequests where it is held, or too many wait; nothing
        is counted then.

        Attempts of the same user from the same address take turns in a process, so that honest ones at once do not count
        against each other. What fails otherwise than by `WrongCredentials` is no miss.
        """
        origin = origin_of(address)
        user = hashlib.sha256(username.encode(errors="surrogatepass")).hexdigest()[:32]
        pair = f"{user}:{origin}"
        async with self._turns.setdefault(pair, asyncio.Lock()):
            ladders = await self._ladders(user, origin, pair)
            line = self._known if ladders.keys() == {_pair_key(pair)} else self._others
            async with line.turn():
                async with self._counted(ladders, username, origin) as attempt:
                    yield attempt
                if attempt.succeeded and origin:
                    await self._counts.ask(lambda kv: kv.delete(_pair_key(pair)))
                    await self._counts.ask(lambda kv: kv.write(_known_key(pair), b"", KNOWN_FOR))

    @contextlib.asynccontextmanager
    async def _counted(self, ladders: dict[str, Ladder], username: str, origin: str) -> AsyncIterator[Attempt]:
        """An attempt that counts as a miss, unless it succeeds or fails for another reason."""
        await self._count(ladders, username, origin)
        attempt = Attempt()
        try:
            yield attempt
        except WrongCredentials:
            raise
        except Exception:
            await self._forgive(ladders)
            raise
        if attempt.succeeded:
            await self._forgive({key: ladder for key, ladder in ladders.items() if ladder is not PAIR})

    async def _ladders(self, user: str, origin: str, pair: str) -> dict[str, Ladder]:
        """What the attempt counts against. Of a connection without an address, only what can lock nobody out."""
        everywhere = {f"coffret:log-in:user:{user}": USER}
        if not origin:
            return everywhere
        here = {_pair_key(pair): PAIR}
        if await self._counts.ask(lambda kv: kv.get(_known_key(pair))) is not None:
            return here
        return {**here, **everywhere, f"coffret:log-in:address:{origin}": ADDRESS}

    async def _count(self, ladders: dict[str, Ladder], username: str, origin: str) -> None:
        counted: dict[str, Ladder] = {}
        for key, ladder in ladders.items():
            wait = await self._counts.attempt(key, ladder)
            if wait is not None:
                await self._forgive(counted)
                seconds = math.ceil(wait.total_seconds())
                REFUSALS.labels("log_in").inc()
                log.warning("a log-in is held", user=f"{username[:1]}…", address=origin, seconds=seconds)
                raise TooManyRequests(seconds)
            counted[key] = ladder

    async def _forgive(self, ladders: dict[str, Ladder]) -> None:
        for key, ladder in ladders.items():
            await self._counts.forgive(key, ladder)


def _pair_key(pair: str) -> str:
    return f"coffret:log-in:pair:{pair}"


def _known_key(pair: str) -> str:
    return f"coffret:log-in:known:{pair}"

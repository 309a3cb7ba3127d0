"""How many requests may be made: rates as settings write them, and counting them without asking anybody each time."""

import datetime as dt
import math
from functools import lru_cache
from typing import NamedTuple

import limits

from schema.core.errors import TooManyRequests
from store.account.log_ins import LogIns
from store.core.clock import Clock
from store.core.settings import OFF, Settings
from store.kv import KeyValue
from store.limits.counters import REFUSALS, Counts

OWN_SHARE = 50
"""Of this many requests that are allowed, a process lets one through before it asks what the others have counted."""

Rate = limits.RateLimitItem


def window_of(rate: Rate) -> dt.timedelta:
    """How long a rate counts before it begins again."""
    return dt.timedelta(seconds=rate.get_expiry())


@lru_cache(maxsize=64)
def rate_of(text: str) -> Rate | None:
    """The rate that a setting means (`600/minute`, `20 per hour`, `5 per 10 minutes`); None for `off`."""
    return None if text == OFF else limits.parse(text)


class Standing(NamedTuple):
    """Where a client stands once a request is counted."""

    remaining: int
    """How many more there may be in this window."""
    reset: int
    """Seconds until the next one begins."""
    refused: bool


class _Tally:
    """What a process knows of one client in the present window."""

    __slots__ = ("known", "told", "untold")

    def __init__(self) -> None:
        self.known = 0
        """What all processes had counted when last asked, this one's own included."""
        self.told = 0
        """Counted here, and on its way to the others."""
        self.untold = 0
        """Counted here since."""

    @property
    def total(self) -> int:
        """All that this process knows of."""
        return self.known + self.told + self.untold


class RateLimit:
    """A rate for each client (a token, an address), in windows that begin at the same moment for all.

    A process counts by itself, and tells the shared store when it has let a fiftieth of the rate through. So nearly no
    request waits for the store, and at most a fiftieth for each process can be let through beyond the rate.
    """

    def __init__(self, kind: str, rate: Rate, counts: Counts, clock: Clock) -> None:
        self._kind = kind
        self._amount, self._seconds = rate.amount, rate.get_expiry()
        self._share = max(1, self._amount // OWN_SHARE)
        self._life = window_of(rate)
        self._counts = counts
        self._clock = clock
        self._window = 0
        self._tallies: dict[int | str | None, _Tally] = {}
        self.policy = (b"ratelimit-policy", f'"{kind}";q={self._amount};w={self._seconds}'.encode())
        self._name = kind.encode()

    async def count(self, client: int | str | None) -> Standing:
        """Count one request of a client, unless it is one too many."""
        now = self._clock.timestamp()
        window, since = divmod(now, self._seconds)
        reset = math.ceil(self._seconds - since)
        if window != self._window:
            self._window, self._tallies = int(window), {}
        tally = self._tallies.get(client)
        if tally is None:
            tally = self._tallies[client] = _Tally()
        if tally.total >= self._amount:
            return Standing(0, reset, refused=True)
        tally.untold += 1
        if tally.untold >= self._share:
            await self._tell(client, tally)
        remaining = self._amount - tally.total
        return Standing(max(0, remaining), reset, refused=remaining < 0)

    async def check(self, client: int | str | None) -> Standing:
        """Count one request of a client; TooManyRequests when it is one too many."""
        standing = await self.count(client)
        if standing.refused:
            raise self.refusal(standing)
        return standing

    def refusal(self, standing: Standing) -> TooManyRequests:
        """What a request that is one too many is answered, counted as such."""
        REFUSALS.labels(self._kind).inc()
        return TooManyRequests(standing.reset)

    def header(self, standing: Standing) -> tuple[bytes, bytes]:
        """Where the client stands, as a structured field."""
        return (b"ratelimit", b'"%b";r=%d;t=%d' % (self._name, standing.remaining, standing.reset))

    async def _tell(self, client: int | str | None, tally: _Tally) -> None:
        telling, tally.untold = tally.untold, 0
        tally.told += telling
        key = f"coffret:rate:{self._kind}:{self._window}:{client}"
        try:
            counted = await self._counts.ask(lambda kv: kv.increment(key, self._life, by=telling))
        finally:
            tally.told -= telling
            tally.known += telling
        tally.known = max(tally.known, counted.times)


class Limits:
    """What keeps requests and attempts within bounds, in one process."""

    def __init__(self, settings: Settings, kv: KeyValue, clock: Clock) -> None:
        def limit(kind: str, text: str) -> RateLimit | None:
            rate = rate_of(text)
            return None if rate is None else RateLimit(kind, rate, self.counts, clock)

        self.counts = Counts(kv, clock)
        self.log_ins = LogIns(self.counts)
        self.tokens = limit("token", settings.rate_limit)
        self.addresses = limit("address", settings.rate_limit_anonymous)
        self.forms = limit("form", settings.rate_limit_forms)
        self.pages = limit("page", settings.rate_limit_pages)

"""Rate limits of requests: each process counts by itself and synchronizes with the shared store now and then."""

import math
from typing import NamedTuple

from schema.core.errors import TooManyRequests
from store.core.clock import Clock
from store.core.rates import Rate, rate_of
from store.core.settings import Settings
from store.kv import KeyValueStore
from store.limits.count_batches import CountBatches
from store.limits.counters import REFUSALS, SharedCounters
from store.limits.log_ins import LogInLimiter

PREVIEWS = Rate(1000, 3600)
"""How often a client network sees a document before it is paid: each is typeset anew."""
GIFTS_OF_ORDER = Rate(10, 86_400)
"""How often presents of one order are sent again: its link must not become a relay of mail."""
REQUESTS_OF_ORDER = Rate(10, 86_400)
"""How often something is asked for about one order: each tells the partner by mail."""
PASSWORD_RESETS_OF_USER = Rate(5, 3600)
"""How often a link to choose a new password is asked for with one name, whether somebody has it or not."""
PASSWORD_RESETS_FROM_ADDRESS = Rate(30, 3600)
"""The same from one client network, whatever the names."""
INVITATIONS_OF_USER = Rate(100, 3600)
"""How many invitations a user sends, with those that are sent again."""
INVITATIONS_TO_ADDRESS = Rate(5, 3600)
"""How many of them go to one e-mail address, whoever sends them."""
NOTICES_OF_USER = Rate(500, 3600)
"""How many mails about log-ins a user causes by changing those of others."""
NOTICES_TO_ADDRESS = Rate(20, 3600)
"""How many of them go to one e-mail address, whoever has changed something."""
SYNC_SHARE = 50
"""A process synchronizes its count after one request of this many that a rate allows."""


class RateLimitStatus(NamedTuple):
    """The status of a client after a request was counted."""

    remaining: int
    """Requests left in this window."""
    reset: int
    """Seconds until the next window."""
    is_exceeded: bool


class _ClientCount:
    """The count of one client in the current window, as this process knows it."""

    __slots__ = ("known", "reporting", "unreported")

    def __init__(self) -> None:
        self.known = 0
        """The count of all processes at the last synchronization, this process included."""
        self.reporting = 0
        """Counted here, and being sent to the shared store."""
        self.unreported = 0
        """Counted here since the last synchronization."""

    @property
    def total(self) -> int:
        """All requests that this process knows of."""
        return self.known + self.reporting + self.unreported


class RateLimit:
    """A rate limit per client (a token, an address), in windows that start at the same moment for all.

    A process counts by itself, and reports to the shared store after each fiftieth of the rate. So almost no request
    waits for the store, and each process can exceed the rate by at most a fiftieth.
    """

    def __init__(self, kind: str, rate: Rate, counts: SharedCounters, clock: Clock) -> None:
        self._kind = kind
        self._amount, self._seconds = rate
        self._sync_after = max(1, self._amount // SYNC_SHARE)
        self._life = rate.window
        self._counters = counts
        self._clock = clock
        self._window = 0
        self._clients: dict[int | str | None, _ClientCount] = {}
        self.policy = (b"ratelimit-policy", f'"{kind}";q={self._amount};w={self._seconds}'.encode())
        self._name = kind.encode()

    async def count(self, client: int | str | None) -> RateLimitStatus:
        """Count one request of a client, unless it exceeds the limit."""
        now = self._clock.timestamp()
        window, since = divmod(now, self._seconds)
        reset = math.ceil(self._seconds - since)
        if window != self._window:
            self._window, self._clients = int(window), {}
        client_count = self._clients.get(client)
        if client_count is None:
            client_count = self._clients[client] = _ClientCount()
        if client_count.total >= self._amount:
            return RateLimitStatus(0, reset, is_exceeded=True)
        client_count.unreported += 1
        if client_count.unreported >= self._sync_after:
            await self._report(client, client_count)
        remaining = self._amount - client_count.total
        return RateLimitStatus(max(0, remaining), reset, is_exceeded=remaining < 0)

    async def check(self, client: int | str | None) -> RateLimitStatus:
        """Count one request of a client; TooManyRequests if it exceeds the limit."""
        status = await self.count(client)
        if status.is_exceeded:
            raise self.refusal(status)
        return status

    def refusal(self, status: RateLimitStatus) -> TooManyRequests:
        """The error for a request that exceeds the limit; it is counted in the metrics."""
        REFUSALS.labels(self._kind).inc()
        return TooManyRequests(status.reset)

    def header(self, status: RateLimitStatus) -> tuple[bytes, bytes]:
        """The client's status as a structured header field."""
        return (b"ratelimit", b'"%b";r=%d;t=%d' % (self._name, status.remaining, status.reset))

    async def _report(self, client: int | str | None, client_count: _ClientCount) -> None:
        telling, client_count.unreported = client_count.unreported, 0
        client_count.reporting += telling
        key = f"coffret:rate:{self._kind}:{self._window}:{client}"
        try:
            counted = await self._counters.run(lambda kv: kv.increment(key, self._life, by=telling))
        finally:
            client_count.reporting -= telling
            client_count.known += telling
        client_count.known = max(client_count.known, counted.times)


class RateLimits:
    """All limits of requests and log-in attempts in one process."""

    def __init__(self, settings: Settings, kv: KeyValueStore, clock: Clock) -> None:
        def limit(kind: str, text: str) -> RateLimit | None:
            rate = rate_of(text)
            return None if rate is None else RateLimit(kind, rate, self.counters, clock)

        self.counters = SharedCounters(kv, clock)
        self.guesses = CountBatches(self.counters)
        self.log_ins = LogInLimiter(self.counters)
        self.tokens = limit("token", settings.rate_limit)
        self.addresses = limit("address", settings.rate_limit_anonymous)
        self.forms = limit("form", settings.rate_limit_forms)
        self.pages = limit("page", settings.rate_limit_pages)
        self.previews = RateLimit("preview", PREVIEWS, self.counters, clock)
        self.gifts = RateLimit("gift", GIFTS_OF_ORDER, self.counters, clock)
        self.requests = RateLimit("refund_request", REQUESTS_OF_ORDER, self.counters, clock)
        self.password_resets = RateLimit("password_reset", PASSWORD_RESETS_OF_USER, self.counters, clock)
        self.password_reset_addresses = RateLimit(
            "password_reset_address", PASSWORD_RESETS_FROM_ADDRESS, self.counters, clock
        )
        self.invitations = RateLimit("invitation", INVITATIONS_OF_USER, self.counters, clock)
        self.invitation_addresses = RateLimit("invitation_address", INVITATIONS_TO_ADDRESS, self.counters, clock)
        self.notices = RateLimit("notice", NOTICES_OF_USER, self.counters, clock)
        self.notice_addresses = RateLimit("notice_address", NOTICES_TO_ADDRESS, self.counters, clock)

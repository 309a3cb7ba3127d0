"""Brute-force protection of look-ups by a secret of its holder, such as a code or an e-mail address."""

import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

import structlog
from prometheus_client import Counter

from resolvers.core.context import Context
from schema.core.errors import NotFound, TooManyRequests
from store.core.client_network import client_network_of
from store.core.codes import is_mistyped
from store.core.rates import Rate, rate_of
from store.kv import Increment
from store.limits.counters import REFUSALS

T = TypeVar("T")

log = structlog.get_logger(__name__)
MISSES = Counter("coffret_guesses", "Look-ups by code or e-mail address that found nothing, by kind.", ["what"])
ALARMS = Counter(
    "coffret_guessing_alarms", "Times that a shop, or all clients together, exceeded the limit of misses.", ["where"]
)
ALARM_DIVISOR = 10
"""While a shop, or all clients together, have too many misses, the allowance of each client is divided by this."""
KEY_PREFIX = "coffret:{guesses}:"
"""With a hash tag: the counters of a look-up are changed together."""
GLOBAL_KEY = f"{KEY_PREFIX}all"


async def throttled_lookup(context: Context, what: str, look: Callable[[], Awaitable[T]]) -> T:
    """Run `look` with brute-force protection. Every look-up by a code or an e-mail address goes through here.

    None, an empty list and NotFound count as a miss: of the user and the address of a token, or of the address of a
    customer. A client with too many misses gets TooManyRequests before the look-up, so that the response reveals
    nothing. A look-up counts as a miss before it begins and is released if it finds something, so that parallel
    look-ups cannot exceed the limit. `what` (`voucher`, `gift card`, …) names the kind in metrics and logs.
    """
    budget = _MissBudget(context)
    await budget.reserve()
    try:
        result = await look()
    except NotFound:
        await budget.record_miss(what)
        raise
    except Exception:
        budget.release()
        raise
    if result:
        budget.release()
    else:
        await budget.record_miss(what)
    return result


async def throttled_code_lookup(context: Context, what: str, code: str, look: Callable[[], Awaitable[T]]) -> T:
    """The same for a code. A code with a wrong check character raises NotFound without a look-up and without a miss."""
    if is_mistyped(code):
        raise NotFound(lookup={"code": code}, thing=what)
    return await throttled_lookup(context, what, look)


@dataclass(frozen=True, slots=True)
class _Allowance:
    """The allowed number of misses in a window, and the additions to the counter at their key."""

    amount: int
    miss: Increment
    released: Increment
    """Takes a miss back."""
    read: Increment
    """Changes nothing."""

    @classmethod
    def of(cls, key: str, rate: Rate) -> "_Allowance":
        """The allowance whose counter has this key."""
        return cls(rate.amount, *(Increment(key, rate.window, by) for by in (1, -1, 0)))


class _MissBudget:
    """The counters of one look-up: those of the client, of its shop, and of all clients together."""

    def __init__(self, context: Context) -> None:
        self._counts = context.services.limits.guesses
        self._origin = client_network_of(context.address)
        self._own = _client_allowances(context, self._origin)
        self._shared = _shared_allowances(context)

    async def reserve(self) -> None:
        """Count the look-up as a miss in advance. Raises TooManyRequests if the client has too many."""
        counts = await self._counts.add([*(own.miss for own in self._own), *(shared.read for shared in self._shared)])
        taken, common = counts[: len(self._own)], counts[len(self._own) :]
        alarm = any(count.times > shared.amount for shared, count in zip(self._shared, common, strict=True))
        waits = [
            count.remaining
            for own, count in zip(self._own, taken, strict=True)
            if count.times > (max(1, own.amount // ALARM_DIVISOR) if alarm else own.amount)
        ]
        if waits:
            await self._counts.add([own.released for own in self._own])
            seconds = max(1, math.ceil(max(waits).total_seconds()))
            REFUSALS.labels("guess").inc()
            log.warning(
                "a client is blocked after too many wrong codes", address=self._origin, seconds=seconds, alarm=alarm
            )
            raise TooManyRequests(seconds)

    def release(self) -> None:
        """Take the miss back. Nobody waits for it: this process counts nothing of the client before."""
        self._counts.add_later([own.released for own in self._own])

    async def record_miss(self, what: str) -> None:
        """Count a confirmed miss for the shop and for all clients, and raise an alarm at their limits."""
        MISSES.labels(what).inc()
        counts = await self._counts.add([shared.miss for shared in self._shared])
        for shared, count in zip(self._shared, counts, strict=True):
            if count.times == shared.amount + 1:
                key = shared.miss.key
                ALARMS.labels("all" if key == GLOBAL_KEY else "shop").inc()
                log.error("many wrong codes were entered", what=what, where=key, misses=count.times)


def _client_allowances(context: Context, origin: str) -> Sequence[_Allowance]:
    """The allowances of the client. They count users instead of tokens, because a user can create tokens at will."""
    settings, caller = context.services.settings, context.caller
    user_id = caller.user_id if caller else None
    if user_id is None:
        return _allowances((f"address:{origin}" if origin else "", settings.guesses_per_address))
    everybody_there = f"users-at:{origin}" if origin else ""
    return _allowances((f"user:{user_id}", settings.guesses_per_user), (everybody_there, settings.guesses_per_user))


def _shared_allowances(context: Context) -> Sequence[_Allowance]:
    """The allowances that clients share. Exceeding one blocks no client, but reduces the allowance of each."""
    settings, caller = context.services.settings, context.caller
    of_shop = caller is not None and caller.user_id is None and caller.partner_id is not None
    shop = f"shop:{caller.partner_id}" if caller and of_shop else ""
    return _allowances((shop, settings.guesses_per_shop), ("all", settings.guesses_in_all))


@lru_cache(maxsize=4096)
def _allowances(*names: tuple[str, str]) -> Sequence[_Allowance]:
    """The allowances of these counters, each with its rate; none for a counter without a name or a rate."""
    rates = ((name, rate_of(text)) for name, text in names if name)
    return tuple(_Allowance.of(f"{KEY_PREFIX}{name}", rate) for name, rate in rates if rate is not None)

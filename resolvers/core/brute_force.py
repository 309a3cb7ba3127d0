"""Brute-force protection of look-ups by a secret of its holder, such as a code or an e-mail address."""

import math
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import TypeVar

import structlog
from prometheus_client import Counter

from resolvers.core.context import Context
from schema.core.errors import NotFound, TooManyRequests
from store.core.client_network import client_network_of
from store.core.codes import is_mistyped
from store.core.rates import Rate, rate_of
from store.kv import Increment, WindowCount
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
        await budget.release()
        raise
    await (budget.release() if result else budget.record_miss(what))
    return result


async def throttled_code_lookup(context: Context, what: str, code: str, look: Callable[[], Awaitable[T]]) -> T:
    """The same for a code. A code with a wrong check character raises NotFound without a look-up and without a miss."""
    if is_mistyped(code):
        raise NotFound(lookup={"code": code}, thing=what)
    return await throttled_lookup(context, what, look)


@dataclass(frozen=True, slots=True)
class _Allowance:
    """The allowed number of misses, and the key of their counter."""

    key: str
    rate: Rate

    def add(self, by: int) -> Increment:
        """The addition to the counter."""
        return Increment(self.key, self.rate.window, by)


class _MissBudget:
    """The counters of one look-up: those of the client, of its shop, and of all clients together."""

    def __init__(self, context: Context) -> None:
        self._counts = context.services.limits.counters
        self._origin = client_network_of(context.address)
        self._own = _client_allowances(context, self._origin)
        self._shared = _shared_allowances(context)

    async def reserve(self) -> None:
        """Count the look-up as a miss in advance. Raises TooManyRequests if the client has too many."""
        counts = await self._count(*(own.add(1) for own in self._own), *(shared.add(0) for shared in self._shared))
        taken, common = counts[: len(self._own)], counts[len(self._own) :]
        alarm = any(count.times > shared.rate.amount for shared, count in zip(self._shared, common, strict=True))
        waits = [
            count.remaining
            for own, count in zip(self._own, taken, strict=True)
            if count.times > (max(1, own.rate.amount // ALARM_DIVISOR) if alarm else own.rate.amount)
        ]
        if waits:
            await self.release()
            seconds = max(1, math.ceil(max(waits).total_seconds()))
            REFUSALS.labels("guess").inc()
            log.warning(
                "a client is blocked after too many wrong codes", address=self._origin, seconds=seconds, alarm=alarm
            )
            raise TooManyRequests(seconds)

    async def release(self) -> None:
        """Take the miss back."""
        await self._count(*(own.add(-1) for own in self._own))

    async def record_miss(self, what: str) -> None:
        """Count a confirmed miss for the shop and for all clients, and raise an alarm at their limits."""
        MISSES.labels(what).inc()
        for shared, count in zip(
            self._shared, await self._count(*(shared.add(1) for shared in self._shared)), strict=True
        ):
            if count.times == shared.rate.amount + 1:
                where = "all" if shared.key == GLOBAL_KEY else "shop"
                ALARMS.labels(where).inc()
                log.error("many wrong codes were entered", what=what, where=shared.key, misses=count.times)

    async def _count(self, *increments: Increment) -> list[WindowCount]:
        """Add to counters, all in one round trip to the store."""
        return await self._counts.run(lambda kv: kv.increment_all(*increments)) if increments else []


def _client_allowances(context: Context, origin: str) -> list[_Allowance]:
    """The allowances of the client. They count users instead of tokens, because a user can create tokens at will."""
    settings, caller = context.services.settings, context.caller
    user_id = caller.user_id if caller else None
    if user_id is None:
        return _allowances((f"address:{origin}" if origin else "", settings.guesses_per_address))
    everybody_there = f"users-at:{origin}" if origin else ""
    return _allowances((f"user:{user_id}", settings.guesses_per_user), (everybody_there, settings.guesses_per_user))


def _shared_allowances(context: Context) -> list[_Allowance]:
    """The allowances that clients share. Exceeding one blocks no client, but reduces the allowance of each."""
    settings, caller = context.services.settings, context.caller
    of_shop = caller is not None and caller.user_id is None and caller.partner_id is not None
    shop = f"shop:{caller.partner_id}" if caller and of_shop else ""
    return _allowances((shop, settings.guesses_per_shop), ("all", settings.guesses_in_all))


def _allowances(*names: tuple[str, str]) -> list[_Allowance]:
    return [
        _Allowance(f"{KEY_PREFIX}{name}", rate) for name, text in names if name and (rate := rate_of(text)) is not None
    ]

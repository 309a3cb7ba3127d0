"""Looking up what only its holder should know (a code, an e-mail address), so that nobody finds any by trying."""

import asyncio
import math
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

import structlog
from prometheus_client import Counter

from resolvers.core.context import Context
from schema.core.errors import NotFound, TooManyRequests
from store.core.codes import mistyped
from store.kv import Count
from store.limits.client_network import origin_of
from store.limits.counters import REFUSALS, Counts
from store.limits.rate_limits import Rate, rate_of, window_of

T = TypeVar("T")

log = structlog.get_logger(__name__)
MISSES = Counter(
    "coffret_guesses", "Look-ups by code or e-mail address that found nothing, by what was looked for.", ["what"]
)
ALARMS = Counter(
    "coffret_guessing_alarms", "Times that a shop, or all together, had more misses than they may.", ["where"]
)
UNDER_ALARM = 10
"""Of its allowance a client keeps the tenth part while a shop, or all together, have too many misses."""
EVERYWHERE = "coffret:guesses:all"


async def look_up(context: Context, what: str, look: Callable[[], Awaitable[T]]) -> T:
    """What `look` finds. Every single look-up by a code or an e-mail address goes through here.

    None, an empty list and `NotFound` are a miss, and counted for whoever asks: the user and the address of a token, or the
    address of a customer. Whoever has too many gets TooManyRequests before anything is looked for, so that the answer tells
    nothing. A look-up is counted before it begins and taken back when it finds something, so that a thousand at once are a
    thousand. `what` (`voucher`, `gift card`, …) names what is looked for, in metrics and logs.
    """
    budget = _Budget(context)
    await budget.reserve()
    try:
        found = await look()
    except NotFound:
        await budget.missed(what)
        raise
    except Exception:
        await budget.give_back()
        raise
    await (budget.give_back() if found else budget.missed(what))
    return found


async def look_up_code(context: Context, what: str, code: str, look: Callable[[], Awaitable[T]]) -> T:
    """The same for a code that may be of ours. One that was mistyped is nobody's, and is not even looked for: NotFound."""
    if mistyped(code):
        raise NotFound(by={"code": code}, thing=what)
    return await look_up(context, what, look)


@dataclass(frozen=True, slots=True)
class _Allowance:
    """How many misses there may be, and where they are counted."""

    key: str
    rate: Rate

    async def count(self, counts: Counts, by: int) -> Count:
        """Count so many more, or fewer."""
        return await counts.ask(lambda kv: kv.increment(self.key, window_of(self.rate), by=by))


class _Budget:
    """What one look-up counts against: what the client has of its own, and what it shares with all of a shop, and with all."""

    def __init__(self, context: Context) -> None:
        self._counts = context.services.limits.counts
        self._origin = origin_of(context.address)
        self._own = _own(context, self._origin)
        self._shared = _shared(context)

    async def reserve(self) -> None:
        """Count a look-up as a miss, before it is known; TooManyRequests where one more may not be."""
        taken, common = await asyncio.gather(self._count(self._own, 1), self._count(self._shared, 0))
        alarm = any(count.times > shared.rate.amount for shared, count in zip(self._shared, common, strict=True))
        waits = [
            count.remaining
            for own, count in zip(self._own, taken, strict=True)
            if count.times > (max(1, own.rate.amount // UNDER_ALARM) if alarm else own.rate.amount)
        ]
        if waits:
            await self.give_back()
            seconds = max(1, math.ceil(max(waits).total_seconds()))
            REFUSALS.labels("guess").inc()
            log.warning("a client guesses too often", address=self._origin, seconds=seconds, alarm=alarm)
            raise TooManyRequests(seconds)

    async def give_back(self) -> None:
        """It was no miss."""
        await self._count(self._own, -1)

    async def missed(self, what: str) -> None:
        """It was one."""
        MISSES.labels(what).inc()
        for shared, count in zip(self._shared, await self._count(self._shared, 1), strict=True):
            if count.times == shared.rate.amount + 1:
                where = "all" if shared.key == EVERYWHERE else "shop"
                ALARMS.labels(where).inc()
                log.error("many codes are guessed", what=what, where=shared.key, misses=count.times)

    async def _count(self, allowances: Sequence[_Allowance], by: int) -> list[Count]:
        return await asyncio.gather(*(allowance.count(self._counts, by) for allowance in allowances))


def _own(context: Context, origin: str) -> list[_Allowance]:
    """What a client has of its own. Tokens are made at will, so it is their user who counts."""
    settings, caller = context.services.settings, context.caller
    user_id = caller.user_id if caller else None
    if user_id is None:
        return _allowances((f"address:{origin}" if origin else "", settings.guesses_per_address))
    everybody_there = f"users-at:{origin}" if origin else ""
    return _allowances((f"user:{user_id}", settings.guesses_per_user), (everybody_there, settings.guesses_per_user))


def _shared(context: Context) -> list[_Allowance]:
    """What a client shares with others: whoever exhausts it stops nobody, but leaves everybody less."""
    settings, caller = context.services.settings, context.caller
    of_shop = caller is not None and caller.user_id is None and caller.partner_id is not None
    shop = f"shop:{caller.partner_id}" if caller and of_shop else ""
    return _allowances((shop, settings.guesses_per_shop), ("all", settings.guesses_in_all))


def _allowances(*wanted: tuple[str, str]) -> list[_Allowance]:
    return [
        _Allowance(f"coffret:guesses:{name}", rate)
        for name, text in wanted
        if name and (rate := rate_of(text)) is not None
    ]

"""The budget of the provider's calls, in the store that all processes share.

While that store is out of reach, each process knows the responses to its own calls only. They report what is left of
the whole account, so little is lost, and nothing is held back that would not be anyway.
"""

import datetime as dt
from collections.abc import Mapping, Sequence

from prometheus_client import Counter

from store.core.clock import Clock
from store.kv.protocol import MILLISECOND
from store.limits.counters import SharedCounters
from store.providers.call_budget import CallAllowance, CallClass, call_class
from store.providers.errors import CallHeldBack

HELD_BACK = Counter(
    "coffret_provider_calls_held_back", "Calls to the payment provider that were not sent, by class.", ["class"]
)
RESERVES: Mapping[CallClass, float] = {CallClass.SWEEP: 0.3, CallClass.PAYOUT: 0.1}
"""A class waits while less than this part of any period's calls is left."""
KNOWN_FOR = dt.timedelta(minutes=5)
"""How long a response counts if none follows. The provider's limits slide, so a third of the shortest period's calls is
back by then.
"""
RETRY_AFTER = dt.timedelta(minutes=1)
"""When held back work is tried again."""
LONGEST_REFUSAL = dt.timedelta(hours=1)
"""How long a refusal counts at most, whatever it says."""
CUSTOMERS_WAIT = dt.timedelta(minutes=1)
"""How long customers wait at most after a refusal: the first call after it finds out whether it still holds."""
_PER_MILLION = 1_000_000


class SharedCallBudget:
    """A `CallBudget`."""

    def __init__(self, counts: SharedCounters, account: str, clock: Clock) -> None:
        self._counts = counts
        self._clock = clock
        self._left = f"coffret:provider-calls:{account}:left"
        self._refused = f"coffret:provider-calls:{account}:refused"

    async def admit(self) -> None:
        """See `CallBudget`."""
        kind = call_class()
        wait = await self._wait_after_refusal(kind)
        if wait <= dt.timedelta() and await self._is_reserved(kind):
            wait = RETRY_AFTER
        if wait > dt.timedelta():
            HELD_BACK.labels(kind).inc()
            raise CallHeldBack(kind, wait.total_seconds())

    async def record(self, allowances: Sequence[CallAllowance], refused_for: float | None = None) -> None:
        """See `CallBudget`."""
        if refused_for is not None:
            life = _life(refused_for, LONGEST_REFUSAL)
            until = b"%d" % (self._clock.milliseconds() + life // MILLISECOND)
            await self._counts.run(lambda kv: kv.write(self._refused, until, life))
        if allowances:
            scarcest = min(allowances, key=lambda each: each.share)
            known_for = _life(scarcest.resets_in, KNOWN_FOR)
            share = b"%d" % (scarcest.share * _PER_MILLION)
            await self._counts.run(lambda kv: kv.write(self._left, share, known_for))

    async def _wait_after_refusal(self, kind: CallClass) -> dt.timedelta:
        record = await self._counts.run(lambda kv: kv.get(self._refused))
        if record is None:
            return dt.timedelta()
        now, until, refused_on = self._clock.milliseconds(), int(record.value), record.version
        if kind is CallClass.CUSTOMER:
            until = min(until, refused_on + CUSTOMERS_WAIT // MILLISECOND)
        return (until - now) * MILLISECOND

    async def _is_reserved(self, kind: CallClass) -> bool:
        """True if the calls that are left are reserved for more urgent ones."""
        if kind not in RESERVES:
            return False
        record = await self._counts.run(lambda kv: kv.get(self._left))
        return record is not None and int(record.value) < RESERVES[kind] * _PER_MILLION


def _life(seconds: float, longest: dt.timedelta) -> dt.timedelta:
    return min(longest, dt.timedelta(seconds=max(1.0, seconds)))

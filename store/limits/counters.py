"""Counts that all processes share, and that go on in each alone while their store is out of reach."""

import datetime as dt
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog
from prometheus_client import Counter

from schema.core.errors import Unavailable
from store.core.clock import Clock
from store.kv import KeyValue, When
from store.kv.memory import MemoryKeyValue
from store.kv.protocol import MILLISECOND
from store.limits.backoff import Ladder

R = TypeVar("R")

log = structlog.get_logger(__name__)
REFUSALS = Counter("coffret_refusals", "Requests refused because there were too many, by what was too many.", ["kind"])
ALONE = Counter("coffret_counts_alone", "Counts kept in one process, because the shared store was out of reach.")
TRIED_AGAIN_AFTER = 5.0
"""Seconds for which a store that was out of reach is not asked, so that an outage delays few."""


class Counts:
    """Asks the shared store, or one of this process' own while that is out of reach. Never raises `Unavailable`."""

    def __init__(self, shared: KeyValue, clock: Clock) -> None:
        self._shared = shared
        self._clock = clock
        self._own = MemoryKeyValue(clock)
        self._alone_until = 0.0

    async def ask(self, do: Callable[[KeyValue], Awaitable[R]]) -> R:
        """What the store answers."""
        if time.monotonic() >= self._alone_until:
            try:
                answer = await do(self._shared)
            except Unavailable:
                if not self._alone_until:
                    log.warning("limits are counted in each process alone until the store is back")
                self._alone_until = time.monotonic() + TRIED_AGAIN_AFTER
            else:
                if self._alone_until:
                    self._alone_until = 0.0
                    log.info("limits are shared again")
                return answer
        ALONE.inc()
        return await do(self._own)

    async def attempt(self, key: str, ladder: Ladder) -> dt.timedelta | None:
        """Count an attempt as a miss before its outcome is known. Where attempts are held: how long still, and nothing counted.

        Of attempts at the same moment, in whatever process, each counts before the next is let through.
        """
        while True:
            record = await self.ask(lambda kv: kv.get(key))
            misses, held_until = _read(record.value) if record else (0, 0)
            now = self._clock.milliseconds()
            if held_until > now:
                return (held_until - now) * MILLISECOND
            counted = _written(misses + 1, now + ladder.hold(misses + 1) // MILLISECOND)
            if await self._write(key, counted, ladder.remembered, record.version if record else When.ABSENT):
                return None

    async def forgive(self, key: str, ladder: Ladder) -> None:
        """Take back one attempt that was no miss, and the hold that it began."""
        while record := await self.ask(lambda kv: kv.get(key)):
            misses, _ = _read(record.value)
            if await self._write(key, _written(max(0, misses - 1), 0), ladder.remembered, record.version):
                return

    async def _write(self, key: str, value: bytes, life: dt.timedelta, when: When | int) -> bool:
        return await self.ask(lambda kv: kv.write(key, value, life, when=when)) is not None


def _written(misses: int, held_until: int) -> bytes:
    return b"%d %d" % (misses, held_until)


def _read(value: bytes) -> tuple[int, int]:
    misses, held_until = value.split()
    return int(misses), int(held_until)

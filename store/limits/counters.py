"""Counts that all processes share. While their store is out of reach, each process counts alone."""

import datetime as dt
import time
from collections.abc import Awaitable, Callable
from typing import TypeVar

import structlog
from prometheus_client import Counter

from schema.core.errors import Unavailable
from store.core.clock import Clock
from store.kv import KeyValueStore, WriteMode
from store.kv.memory import MemoryKeyValue
from store.kv.protocol import MILLISECOND
from store.limits.backoff import Backoff

R = TypeVar("R")

log = structlog.get_logger(__name__)
REFUSALS = Counter("coffret_refusals", "Requests refused because there were too many, by kind of limit.", ["kind"])
LOCAL_COUNTS = Counter(
    "coffret_counts_alone", "Counts made in one process alone, because the shared store was out of reach."
)
RETRY_SECONDS = 5.0
"""Seconds until an unreachable store is tried again, so that an outage delays few requests."""


class SharedCounters:
    """Uses the shared store, or one in this process while that is out of reach. Never raises `Unavailable`."""

    def __init__(self, shared: KeyValueStore, clock: Clock) -> None:
        self._shared = shared
        self._clock = clock
        self._local = MemoryKeyValue(clock)
        self._local_until = 0.0

    async def run(self, do: Callable[[KeyValueStore], Awaitable[R]]) -> R:
        """Run an operation on the store."""
        if time.monotonic() >= self._local_until:
            try:
                answer = await do(self._shared)
            except Unavailable:
                if not self._local_until:
                    log.warning("limits are counted per process until the store is available again")
                self._local_until = time.monotonic() + RETRY_SECONDS
            else:
                if self._local_until:
                    self._local_until = 0.0
                    log.info("limits are shared again")
                return answer
        LOCAL_COUNTS.inc()
        return await do(self._local)

    async def count_attempt(self, key: str, backoff: Backoff) -> dt.timedelta | None:
        """Count an attempt as a failure before its outcome is known.

        If attempts are delayed, returns for how long, and nothing is counted. Simultaneous attempts, in whatever
        process, are counted one after another.
        """
        while True:
            record = await self.run(lambda kv: kv.get(key))
            misses, held_until = _decode(record.value) if record else (0, 0)
            now = self._clock.milliseconds()
            if held_until > now:
                return (held_until - now) * MILLISECOND
            counted = _encode(misses + 1, now + backoff.delay_after(misses + 1) // MILLISECOND)
            if await self._write(key, counted, backoff.memory, record.version if record else WriteMode.ABSENT):
                return None

    async def undo_attempt(self, key: str, backoff: Backoff) -> None:
        """Take back one attempt that did not fail, and the delay that it started."""
        while record := await self.run(lambda kv: kv.get(key)):
            misses, _ = _decode(record.value)
            if await self._write(key, _encode(max(0, misses - 1), 0), backoff.memory, record.version):
                return

    async def _write(self, key: str, value: bytes, life: dt.timedelta, when: WriteMode | int) -> bool:
        return await self.run(lambda kv: kv.write(key, value, life, when=when)) is not None


def _encode(misses: int, held_until: int) -> bytes:
    return b"%d %d" % (misses, held_until)


def _decode(value: bytes) -> tuple[int, int]:
    misses, held_until = value.split()
    return int(misses), int(held_until)

"""The engine without a server: a dictionary in this process. One process only, gone when it ends."""

import datetime as dt
from typing import NamedTuple

from schema.errors import IdempotencyMismatch
from store.clock import Clock
from store.kv.protocol import MILLISECOND, Condition, Count, Once, Record, When, Written, next_version

SWEEP_AT_LEAST = 1024


class _Held(NamedTuple):
    deadline: int
    version: int
    value: bytes


class MemoryKeyValue:
    """A `KeyValue` in this process. An operation never awaits half-way, which is what makes it atomic."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: dict[str, _Held] = {}
        self._sweep_at = SWEEP_AT_LEAST

    async def get(self, key: str) -> Record | None:
        held = self._live(key, self._clock.milliseconds())
        return None if held is None else Record(held.value, held.version)

    async def touch(self, key: str, life: dt.timedelta) -> Record | None:
        now = self._clock.milliseconds()
        held = self._live(key, now)
        if held is None:
            return None
        self._held[key] = held._replace(deadline=now + life // MILLISECOND)
        return Record(held.value, held.version)

    async def write(
        self,
        key: str,
        value: bytes,
        life: dt.timedelta,
        *,
        when: Condition = When.ALWAYS,
        once: Once | None = None,
    ) -> Written | None:
        now = self._clock.milliseconds()
        digest = b"" if once is None else once.digest()
        if once is not None and (kept := self._live(once.key, now)) is not None:
            if not kept.value.startswith(digest):
                raise IdempotencyMismatch
            return Written(kept.version, kept.value[len(digest) :], replayed=True)
        version = next_version(when, now)
        if when is not When.ALWAYS:
            held = self._live(key, now)
            if not _met(when, held):
                return None
            if held is not None:
                version = max(version, held.version + 1)
        answer = b"" if once is None else once.answer(version)
        self._put(key, _Held(now + life // MILLISECOND, version, value), now)
        if once is not None:
            self._put(once.key, _Held(now + once.life // MILLISECOND, version, digest + answer), now)
        return Written(version, answer)

    async def delete(self, key: str, *, version: int | None = None) -> bool:
        held = self._live(key, self._clock.milliseconds())
        if held is None or version not in (None, held.version):
            return False
        del self._held[key]
        return True

    async def increment(self, key: str, life: dt.timedelta) -> Count:
        now = self._clock.milliseconds()
        held = self._live(key, now) or _Held(now + life // MILLISECOND, 0, b"")
        held = held._replace(version=held.version + 1)
        self._put(key, held, now)
        return Count(held.version, (held.deadline - now) * MILLISECOND)

    async def ping(self) -> None:
        return

    async def aclose(self) -> None:
        self._held.clear()

    def _live(self, key: str, now: int) -> _Held | None:
        held = self._held.get(key)
        return held if held is not None and held.deadline > now else None

    def _put(self, key: str, held: _Held, now: int) -> None:
        self._held[key] = held
        if len(self._held) >= self._sweep_at:
            self._held = {key: held for key, held in self._held.items() if held.deadline > now}
            self._sweep_at = max(SWEEP_AT_LEAST, 2 * len(self._held))


def _met(when: Condition, held: _Held | None) -> bool:
    if when is When.ABSENT:
        return held is None
    return held is not None and when in (When.PRESENT, held.version)

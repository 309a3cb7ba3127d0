"""The engine without a server: a dictionary in this process. One process only, gone when it ends."""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from schema.errors import IdempotencyMismatch
from store.clock import Clock
from store.kv.protocol import (
    MILLISECOND,
    Condition,
    Count,
    Expired,
    Expiries,
    Once,
    Record,
    When,
    Written,
    next_version,
)

SWEEP_AT_LEAST = 1024


class _Held(NamedTuple):
    deadline: int
    version: int
    value: bytes
    kept_until: int
    """The deadline, or later where its end is told."""


class MemoryKeyValue:
    """A `KeyValue` in this process. Nothing awaits between its last look and what it writes, which is what makes it atomic."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._held: dict[str, _Held] = {}
        self._noted: dict[str, dict[str, int]] = {}
        """For each index the versions of its records, the longest unwritten first."""
        self._sweep_at = SWEEP_AT_LEAST

    async def get(self, key: str) -> Record | None:
        held = self._live(key, self._clock.milliseconds())
        return None if held is None else Record(held.value, held.version)

    async def touch(self, key: str, life: dt.timedelta) -> Record | None:
        now = self._clock.milliseconds()
        held = self._live(key, now)
        if held is None:
            return None
        deadline = now + life // MILLISECOND
        self._held[key] = held._replace(deadline=deadline, kept_until=deadline)
        return Record(held.value, held.version)

    async def write(
        self,
        key: str,
        value: bytes,
        life: dt.timedelta,
        *,
        when: Condition = When.ALWAYS,
        once: Once | None = None,
        expiries: Expiries | None = None,
    ) -> Written | None:
        now = self._clock.milliseconds()
        answer, answered = b"", None
        while not isinstance(version := self._version(key, when, once, now), Written | None):
            if once is None or version == answered:
                break
            answer, answered = await once.answer(version), version  # meanwhile others may have written: look again
        else:
            return version
        deadline = now + life // MILLISECOND
        kept_until = deadline if expiries is None else deadline + expiries.value_kept // MILLISECOND
        self._put(key, _Held(deadline, version, value, kept_until), now)
        if expiries is not None:
            self._note(expiries, key, version, now)
        if once is not None:
            kept_until = now + once.life // MILLISECOND
            self._put(once.key, _Held(kept_until, version, once.digest() + answer, kept_until), now)
        return Written(version, answer)

    def _version(self, key: str, when: Condition, once: Once | None, now: int) -> int | Written | None:
        """What a write would make; or what it made the first time; None where the condition does not hold."""
        if once is not None and (kept := self._live(once.key, now)) is not None:
            digest = once.digest()
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
        return version

    async def delete(self, key: str, *, version: int | None = None, expiries: Expiries | None = None) -> bool:
        held = self._live(key, self._clock.milliseconds())
        if held is None or version not in (None, held.version):
            return False
        del self._held[key]
        if expiries is not None:
            self._noted.get(expiries.key, {}).pop(key, None)
        return True

    async def expired(self, expiries: Expiries, *, most: int, skip: int = 0) -> list[Expired]:
        now = self._clock.milliseconds()
        last = now - expiries.after // MILLISECOND
        noted = self._noted.get(expiries.key, {})
        ended = sorted((version, key) for key, version in noted.items() if version <= last)
        return [told for version, key in ended[skip : skip + most] if (told := self._end(key, version, now))]

    async def cross_off(self, expiries: Expiries, told: Sequence[Expired]) -> None:
        noted = self._noted.get(expiries.key, {})
        for key, version, _ in told:
            if noted.get(key, version + 1) <= version:
                del noted[key]

    async def increment(self, key: str, life: dt.timedelta, *, by: int = 1) -> Count:
        now = self._clock.milliseconds()
        held = self._live(key, now)
        if held is None:
            if by <= 0:
                return Count(0, dt.timedelta())
            until = now + life // MILLISECOND
            held = _Held(until, 0, b"", until)
        held = held._replace(version=max(0, held.version + by))
        self._put(key, held, now)
        return Count(held.version, (held.deadline - now) * MILLISECOND)

    async def ping(self) -> None:
        return

    async def aclose(self) -> None:
        self._held.clear()
        self._noted.clear()

    def _live(self, key: str, now: int) -> _Held | None:
        held = self._held.get(key)
        return held if held is not None and held.deadline > now else None

    def _note(self, expiries: Expiries, key: str, version: int, now: int) -> None:
        noted = self._noted.setdefault(expiries.key, {})
        noted.pop(key, None)
        noted[key] = version
        forgotten = now - expiries.kept // MILLISECOND
        while noted[first := next(iter(noted))] <= forgotten:
            del noted[first]

    def _end(self, key: str, version: int, now: int) -> Expired | None:
        held = self._held.get(key)
        if held is None or held.kept_until <= now:
            return Expired(key, version, None)
        if held.deadline > now:
            return None
        self._held[key] = held._replace(deadline=0)
        return Expired(key, version, held.value)

    def _put(self, key: str, held: _Held, now: int) -> None:
        self._held[key] = held
        if len(self._held) >= self._sweep_at:
            self._held = {key: held for key, held in self._held.items() if held.kept_until > now}
            self._sweep_at = max(SWEEP_AT_LEAST, 2 * len(self._held))


def _met(when: Condition, held: _Held | None) -> bool:
    if when is When.ABSENT:
        return held is None
    return held is not None and when in (When.PRESENT, held.version)

"""The engine without a server: a dictionary in this process. One process only, gone when it ends."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from prometheus_client import Gauge

from schema.core.errors import CartStoreFull, IdempotencyMismatch
from store.core.clock import Clock
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
SWEEP_PAUSE = 1000
"""Milliseconds at least between two looks for what has expired because there is no room."""
OVERHEAD = 500
"""Bytes that a record takes besides its key and its value."""
CARTS = Gauge("coffret_carts_in_memory", "Carts that this process holds.", multiprocess_mode="livesum")
BYTES = Gauge(
    "coffret_carts_in_memory_bytes",
    "Bytes that they take, with the answers that are kept for their keys.",
    multiprocess_mode="livesum",
)


class Room(NamedTuple):
    """How many carts there may be, and how many bytes of them and of the answers that are kept for their keys."""

    carts: int
    bytes: int


ROOM = Room(100_000, 256 * 1024 * 1024)


class _Held(NamedTuple):
    deadline: int
    version: int
    value: bytes
    kept_until: int
    """The deadline, or later where its end is told."""
    weight: int = 0
    """The bytes of what needs room; 0 for what does not, such as sessions and counts."""
    carts: int = 0
    """1 for a record whose end is told."""


class MemoryKeyValue:
    """A `KeyValue` in this process. Nothing awaits between its last look and what it writes, which is what makes it atomic.

    Records whose end is told, and answers that are kept, need room; what would not fit raises `CartStoreFull`, once what has
    expired is gone. What takes no more room than what it replaces always fits.
    """

    def __init__(self, clock: Clock, room: Room = ROOM) -> None:
        self._clock = clock
        self._room = room
        self._carts = self._bytes = 0
        self._first_end = self._swept_on = 0
        """When the first record that needs room may be gone, and when it was last looked for."""
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
        value = bytes(memoryview(value))  # orjson's own takes 4 KB, whatever is in it
        made = {key: _Held(deadline, version, value, deadline)}
        if expiries is not None:
            kept_until = deadline + expiries.value_kept // MILLISECOND
            made[key] = _Held(deadline, version, value, kept_until, _weight(key, value), carts=1)
        if once is not None:
            answer_ends, kept = now + once.life // MILLISECOND, once.digest() + answer
            made[once.key] = _Held(answer_ends, version, kept, answer_ends, _weight(once.key, kept))
        self._make_room(made, now)
        for name, held in made.items():
            self._put(name, held, now)
        if expiries is not None:
            self._note(expiries, key, version, now)
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
        self._count(self._held.pop(key), -1)
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
                held = self._held.get(key)
                if held is not None and held.deadline == 0:  # told, so that its content is of no more use
                    self._count(self._held.pop(key), -1)

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
        for held in self._held.values():
            self._count(held, -1)
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
        if (before := self._held.get(key)) is not None:
            self._count(before, -1)
        self._held[key] = held
        if held.weight:
            self._count(held, 1)
            self._first_end = min(self._first_end or held.kept_until, held.kept_until)
        if len(self._held) >= self._sweep_at:
            self._sweep(now)
            self._sweep_at = max(SWEEP_AT_LEAST, 2 * len(self._held))

    def _make_room(self, made: Mapping[str, _Held], now: int) -> None:
        """Let go of what has expired, should that be needed for these records. `CartStoreFull` where it does not help."""
        if not self._fits(made) and self._first_end <= now and now - self._swept_on >= SWEEP_PAUSE:
            self._sweep(now)
        if not self._fits(made):
            raise CartStoreFull

    def _fits(self, made: Mapping[str, _Held]) -> bool:
        before = [held for key in made if (held := self._held.get(key)) is not None]
        carts = sum(held.carts for held in made.values()) - sum(held.carts for held in before)
        more = sum(held.weight for held in made.values()) - sum(held.weight for held in before)
        return (carts <= 0 or self._carts + carts <= self._room.carts) and (
            more <= 0 or self._bytes + more <= self._room.bytes
        )

    def _sweep(self, now: int) -> None:
        """Let go of what has expired."""
        live: dict[str, _Held] = {}
        for key, held in self._held.items():
            if held.kept_until > now:
                live[key] = held
            else:
                self._count(held, -1)
        self._held = live
        ends = (held.kept_until for held in live.values() if held.weight)
        self._first_end, self._swept_on = min(ends, default=0), now

    def _count(self, held: _Held, by: int) -> None:
        if held.weight:
            self._carts += by * held.carts
            self._bytes += by * held.weight
            CARTS.inc(by * held.carts)
            BYTES.inc(by * held.weight)


def _weight(key: str, value: bytes) -> int:
    return OVERHEAD + len(key) + len(value)


def _met(when: Condition, held: _Held | None) -> bool:
    if when is When.ABSENT:
        return held is None
    return held is not None and when in (When.PRESENT, held.version)

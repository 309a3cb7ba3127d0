"""The engine in this process: a dictionary, gone when the process ends."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from prometheus_client import Gauge

from schema.core.errors import CartStoreFull, IdempotencyMismatch
from store.core.clock import Clock
from store.kv.protocol import (
    MILLISECOND,
    ExpiredRecord,
    ExpiryIndex,
    IdempotentWrite,
    Increment,
    Record,
    WindowCount,
    WriteCondition,
    WriteMode,
    WriteResult,
    next_version,
)

MIN_SWEEP_SIZE = 1024
SWEEP_INTERVAL_MS = 1000
"""Minimum milliseconds between two searches for expired records while there is no room."""
RECORD_OVERHEAD_BYTES = 500
"""Bytes of a record besides its key and its value."""
CARTS_IN_MEMORY = Gauge("coffret_carts_in_memory", "Carts stored in this process.", multiprocess_mode="livesum")
BYTES_IN_MEMORY = Gauge(
    "coffret_carts_in_memory_bytes",
    "Bytes of these carts and of the stored responses of their idempotency keys.",
    multiprocess_mode="livesum",
)


class MemoryLimit(NamedTuple):
    """The maximum number of carts, and the maximum bytes of carts and stored responses."""

    carts: int
    bytes: int


DEFAULT_MEMORY_LIMIT = MemoryLimit(100_000, 256 * 1024 * 1024)


class _StoredRecord(NamedTuple):
    deadline: int
    version: int
    value: bytes
    retained_until: int
    """The deadline, or later if the record's expiry is reported."""
    weight: int = 0
    """Bytes that count towards the limit; 0 for records that do not count, such as sessions and counts."""
    carts: int = 0
    """1 for a record whose expiry is reported."""


class MemoryKeyValue:
    """A `KeyValueStore` in this process. Operations are atomic: nothing is awaited between the last check and the
    write.

    Records whose expiry is reported, and stored responses, count towards the limit. If there is no room even without
    the expired records, a write raises `CartStoreFull`. A write that needs no more room than what it replaces always
    fits.
    """

    def __init__(self, clock: Clock, limit: MemoryLimit = DEFAULT_MEMORY_LIMIT) -> None:
        self._clock = clock
        self._limit = limit
        self._carts = self._bytes = 0
        self._first_end = self._swept_on = 0
        """When the first counted record expires, and when expired records were last searched for."""
        self._records: dict[str, _StoredRecord] = {}
        self._expiry_indexes: dict[str, dict[str, int]] = {}
        """The versions of each index's records, the oldest write first."""
        self._sweep_at = MIN_SWEEP_SIZE

    async def get(self, key: str) -> Record | None:
        held = self._live(key, self._clock.milliseconds())
        return None if held is None else Record(held.value, held.version)

    async def touch(self, key: str, life: dt.timedelta) -> Record | None:
        now = self._clock.milliseconds()
        held = self._live(key, now)
        if held is None:
            return None
        deadline = now + life // MILLISECOND
        self._records[key] = held._replace(deadline=deadline, retained_until=deadline)
        return Record(held.value, held.version)

    async def write(
        self,
        key: str,
        value: bytes,
        life: dt.timedelta,
        *,
        when: WriteCondition = WriteMode.ALWAYS,
        idempotent: IdempotentWrite | None = None,
        expiry_index: ExpiryIndex | None = None,
    ) -> WriteResult | None:
        now = self._clock.milliseconds()
        answer, answered = b"", None
        while not isinstance(version := self._version(key, when, idempotent, now), WriteResult | None):
            if idempotent is None or version == answered:
                break
            answer, answered = (
                await idempotent.build_response(version),
                version,
            )  # others may have written meanwhile: check again
        else:
            return version
        deadline = now + life // MILLISECOND
        value = bytes(memoryview(value))  # orjson's buffer takes 4 KB, whatever its content
        records = {key: _StoredRecord(deadline, version, value, deadline)}
        if expiry_index is not None:
            kept_until = deadline + expiry_index.value_retention // MILLISECOND
            records[key] = _StoredRecord(deadline, version, value, kept_until, _weight(key, value), carts=1)
        if idempotent is not None:
            answer_ends, response = now + idempotent.life // MILLISECOND, idempotent.digest() + answer
            records[idempotent.key] = _StoredRecord(
                answer_ends, version, response, answer_ends, _weight(idempotent.key, response)
            )
        self._evict_expired(records, now)
        for name, held in records.items():
            self._put(name, held, now)
        if expiry_index is not None:
            self._index_expiry(expiry_index, key, version, now)
        return WriteResult(version, answer)

    def _version(
        self, key: str, when: WriteCondition, once: IdempotentWrite | None, now: int
    ) -> int | WriteResult | None:
        """The version that a write would get, or the result of its first request, or None if the condition fails."""
        if once is not None and (stored := self._live(once.key, now)) is not None:
            digest = once.digest()
            if not stored.value.startswith(digest):
                raise IdempotencyMismatch
            return WriteResult(stored.version, stored.value[len(digest) :], replayed=True)
        version = next_version(when, now)
        if when is not WriteMode.ALWAYS:
            held = self._live(key, now)
            if not _condition_holds(when, held):
                return None
            if held is not None:
                version = max(version, held.version + 1)
        return version

    async def delete(self, key: str, *, version: int | None = None, expiry_index: ExpiryIndex | None = None) -> bool:
        held = self._live(key, self._clock.milliseconds())
        if held is None or version not in (None, held.version):
            return False
        self._count(self._records.pop(key), -1)
        if expiry_index is not None:
            self._expiry_indexes.get(expiry_index.key, {}).pop(key, None)
        return True

    async def expired(self, expiries: ExpiryIndex, *, limit: int, skip: int = 0) -> list[ExpiredRecord]:
        now = self._clock.milliseconds()
        last = now - expiries.after // MILLISECOND
        noted = self._expiry_indexes.get(expiries.key, {})
        ended = sorted((version, key) for key, version in noted.items() if version <= last)
        return [
            record for version, key in ended[skip : skip + limit] if (record := self._end_record(key, version, now))
        ]

    async def acknowledge(self, expiries: ExpiryIndex, records: Sequence[ExpiredRecord]) -> None:
        noted = self._expiry_indexes.get(expiries.key, {})
        for key, version, _ in records:
            if noted.get(key, version + 1) <= version:
                del noted[key]
                held = self._records.get(key)
                if held is not None and held.deadline == 0:  # reported, so its content is no longer needed
                    self._count(self._records.pop(key), -1)

    async def increment(self, key: str, life: dt.timedelta, *, by: int = 1) -> WindowCount:
        (count,) = await self.increment_all(Increment(key, life, by))
        return count

    async def increment_all(self, *increments: Increment) -> list[WindowCount]:
        now = self._clock.milliseconds()
        return [self._increment(key, life, by, now) for key, life, by in increments]

    def _increment(self, key: str, life: dt.timedelta, by: int, now: int) -> WindowCount:
        held = self._live(key, now)
        if held is None:
            if by <= 0:
                return WindowCount(0, dt.timedelta())
            until = now + life // MILLISECOND
            held = _StoredRecord(until, 0, b"", until)
        held = held._replace(version=max(0, held.version + by))
        self._put(key, held, now)
        return WindowCount(held.version, (held.deadline - now) * MILLISECOND)

    async def ping(self) -> None:
        return

    async def aclose(self) -> None:
        for held in self._records.values():
            self._count(held, -1)
        self._records.clear()
        self._expiry_indexes.clear()

    def _live(self, key: str, now: int) -> _StoredRecord | None:
        held = self._records.get(key)
        return held if held is not None and held.deadline > now else None

    def _index_expiry(self, expiries: ExpiryIndex, key: str, version: int, now: int) -> None:
        noted = self._expiry_indexes.setdefault(expiries.key, {})
        noted.pop(key, None)
        noted[key] = version
        forgotten = now - expiries.retention // MILLISECOND
        while noted[first := next(iter(noted))] <= forgotten:
            del noted[first]

    def _end_record(self, key: str, version: int, now: int) -> ExpiredRecord | None:
        held = self._records.get(key)
        if held is None or held.retained_until <= now:
            return ExpiredRecord(key, version, None)
        if held.deadline > now:
            return None
        self._records[key] = held._replace(deadline=0)
        return ExpiredRecord(key, version, held.value)

    def _put(self, key: str, held: _StoredRecord, now: int) -> None:
        if (before := self._records.get(key)) is not None:
            self._count(before, -1)
        self._records[key] = held
        if held.weight:
            self._count(held, 1)
            self._first_end = min(self._first_end or held.retained_until, held.retained_until)
        if len(self._records) >= self._sweep_at:
            self._sweep(now)
            self._sweep_at = max(MIN_SWEEP_SIZE, 2 * len(self._records))

    def _evict_expired(self, records: Mapping[str, _StoredRecord], now: int) -> None:
        """Remove expired records if these records need the room. `CartStoreFull` if that does not suffice."""
        if not self._fits(records) and self._first_end <= now and now - self._swept_on >= SWEEP_INTERVAL_MS:
            self._sweep(now)
        if not self._fits(records):
            raise CartStoreFull

    def _fits(self, records: Mapping[str, _StoredRecord]) -> bool:
        before = [held for key in records if (held := self._records.get(key)) is not None]
        carts = sum(held.carts for held in records.values()) - sum(held.carts for held in before)
        more = sum(held.weight for held in records.values()) - sum(held.weight for held in before)
        return (carts <= 0 or self._carts + carts <= self._limit.carts) and (
            more <= 0 or self._bytes + more <= self._limit.bytes
        )

    def _sweep(self, now: int) -> None:
        """Remove expired records."""
        live: dict[str, _StoredRecord] = {}
        for key, held in self._records.items():
            if held.retained_until > now:
                live[key] = held
            else:
                self._count(held, -1)
        self._records = live
        ends = (held.retained_until for held in live.values() if held.weight)
        self._first_end, self._swept_on = min(ends, default=0), now

    def _count(self, held: _StoredRecord, by: int) -> None:
        if held.weight:
            self._carts += by * held.carts
            self._bytes += by * held.weight
            CARTS_IN_MEMORY.inc(by * held.carts)
            BYTES_IN_MEMORY.inc(by * held.weight)


def _weight(key: str, value: bytes) -> int:
    return RECORD_OVERHEAD_BYTES + len(key) + len(value)


def _condition_holds(when: WriteCondition, held: _StoredRecord | None) -> bool:
    if when is WriteMode.ABSENT:
        return held is None
    return held is not None and when in (WriteMode.PRESENT, held.version)

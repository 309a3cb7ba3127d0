"""The interface of the engines, and its value types."""

import datetime as dt
import enum
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

VERSION_DIGITS = 13
MILLISECOND = dt.timedelta(milliseconds=1)


class Record(NamedTuple):
    """The value of a key, and its version."""

    value: bytes
    version: int
    """The time of its last write in milliseconds since 1970; the previous version plus one, if that is later."""


class WriteMode(enum.StrEnum):
    """The condition of a write."""

    ALWAYS = "always"
    """Without a check: for keys that nobody else can know yet."""
    ABSENT = "absent"
    """Only if there is no live record."""
    PRESENT = "present"
    """Only if there is a live record."""


WriteCondition = WriteMode | int
"""The condition of a write. A number means: only if the live record has exactly this version."""


@dataclass(frozen=True, slots=True)
class IdempotentWrite:
    """Makes a write happen once: a repeated request gets the first response instead."""

    key: str
    """The key of the stored response; shares the hash tag of the key that is written."""
    fingerprint: bytes
    """Identifies the request (any length; only its digest is stored)."""
    life: dt.timedelta
    """How long the response is stored."""
    build_response: Callable[[int], Awaitable[bytes]]
    """Builds the response from the written version. It may be called several times; the last result counts."""

    def digest(self) -> bytes:
        """The SHA-256 digest of the fingerprint."""
        return hashlib.sha256(self.fingerprint).digest()


class ExpiryIndex(NamedTuple):
    """An index of records by their last write, from which expired records are reported.

    Either every write of a record is indexed, or none.
    """

    key: str
    """The key of the index; shares the hash tag of the records."""
    after: dt.timedelta
    """How long after its last write a record is reported as expired; no shorter than its life."""
    value_retention: dt.timedelta
    """How long a record's value is stored beyond its life, so that it can be reported."""
    retention: dt.timedelta
    """How long after its last write a record stays in the index; later it is dropped unreported."""


class ExpiredRecord(NamedTuple):
    """A record that has expired."""

    key: str
    version: int
    value: bytes | None
    """None if it is no longer stored."""


class WriteResult(NamedTuple):
    """A write that took place, now or (`replayed`) when it was first requested."""

    version: int
    response: bytes = b""
    """The result of `IdempotentWrite.build_response` for the write; empty without an `IdempotentWrite`."""
    replayed: bool = False


class Increment(NamedTuple):
    """An addition to a count. A window of `life` starts with its first increment.

    A negative number takes back counts, down to 0. The number 0 only reads. Neither starts a window.
    """

    key: str
    life: dt.timedelta
    by: int = 1


class WindowCount(NamedTuple):
    """The count of the current window, and the time until the window ends."""

    times: int
    remaining: dt.timedelta


class KeyValueStore(Protocol):
    """Bytes by key, each with a limited life by Coffret's clock. Every operation is atomic and takes one round trip.

    An idempotent write over a record of the same millisecond, or of a clock that is ahead, takes a second round trip:
    its response contains the version and must be built again.

    An unreachable engine raises `Unavailable`. After a lost connection an operation is retried. The result equals that
    of a single try as long as nobody else writes the key in between. The exceptions are `increment` and `increment_all`, which
    may count twice.
    """

    async def get(self, key: str) -> Record | None:
        """The live record of the key; its life is not extended."""

    async def touch(self, key: str, life: dt.timedelta) -> Record | None:
        """The live record of the key; its life starts again."""

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
        """Store a value for `life`. None if the condition fails; then nothing changes and no response is stored.

        A write over a live record always gets a higher version, except with `WriteMode.ALWAYS`, which does not check.
        `idempotent` with the key of a request with another fingerprint raises `IdempotencyMismatch`. With the same
        fingerprint, the write returns the first response, whatever has happened to the record since. With
        `expiry_index` the record is indexed in the same step.
        """

    async def delete(self, key: str, *, version: int | None = None, expiry_index: ExpiryIndex | None = None) -> bool:
        """Delete a key; with a `version`, only at that version. True if a live record was deleted.

        A deleted record is never reported as expired: it is removed from `expiry_index` in the same step.
        """

    async def expired(self, expiries: ExpiryIndex, *, limit: int, skip: int = 0) -> list[ExpiredRecord]:
        """The expired records, the oldest write first. They are returned again until they are acknowledged.

        A returned record is expired for everybody from then on, also for a process whose clock is behind. One round
        trip, two if there are expired records.
        """

    async def acknowledge(self, expiries: ExpiryIndex, records: Sequence[ExpiredRecord]) -> None:
        """Stop reporting these records. One that was written again meanwhile stays in the index."""

    async def increment(self, key: str, life: dt.timedelta, *, by: int = 1) -> WindowCount:
        """Add to a count."""

    async def increment_all(self, *increments: Increment) -> list[WindowCount]:
        """Add to counts whose keys share a hash tag. Returns them in the same order."""

    async def ping(self) -> None:
        """Return if the engine answers."""

    async def aclose(self) -> None:
        """Close all connections. Data on a server stays there."""


def next_version(when: WriteCondition, now: int) -> int:
    """The version that a write requests before it knows the stored one: the current millisecond, above the replaced
    version.
    """
    return now if isinstance(when, WriteMode) else max(now, when + 1)

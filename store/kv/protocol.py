"""What an engine offers, and the few values it speaks in."""

import datetime as dt
import enum
import hashlib
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

VERSION_DIGITS = 13
MILLISECOND = dt.timedelta(milliseconds=1)


class Record(NamedTuple):
    """What is held under a key."""

    value: bytes
    version: int
    """The moment of its last write in milliseconds since 1970, or one more than the version before where that is later."""


class When(enum.StrEnum):
    """On what condition a write takes place."""

    ALWAYS = "always"
    """Without looking at what is there: for keys that nobody else can know yet."""
    ABSENT = "absent"
    """Only when nothing live is there."""
    PRESENT = "present"
    """Only when something live is there."""


Condition = When | int
"""When to write; a number means: only when what is live there has exactly this version."""


@dataclass(frozen=True, slots=True)
class Once:
    """Makes a write happen once: whoever asks for it again gets the first answer instead."""

    key: str
    """Where the answer is kept; shares the hash tag of the key that is written."""
    fingerprint: bytes
    """What tells one request from another (any length; only its digest is kept)."""
    life: dt.timedelta
    """How long the answer is kept."""
    answer: Callable[[int], Awaitable[bytes]]
    """Makes the answer from the version written. It may be called several times, of which the last counts."""

    def digest(self) -> bytes:
        """The fingerprint in 32 bytes."""
        return hashlib.sha256(self.fingerprint).digest()


class Expiries(NamedTuple):
    """An index of records by their last write, so that their end can be told. A record is noted with every write or never."""

    key: str
    """Where the index is; shares the hash tag of the records."""
    after: dt.timedelta
    """How long after its last write the end of a record is told; no shorter than its life."""
    value_kept: dt.timedelta
    """How long a record's value outlasts its life, so that it can be told with the end."""
    kept: dt.timedelta
    """How long after its last write a record is still told of, if nobody asked before; later it is forgotten untold."""


class Expired(NamedTuple):
    """A record that has reached its end."""

    key: str
    version: int
    value: bytes | None
    """None when it is no longer kept."""


class Written(NamedTuple):
    """A write that took place, now or (`replayed`) the first time it was asked for."""

    version: int
    answer: bytes = b""
    """What `Once.answer` made when the write took place; empty without `once`."""
    replayed: bool = False


class Count(NamedTuple):
    """How often something happened in the present window, and how long the window still lasts."""

    times: int
    remaining: dt.timedelta


class KeyValue(Protocol):
    """Bytes under keys, each for a limited time by Coffret's clock. Every operation is atomic and one round trip.

    (A write `once` over a record of the same millisecond, or of a clock that is ahead, takes a second one: its answer tells
    the version, and is made anew.)

    An engine out of reach raises `Unavailable`. A connection lost half-way is tried again, which no operation but
    `increment` (it may count twice) can tell from a single try, as long as nobody else writes the key in between.
    """

    async def get(self, key: str) -> Record | None:
        """What is live under the key. Its life goes on as it was."""

    async def touch(self, key: str, life: dt.timedelta) -> Record | None:
        """What is live under the key; its life starts again."""

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
        """Hold a value for `life`; None when the condition does not hold, and then nothing changed and no answer is kept.

        A write over something live always has a higher version, but for `When.ALWAYS`, which does not look. The same
        `once` with another fingerprint raises `IdempotencyMismatch`; with the same one it answers what it first
        answered, whatever became of the record since. With `expiries` the record is noted there in the same step.
        """

    async def delete(self, key: str, *, version: int | None = None, expiries: Expiries | None = None) -> bool:
        """Forget a key, given a version only if it is still that one. Tells whether something live was forgotten.

        What is forgotten never reaches its end: it is taken out of `expiries` in the same step.
        """

    async def expired(self, expiries: Expiries, *, most: int, skip: int = 0) -> list[Expired]:
        """The records that have reached their end, the longest unwritten first; all of them again until crossed off.

        What is told is dead for everybody from then on, also for a process whose clock is behind. One round trip, two when
        there is something to tell.
        """

    async def cross_off(self, expiries: Expiries, told: Sequence[Expired]) -> None:
        """Tell nobody of these records again. One that was written anew meanwhile stays noted."""

    async def increment(self, key: str, life: dt.timedelta, *, by: int = 1) -> Count:
        """Count so many more; a window of `life` starts with the first one counted.

        A negative number takes back what was counted, down to none, and 0 only looks: neither starts a window.
        """

    async def ping(self) -> None:
        """Return when the engine answers."""

    async def aclose(self) -> None:
        """Let go of all connections. What a server holds stays there."""


def next_version(when: Condition, now: int) -> int:
    """The version that a write wants, before it knows what is there: the present millisecond, above the one replaced."""
    return now if isinstance(when, When) else max(now, when + 1)

"""The one source of time that the program asks. Nothing else calls `datetime.now` or `time.time`."""

import contextlib
import datetime as dt
import re
import threading
import time
from collections.abc import Callable, Iterator

_DURATION = re.compile(r"(?:(?P<days>\d+)d)?(?:(?P<hours>\d+)h)?(?:(?P<minutes>\d+)m)?(?:(?P<seconds>\d+)s)?", re.ASCII)
FURTHEST = dt.timedelta(days=3650)
"""How far time can be moved in all: far enough for whatever ends some day, and near enough for every date to exist."""


class Clock:
    """UTC now, plus what `advance` has added: development and tests move time, production never does."""

    def __init__(self) -> None:
        self._ahead = dt.timedelta()
        self._lock = threading.Lock()
        self._told: list[Callable[[], None]] = []

    def now(self) -> dt.datetime:
        """The present moment, in UTC, with microseconds."""
        return dt.datetime.now(dt.UTC) + self._ahead

    @property
    def ahead(self) -> dt.timedelta:
        """How far `advance` has moved it in all."""
        return self._ahead

    def timestamp(self) -> float:
        """Seconds since 1970, UTC."""
        return time.time() + self._ahead.total_seconds()

    def milliseconds(self) -> int:
        """Whole milliseconds since 1970, UTC."""
        return int(self.timestamp() * 1000)

    def advance(self, by: dt.timedelta) -> dt.datetime:
        """Move time forward; it never goes back."""
        if by < dt.timedelta():
            raise ValueError("Time only moves forward: give a positive duration.")
        with self._lock:
            self._ahead += by
        self._tell()
        return self.now()

    def follow(self, ahead: dt.timedelta) -> None:
        """Be as far ahead as another clock was moved, unless this one is further."""
        with self._lock:
            behind = ahead > self._ahead
            self._ahead = max(ahead, self._ahead)
        if behind:
            self._tell()

    @contextlib.contextmanager
    def telling(self, moved: Callable[[], None]) -> Iterator[None]:
        """Call a function whenever the clock was moved, while the block runs."""
        self._told.append(moved)
        try:
            yield
        finally:
            self._told.remove(moved)

    def _tell(self) -> None:
        for moved in tuple(self._told):
            moved()


clock = Clock()


def now() -> dt.datetime:
    """`clock.now()`, for column defaults."""
    return clock.now()


def duration(written: str) -> dt.timedelta:
    """A length of time as people write it: `90s`, `15m`, `2h`, `3d`, `1d12h`. ValueError for anything else, and for none."""
    found = _DURATION.fullmatch("".join(written.lower().split()))
    parts = {unit: int(number) for unit, number in found.groupdict().items() if number} if found else {}
    try:
        length = dt.timedelta(**parts)
    except OverflowError:
        length = dt.timedelta.max
    if not dt.timedelta() < length <= FURTHEST:
        raise ValueError(f"Write a length of time such as 90s, 15m, 2h, 3d or 1d12h, of at most {FURTHEST.days}d.")
    return length

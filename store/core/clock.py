"""The program's only source of time. No other code calls `datetime.now` or `time.time`."""

import contextlib
import datetime as dt
import re
import threading
import time
from collections.abc import Callable, Iterator

_DURATION = re.compile(r"(?:(?P<days>\d+)d)?(?:(?P<hours>\d+)h)?(?:(?P<minutes>\d+)m)?(?:(?P<seconds>\d+)s)?", re.ASCII)
MAX_AHEAD = dt.timedelta(days=3650)
"""The maximum total offset: longer than any expiry, and short enough that every date remains valid."""


class Clock:
    """UTC now plus an offset that `advance` increases. Development and tests move time; production never does."""

    def __init__(self) -> None:
        self._ahead = dt.timedelta()
        self._back = dt.timedelta()
        self._lock = threading.Lock()
        self._listeners: list[Callable[[], None]] = []

    def now(self) -> dt.datetime:
        """The current time in UTC, with microseconds."""
        return dt.datetime.now(dt.UTC) + self._ahead - self._back

    @property
    def ahead(self) -> dt.timedelta:
        """The total offset."""
        return self._ahead

    def timestamp(self) -> float:
        """Seconds since 1970 in UTC."""
        return time.time() + (self._ahead - self._back).total_seconds()

    def milliseconds(self) -> int:
        """Whole milliseconds since 1970 in UTC."""
        return int(self.timestamp() * 1000)

    def advance(self, by: dt.timedelta) -> dt.datetime:
        """Move time forward and return the new time. ValueError for a negative duration."""
        if by < dt.timedelta():
            raise ValueError("Time only moves forward: give a positive duration.")
        with self._lock:
            self._ahead += by
        self._notify()
        return self.now()

    def follow(self, ahead: dt.timedelta) -> None:
        """Raise the offset to that of another clock, unless this clock is further ahead."""
        with self._lock:
            behind = ahead > self._ahead
            self._ahead = max(ahead, self._ahead)
        if behind:
            self._notify()

    @contextlib.contextmanager
    def set_back(self, by: dt.timedelta) -> Iterator[None]:
        """Tell an earlier time while the block runs; `ahead` is unchanged. ValueError for a negative duration.

        For writing demo data of the past, in a process that does nothing else meanwhile.
        """
        if by < dt.timedelta():
            raise ValueError("Give a positive duration.")
        before, self._back = self._back, by
        try:
            yield
        finally:
            self._back = before

    @contextlib.contextmanager
    def on_move(self, listener: Callable[[], None]) -> Iterator[None]:
        """Call `listener` after each move of the clock, while the block runs."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)

    def _notify(self) -> None:
        for moved in tuple(self._listeners):
            moved()


clock = Clock()


def now() -> dt.datetime:
    """`clock.now()`, for column defaults."""
    return clock.now()


def parse_duration(written: str) -> dt.timedelta:
    """Parse a duration: `90s`, `15m`, `2h`, `3d`, `1d12h`.

    ValueError for any other text, for zero, and beyond `MAX_AHEAD`.
    """
    match = _DURATION.fullmatch("".join(written.lower().split()))
    parts = {unit: int(number) for unit, number in match.groupdict().items() if number} if match else {}
    try:
        length = dt.timedelta(**parts)
    except OverflowError:
        length = dt.timedelta.max
    if not dt.timedelta() < length <= MAX_AHEAD:
        raise ValueError(f"Write a length of time such as 90s, 15m, 2h, 3d or 1d12h, of at most {MAX_AHEAD.days}d.")
    return length

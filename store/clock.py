"""The one source of time that the program asks. Nothing else calls `datetime.now` or `time.time`."""

import datetime as dt
import threading


class Clock:
    """UTC now, plus what `advance` has added: development and tests move time, production never does."""

    def __init__(self) -> None:
        self._ahead = dt.timedelta()
        self._lock = threading.Lock()

    def now(self) -> dt.datetime:
        """The present moment, in UTC, with microseconds."""
        return dt.datetime.now(dt.UTC) + self._ahead

    @property
    def ahead(self) -> dt.timedelta:
        """How far `advance` has moved it in all."""
        return self._ahead

    def timestamp(self) -> float:
        """Seconds since 1970, UTC."""
        return self.now().timestamp()

    def milliseconds(self) -> int:
        """Whole milliseconds since 1970, UTC."""
        return int(self.timestamp() * 1000)

    def advance(self, by: dt.timedelta) -> dt.datetime:
        """Move time forward; it never goes back."""
        if by < dt.timedelta():
            raise ValueError("Time only moves forward: give a positive duration.")
        with self._lock:
            self._ahead += by
        return self.now()


clock = Clock()


def now() -> dt.datetime:
    """`clock.now()`, for column defaults."""
    return clock.now()

"""Timeouts with one timer for all waits."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any

CHECKS_PER_TIMEOUT = 4
"""Number of checks within a timeout; it determines how exactly a wait ends."""


class TimeoutScheduler:
    """`with timeouts():` raises TimeoutError if its block waits longer than `seconds`, or a quarter more.

    `asyncio.timeout` is exact and starts a timer for each wait. That costs a tenth of a whole cart call, and the timers
    almost never fire. Here one timer checks all waits. An instance is for one event loop.

    Time in which the event loop itself is busy does not count: a response may have arrived that the loop had no time to
    read. Giving up then would close good connections and make a busy process busier.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._pause = seconds / CHECKS_PER_TIMEOUT
        self._deadlines: dict[ScheduledTimeout, float] = {}
        """The deadline of each wait, the earliest first."""
        self._is_scheduled = False
        self._elapsed = 0.0
        """Seconds in which the loop was free; deadlines are on this scale."""
        self._checked_at = 0.0

    def __call__(self, should_extend: Callable[[], bool] | None = None) -> "ScheduledTimeout":
        """A new wait. With `should_extend`, it starts again when its time is over, as long as that returns True."""
        return ScheduledTimeout(self, should_extend)

    def begin(self, wait: "ScheduledTimeout") -> None:
        """Start checking a wait."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if not self._is_scheduled:
            self._is_scheduled, self._checked_at = True, now
            loop.call_later(self._pause, self._check, loop)
        self._deadlines[wait] = self._elapsed + min(now - self._checked_at, self._pause) + self.seconds

    def end(self, wait: "ScheduledTimeout") -> None:
        """Stop checking a wait."""
        self._deadlines.pop(wait, None)

    def _check(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        self._elapsed += min(now - self._checked_at, self._pause)
        self._checked_at = now
        for wait in [wait for wait, deadline in self._deadlines.items() if deadline <= self._elapsed]:
            del self._deadlines[wait]
            if wait.should_extend is not None and wait.should_extend():
                self._deadlines[wait] = self._elapsed + self.seconds
            else:
                wait.expire()
        self._is_scheduled = bool(self._deadlines)
        if self._is_scheduled:
            loop.call_later(self._pause, self._check, loop)


class ScheduledTimeout:
    """One wait of the task that enters it."""

    __slots__ = ("_cancelling", "_is_expired", "_scheduler", "_task", "should_extend")

    def __init__(self, scheduler: TimeoutScheduler, should_extend: Callable[[], bool] | None) -> None:
        self._scheduler = scheduler
        self.should_extend = should_extend
        self._is_expired = False

    def __enter__(self) -> None:
        task: asyncio.Task[Any] | None = asyncio.current_task()
        assert task is not None
        self._task, self._cancelling = task, task.cancelling()
        self._scheduler.begin(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._scheduler.end(self)
        # A cancellation by other code has precedence, as with `asyncio.timeout`.
        if self._is_expired and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def expire(self) -> None:
        """Cancel what the task awaits."""
        self._is_expired = True
        self._task.cancel()

"""Giving up on what takes too long, with one timer for all that is under way."""

import asyncio
from collections.abc import Callable
from types import TracebackType
from typing import Any

LOOKS = 4
"""In the time that something may take: how exact the end of a wait is."""


class Patience:
    """`with patience():` ends in TimeoutError when what it awaits takes longer than so many seconds, or a quarter more.

    `asyncio.timeout` is exact, and starts a timer for each wait. That costs a tenth of a whole cart call, and almost never
    is any of them needed, so here one timer looks after all waits. For one event loop.

    The time in which the loop itself was busy does not count: an answer may long be there that it had no time to read, and who
    gives up then closes good connections, which makes a busy process busier.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._pause = seconds / LOOKS
        self._waits: dict[Wait, float] = {}
        """All that is under way with its deadline, the earliest first."""
        self._looking = False
        self._counted = 0.0
        """Seconds that the loop has had time for, by which deadlines are."""
        self._looked_at = 0.0

    def __call__(self, goes_on: Callable[[], bool] | None = None) -> "Wait":
        """A wait; with `goes_on` one that begins anew when its time is over, as long as that says so."""
        return Wait(self, goes_on)

    def begin(self, wait: "Wait") -> None:
        """Look after a wait from now on."""
        loop = asyncio.get_running_loop()
        now = loop.time()
        if not self._looking:
            self._looking, self._looked_at = True, now
            loop.call_later(self._pause, self._look, loop)
        self._waits[wait] = self._counted + min(now - self._looked_at, self._pause) + self.seconds

    def end(self, wait: "Wait") -> None:
        """It is over, one way or the other."""
        self._waits.pop(wait, None)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        self._counted += min(now - self._looked_at, self._pause)
        self._looked_at = now
        for wait in [wait for wait, deadline in self._waits.items() if deadline <= self._counted]:
            del self._waits[wait]
            if wait.goes_on is not None and wait.goes_on():
                self._waits[wait] = self._counted + self.seconds
            else:
                wait.give_up()
        self._looking = bool(self._waits)
        if self._looking:
            loop.call_later(self._pause, self._look, loop)


class Wait:
    """One wait, of the task that begins it."""

    __slots__ = ("_cancelling", "_given_up", "_patience", "_task", "goes_on")

    def __init__(self, patience: Patience, goes_on: Callable[[], bool] | None) -> None:
        self._patience = patience
        self.goes_on = goes_on
        self._given_up = False

    def __enter__(self) -> None:
        task: asyncio.Task[Any] | None = asyncio.current_task()
        assert task is not None
        self._task, self._cancelling = task, task.cancelling()
        self._patience.begin(self)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, _traceback: TracebackType | None
    ) -> None:
        self._patience.end(self)
        # Who else cancels the task meanwhile has precedence, as with `asyncio.timeout`.
        if self._given_up and self._task.uncancel() <= self._cancelling and kind is asyncio.CancelledError:
            raise TimeoutError from error

    def give_up(self) -> None:
        """End what the task awaits."""
        self._given_up = True
        self._task.cancel()

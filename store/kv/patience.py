"""Giving up on what takes too long, with one timer for all that is under way."""

import asyncio
from types import TracebackType
from typing import Any

LOOKS = 4
"""In the time that something may take: how exact the end of a wait is."""


class Patience:
    """`with patience():` ends in TimeoutError when what it awaits takes longer than so many seconds, or a quarter more.

    `asyncio.timeout` is exact, and starts a timer for each wait. That costs a tenth of a whole cart call, and almost never
    is any of them needed, so here one timer looks after all waits. For one event loop.
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._waits: dict[Wait, float] = {}
        """All that is under way with its deadline, the earliest first."""
        self._looking = False

    def __call__(self) -> "Wait":
        return Wait(self)

    def begin(self, wait: "Wait") -> None:
        """Look after a wait from now on."""
        loop = asyncio.get_running_loop()
        self._waits[wait] = loop.time() + self.seconds
        if not self._looking:
            self._looking = True
            loop.call_later(self.seconds / LOOKS, self._look, loop)

    def end(self, wait: "Wait") -> None:
        """It is over, one way or the other."""
        self._waits.pop(wait, None)

    def _look(self, loop: asyncio.AbstractEventLoop) -> None:
        now = loop.time()
        for wait in [wait for wait, deadline in self._waits.items() if deadline <= now]:
            del self._waits[wait]
            wait.give_up()
        self._looking = bool(self._waits)
        if self._looking:
            loop.call_later(self.seconds / LOOKS, self._look, loop)


class Wait:
    """One wait, of the task that begins it."""

    __slots__ = ("_cancelling", "_given_up", "_patience", "_task")

    def __init__(self, patience: Patience) -> None:
        self._patience = patience
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

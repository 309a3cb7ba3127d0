"""Tells when something holds the event loop, so that no other request is answered meanwhile."""

import asyncio
import contextlib
import pathlib
import sys
import threading
import time
from collections.abc import Callable, Iterator
from types import FrameType

import structlog
from prometheus_client import Histogram

log = structlog.get_logger(__name__)
STALLS = Histogram(
    "coffret_loop_stall_seconds",
    "How long something held the event loop, from a quarter of a second on.",
    buckets=(0.25, 0.5, 1, 2, 5, 10, 30, 60),
)
BEAT = 0.1
STALL = 0.25
TASK = "request "
"""What the name of a task begins with that answers a request; the request's id follows."""
OURS = pathlib.Path(__file__).parents[2]


class Stalls:
    """Notices that a loop is held: the loop beats ten times a second, and a thread of its own looks whether it still does.

    A beat that comes late is counted and logged. Who was running is only seen while it runs, by the thread.
    """

    def __init__(self, task_name: Callable[[], str | None], clock: Callable[[], float] = time.perf_counter) -> None:
        self._task_name = task_name
        self._clock = clock
        self._thread = threading.get_ident()
        self._beaten = clock()
        self._seen: dict[str, str] | None = None

    def beat(self) -> None:
        """The loop is alive. Called by the loop itself, each `BEAT`."""
        now = self._clock()
        held, seen = now - self._beaten - BEAT, self._seen
        self._beaten, self._seen = now, None
        if held >= STALL:
            STALLS.observe(held)
            log.warning("the event loop was held", seconds=round(held, 3), **(seen or {}))

    def look(self) -> None:
        """Note what runs where the beat is overdue; called by the thread. Each stall is looked at once."""
        if self._seen is None and self._clock() - self._beaten - BEAT >= STALL:
            self._seen = seen = self._running()
            log.warning("the event loop is held", **seen)

    def _running(self) -> dict[str, str]:
        name, frame = self._task_name(), sys._current_frames().get(self._thread)  # noqa: SLF001 - public, but for its name
        seen = {} if frame is None else {"where": place_of(frame)}
        if name is not None:
            seen |= {"request_id": name.removeprefix(TASK)} if name.startswith(TASK) else {"task": name}
        return seen


def place_of(frame: FrameType) -> str:
    """The innermost function of ours that a stack is in, or else the innermost of all."""
    at: FrameType | None = frame
    while at is not None:
        path = pathlib.Path(at.f_code.co_filename)
        if path.is_relative_to(OURS) and ".venv" not in path.parts:
            return f"{path.relative_to(OURS)}:{at.f_lineno} {at.f_code.co_qualname}"
        at = at.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}"


def name_task(request_id: str) -> None:
    """Say which request the running task answers."""
    task = asyncio.current_task()
    if task is not None:
        task.set_name(f"{TASK}{request_id}")


@contextlib.contextmanager
def watched_loop() -> Iterator[None]:
    """Watch the running loop. It takes ten calls of a few microseconds a second, and four of the thread."""
    loop, over = asyncio.get_running_loop(), threading.Event()

    def task_name() -> str | None:
        task = asyncio.current_task(loop)
        return None if task is None else task.get_name()

    stalls = Stalls(task_name)

    def beat() -> None:
        if not over.is_set():
            stalls.beat()
            loop.call_later(BEAT, beat)

    def look() -> None:
        while not over.wait(STALL):
            stalls.look()

    loop.call_later(BEAT, beat)
    threading.Thread(target=look, name="stalls", daemon=True).start()
    try:
        yield
    finally:
        over.set()

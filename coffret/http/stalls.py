"""Detects when code blocks the event loop."""

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
STALL_SECONDS = Histogram(
    "coffret_loop_stall_seconds",
    "How long something blocked the event loop, from 0.25 seconds on.",
    buckets=(0.25, 0.5, 1, 2, 5, 10, 30, 60),
)
BEAT_INTERVAL = 0.1
STALL_THRESHOLD = 0.25
REQUEST_TASK_PREFIX = "request "
"""Prefix of the names of tasks that answer requests; the request id follows."""
SOURCE_ROOT = pathlib.Path(__file__).parents[2]


class StallDetector:
    """Detects a blocked loop: the loop beats ten times a second, and a thread checks the beats.

    A late beat is counted and logged. Only the thread sees which code is running, while it runs.
    """

    def __init__(self, task_name: Callable[[], str | None], clock: Callable[[], float] = time.perf_counter) -> None:
        self._task_name = task_name
        self._clock = clock
        self._thread = threading.get_ident()
        self._last_beat = clock()
        self._current_stall: dict[str, str] | None = None

    def beat(self) -> None:
        """Called by the loop itself every BEAT_INTERVAL seconds."""
        now = self._clock()
        held, seen = now - self._last_beat - BEAT_INTERVAL, self._current_stall
        self._last_beat, self._current_stall = now, None
        if held >= STALL_THRESHOLD:
            STALL_SECONDS.observe(held)
            log.warning("the event loop was blocked", seconds=round(held, 3), **(seen or {}))

    def check(self) -> None:
        """Called by the thread: log the running code if the beat is overdue. Each stall is logged once."""
        if self._current_stall is None and self._clock() - self._last_beat - BEAT_INTERVAL >= STALL_THRESHOLD:
            self._current_stall = seen = self._task_details()
            log.warning("the event loop is blocked", **seen)

    def _task_details(self) -> dict[str, str]:
        name, frame = self._task_name(), sys._current_frames().get(self._thread)  # noqa: SLF001 - public despite its name
        seen = {} if frame is None else {"where": innermost_frame_of(frame)}
        if name is not None:
            seen |= (
                {"request_id": name.removeprefix(REQUEST_TASK_PREFIX)}
                if name.startswith(REQUEST_TASK_PREFIX)
                else {"task": name}
            )
        return seen


def innermost_frame_of(frame: FrameType) -> str:
    """The innermost frame of our code in a stack, or else the innermost frame of all."""
    at: FrameType | None = frame
    while at is not None:
        path = pathlib.Path(at.f_code.co_filename)
        if path.is_relative_to(SOURCE_ROOT) and ".venv" not in path.parts:
            return f"{path.relative_to(SOURCE_ROOT)}:{at.f_lineno} {at.f_code.co_qualname}"
        at = at.f_back
    return f"{frame.f_code.co_filename}:{frame.f_lineno} {frame.f_code.co_qualname}"


def name_task(request_id: str) -> None:
    """Name the current task after its request."""
    task = asyncio.current_task()
    if task is not None:
        task.set_name(f"{REQUEST_TASK_PREFIX}{request_id}")


@contextlib.contextmanager
def detect_stalls() -> Iterator[None]:
    """Monitor the running loop during the block.

    Costs ten calls of a few microseconds and four thread wake-ups a second.
    """
    loop, over = asyncio.get_running_loop(), threading.Event()

    def task_name() -> str | None:
        task = asyncio.current_task(loop)
        return None if task is None else task.get_name()

    stalls = StallDetector(task_name)

    def beat() -> None:
        if not over.is_set():
            stalls.beat()
            loop.call_later(BEAT_INTERVAL, beat)

    def look() -> None:
        while not over.wait(STALL_THRESHOLD):
            stalls.check()

    loop.call_later(BEAT_INTERVAL, beat)
    threading.Thread(target=look, name="stalls", daemon=True).start()
    try:
        yield
    finally:
        over.set()

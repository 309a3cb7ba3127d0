"""What holds the event loop is noticed, counted, and told with the request that it belongs to."""

import asyncio
import threading
from typing import Any

import pytest
import structlog
from prometheus_client import REGISTRY

from coffret.http import stalls
from coffret.http.middleware import RequestId
from coffret.http.stalls import BEAT_INTERVAL, REQUEST_TASK_PREFIX, STALL_THRESHOLD, StallDetector, detect_stalls


def count_stalls() -> float:
    return REGISTRY.get_sample_value("coffret_loop_stall_seconds_count") or 0


class Time:
    """A clock that stands still."""

    now = 0.0

    def __call__(self) -> float:
        return self.now


def test_a_late_beat_is_counted_with_who_was_running() -> None:
    time, before = Time(), count_stalls()
    watching = StallDetector(lambda: f"{REQUEST_TASK_PREFIX}abc", time)
    with structlog.testing.capture_logs() as logs:
        time.now += BEAT_INTERVAL + 1
        watching.check()
        watching.check()
        time.now += 1
        watching.beat()
    assert count_stalls() == before + 1
    held, told = logs  # looked at once
    assert held["event"] == "the event loop is blocked"
    assert told["event"] == "the event loop was blocked"
    assert held["request_id"] == told["request_id"] == "abc"
    assert told["seconds"] == 2
    assert "coffret/http/stalls.py" in told["where"]


def test_nobody_is_blamed_for_the_stall_before() -> None:
    time = Time()
    names = iter([f"{REQUEST_TASK_PREFIX}first", "worker"])
    watching = StallDetector(lambda: next(names), time)
    with structlog.testing.capture_logs() as logs:
        for _ in range(2):
            time.now += BEAT_INTERVAL + 2 * STALL_THRESHOLD
            watching.check()
            watching.beat()
        time.now += BEAT_INTERVAL + 2 * STALL_THRESHOLD
        watching.beat()
    blamed = [(line.get("request_id"), line.get("task")) for line in logs if "seconds" in line]
    assert blamed == [("first", None), (None, "worker"), (None, None)]


@pytest.mark.parametrize("late", [0, STALL_THRESHOLD - 0.01])
def test_what_is_short_is_nothing(late: float) -> None:
    time, before = Time(), count_stalls()
    watching = StallDetector(lambda: None, time)
    with structlog.testing.capture_logs() as logs:
        for _ in range(10):
            time.now += BEAT_INTERVAL + late
            watching.check()
            watching.beat()
    assert count_stalls() == before
    assert logs == []


async def test_a_request_that_holds_a_real_loop_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    seen, counted_then = threading.Event(), count_stalls()
    told: list[dict[str, Any]] = []
    done = asyncio.Event()

    class Log:
        def warning(self, event: str, **words: Any) -> None:
            told.append({"event": event, **words})
            seen.set()
            if "seconds" in words:
                done.set()

    monkeypatch.setattr(stalls, "log", Log())

    async def hold(_scope: Any, _receive: Any, _send: Any) -> None:
        seen.wait()  # the loop stands until the thread has noticed

    scope = {"type": "http", "method": "GET", "headers": [(b"x-request-id", b"the-request")]}
    with detect_stalls():
        await asyncio.create_task(RequestId(hold)(scope, None, None))  # type: ignore[arg-type]  # neither is used
        await done.wait()
    assert [line["request_id"] for line in told] == ["the-request", "the-request"]
    assert "test_stalls.py" in told[0]["where"]
    assert "hold" in told[0]["where"]
    assert count_stalls() == counted_then + 1


async def test_watching_ends() -> None:
    with detect_stalls():
        (thread,) = [thread for thread in threading.enumerate() if thread.name == "stalls"]
    await asyncio.to_thread(thread.join)
    assert not thread.is_alive()

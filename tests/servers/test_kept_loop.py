"""A loop that goes on from one test to the next keeps nothing of a test, and hides nothing that a test has left open."""

import asyncio
import gc
import signal
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from tests.servers.kept_loop import KeptLoop


@pytest.fixture
def loop() -> Iterator[KeptLoop]:
    """A loop of this test."""
    loop = KeptLoop(list)
    yield loop
    loop.end()


def run(loop: KeptLoop, work: Any) -> Any:
    """Run something as a test is run."""
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return runner.run(work)


def test_nothing_of_a_test_goes_on(loop: KeptLoop) -> None:
    left: list[asyncio.Task[None]] = []
    timers: list[asyncio.TimerHandle] = []

    async def leave() -> int:
        left.append(asyncio.create_task(asyncio.sleep(60)))
        timers.append(loop.call_later(60, int))
        loop.add_signal_handler(signal.SIGUSR1, int)
        loop.set_exception_handler(lambda *_: None)
        return await asyncio.to_thread(int, "1")

    before = signal.getsignal(signal.SIGUSR1)
    assert run(loop, leave()) == 1
    assert run(loop, leave()) == 1
    assert all(task.cancelled() for task in left)
    assert [timer.cancelled() for timer in timers] == [True, True]
    assert signal.getsignal(signal.SIGUSR1) == before
    assert loop.get_exception_handler() is None


def test_what_was_left_open_warns(loop: KeptLoop) -> None:
    one, other = socket.socketpair()

    async def leave() -> None:
        await loop.create_connection(asyncio.Protocol, sock=one)

    run(loop, leave())
    with other, pytest.warns(ResourceWarning, match="unclosed transport"):
        gc.collect()


async def test_a_test_runs_on_it() -> None:
    assert isinstance(asyncio.get_running_loop(), KeptLoop)

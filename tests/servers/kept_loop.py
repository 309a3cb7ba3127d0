"""One event loop for all tests of a process, so that connections to databases can stay open from one test to the next.

Each test has an `asyncio.Runner` of its own, which cancels what the test has left running and closes the loop; to close
this one is to forget everything that belonged to the test.
"""

import asyncio
from collections.abc import Callable, Iterable
from typing import Any


class KeptLoop(asyncio.SelectorEventLoop):
    """A loop that works again after it was closed. `kept_sockets` names the sockets that stay with it."""

    def __init__(self, kept_sockets: Callable[[], Iterable[int]]) -> None:
        self._kept_sockets = kept_sockets
        super().__init__()

    def close(self) -> None:
        """Forget callbacks, sockets and settings of the test."""
        if self.is_closed():
            return
        self._settle()
        self._forget_sockets()
        for timer in self._scheduled:  # type: ignore[attr-defined]
            timer.cancel()
        self._scheduled.clear()  # type: ignore[attr-defined]
        self._ready.clear()  # type: ignore[attr-defined]
        for number in list(self._signal_handlers):  # type: ignore[attr-defined]
            self.remove_signal_handler(number)
        self.set_exception_handler(None)
        self.set_task_factory(None)
        self.set_debug(False)

    def end(self) -> None:
        """Close it for good."""
        self._settle()
        super().close()

    async def shutdown_asyncgens(self) -> None:
        """Close the generators of the test; the next test may have others."""
        await super().shutdown_asyncgens()
        self._asyncgens_shutdown_called = False

    async def shutdown_default_executor(self, *arguments: Any) -> None:
        """Wait for the threads of the test; the next test may have others."""
        await super().shutdown_default_executor(*arguments)
        self._default_executor = None
        self._executor_shutdown_called = False

    def _settle(self) -> None:
        """Let closed transports tell their protocols, a moment later, and theirs."""
        for _ in range(3):
            self.run_until_complete(asyncio.sleep(0))

    def _forget_sockets(self) -> None:
        """Let go of what the test has not closed, which then warns about itself as it does when its loop ends."""
        kept = {self._ssock.fileno(), *self._kept_sockets()}  # type: ignore[attr-defined]
        selector = self._selector  # type: ignore[attr-defined]
        for number in [number for number in selector.get_map() if number not in kept]:
            selector.unregister(number)

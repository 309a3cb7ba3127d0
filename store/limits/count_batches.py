"""Counts that many requests add to at the same time, in few round trips to the store."""

import asyncio
from collections.abc import Sequence

import structlog

from store.kv import Increment, WindowCount
from store.limits.counters import SharedCounters

log = structlog.get_logger(__name__)
BATCH_SIZE = 100
"""Additions that are sent together at most, so that the store is not occupied for long."""
_Addition = tuple[Sequence[Increment], "asyncio.Future[Sequence[WindowCount]] | None"]
"""Increments, and who waits for their counts."""


class CountBatches:
    """Adds to counts whose keys all share one hash tag.

    While the store answers, further additions wait, and are then sent together. They are made in the order in which
    they were requested, so each gets the counts that it would have got alone.
    """

    def __init__(self, counts: SharedCounters) -> None:
        self._counts = counts
        self._waiting: list[_Addition] = []
        self._sender: asyncio.Task[None] | None = None

    async def add(self, increments: Sequence[Increment]) -> Sequence[WindowCount]:
        """Add to counts. They are changed even if the caller is cancelled meanwhile."""
        if not increments:
            return ()
        waiter: asyncio.Future[Sequence[WindowCount]] = asyncio.get_running_loop().create_future()
        self._send((increments, waiter))
        return await waiter

    def add_later(self, increments: Sequence[Increment]) -> None:
        """Add to counts without waiting for it, before anything that this process adds afterwards."""
        if increments:
            self._send((increments, None))

    async def aclose(self) -> None:
        """Wait until everything is sent."""
        if self._sender is not None:
            await self._sender

    def _send(self, addition: _Addition) -> None:
        self._waiting.append(addition)
        if self._sender is None:
            self._sender = asyncio.create_task(self._send_waiting(), name="counts")

    async def _send_waiting(self) -> None:
        try:
            while self._waiting:
                batch, self._waiting = self._waiting[:BATCH_SIZE], self._waiting[BATCH_SIZE:]
                await self._send_batch(batch)
        finally:
            self._sender = None

    async def _send_batch(self, batch: Sequence[_Addition]) -> None:
        increments = [increment for requested, _ in batch for increment in requested]
        try:
            counts = await self._counts.run(lambda kv: kv.increment_all(*increments))
        except Exception as error:
            log.exception("counts are not added")
            for _, waiter in batch:
                if waiter is not None and not waiter.done():
                    waiter.set_exception(error)
            return
        start = 0
        for requested, waiter in batch:
            end = start + len(requested)
            if waiter is not None and not waiter.done():  # it is done if its request was cancelled
                waiter.set_result(counts[start:end])
            start = end

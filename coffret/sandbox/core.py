"""The sandbox itself: its settings, its state, and the notifications that leave it."""

import asyncio
import datetime as dt
import logging
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import httpx

from coffret.sandbox import checkout, deliveries, documents, identity, recipients, sca
from coffret.sandbox.database import Database, Session
from coffret.sandbox.settings import SandboxSettings

P = ParamSpec("P")
T = TypeVar("T")

SETTLED = (
    checkout.settle_due,
    sca.settle_due,
    identity.settle_due,
    documents.settle_due,
    recipients.settle_due,
)
"""What falls due by itself."""

logger = logging.getLogger(__name__)


class Sandbox:
    """Everything that the pages, the wire and the control plane share."""

    def __init__(self, settings: SandboxSettings) -> None:
        self.settings = settings
        self._database = Database(settings)
        self._client: httpx.AsyncClient | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._sending = asyncio.Lock()

    async def run(self, work: Callable[Concatenate[Session, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run work in a transaction of its own, after whatever has fallen due; then send the notifications it made."""

        def settled(session: Session) -> T:
            for settle_due in SETTLED:
                settle_due(session)
            return work(session, *args, **kwargs)

        result, session = await self._database.run(settled)
        if session.announces == "first":
            await self._send_due()
        elif session.announces == "soon":
            self._send_soon()
        return result

    async def tick(self) -> None:
        """Let time pass: end what has run out of time, send what is due."""
        await self.run(lambda _session: None)
        async with self._sending:
            await self._send_due()

    async def advance(self, by: dt.timedelta) -> None:
        """Move the clock, of this process at once and of those that share the file at their next call."""
        self.settings.clock.advance(by)
        await self.tick()

    async def close(self) -> None:
        """Let running notifications end and close the file."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()
        await self._database.close()

    def _send_soon(self) -> None:
        task = asyncio.create_task(self._send_in_turn())
        self._tasks.add(task)
        task.add_done_callback(self._sent)

    def _sent(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            logger.error("Sending the sandbox's notifications failed", exc_info=error)

    async def _send_in_turn(self) -> None:
        async with self._sending:
            await self._send_due()

    async def _send_due(self) -> None:
        while claimed := (await self._database.run(deliveries.claim))[0]:
            for delivery in claimed:
                outcome = await self._fetch(delivery.url)
                await self._database.run(deliveries.record, delivery, outcome)

    async def _fetch(self, url: str) -> str:
        """The status that the hook's address answers, or what went wrong."""
        try:
            async with asyncio.timeout(self.settings.hook_timeout):
                return str(await (self.settings.deliver or self._get)(url))
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError) as error:
            return type(error).__name__

    async def _get(self, url: str) -> int:
        if self._client is None:
            self._client = httpx.AsyncClient(timeout=self.settings.hook_timeout, trust_env=False)
        return (await self._client.get(url)).status_code

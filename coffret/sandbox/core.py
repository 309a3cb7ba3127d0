"""The sandbox: settings, state and outgoing notifications."""

import asyncio
import datetime as dt
import logging
from collections.abc import Callable
from typing import Concatenate, ParamSpec, TypeVar

import httpx

from coffret.sandbox import deliveries
from coffret.sandbox.database import SandboxDatabase, SandboxSession
from coffret.sandbox.disputes import disputes
from coffret.sandbox.exchange import quotes
from coffret.sandbox.holds import holds
from coffret.sandbox.kyc import beneficial_owners, documents, identity, owners
from coffret.sandbox.payments import checkout
from coffret.sandbox.payouts import payouts, recipients, returns
from coffret.sandbox.reporting import reports
from coffret.sandbox.settings import SandboxSettings
from coffret.sandbox.users import renewal, sca

P = ParamSpec("P")
T = TypeVar("T")

SETTLED = (
    checkout.settle_due,
    sca.settle_due,
    identity.settle_due,
    owners.settle_due,
    documents.settle_due,
    beneficial_owners.settle_due,
    renewal.settle_due,
    recipients.settle_due,
    disputes.settle_due,
    payouts.settle_due,
    returns.settle_due,
    holds.settle_due,
    quotes.settle_due,
    reports.settle_due,
)
"""Functions that end what is due."""

logger = logging.getLogger(__name__)


class Sandbox:
    """The state and services that the pages, the wire and the control plane share."""

    def __init__(self, settings: SandboxSettings) -> None:
        self.settings = settings
        self._database = SandboxDatabase(settings)
        self._client: httpx.AsyncClient | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._sending = asyncio.Lock()

    async def run(self, work: Callable[Concatenate[SandboxSession, P], T], /, *args: P.args, **kwargs: P.kwargs) -> T:
        """Run `work` in its own transaction, after ending what is due. Then send the notifications it caused."""

        def settle_then_work(session: SandboxSession) -> T:
            for settle_due in SETTLED:
                settle_due(session)
            return work(session, *args, **kwargs)

        result, session = await self._database.run(settle_then_work)
        if session.announces == "first":
            await self._send_due()
        elif session.announces == "soon":
            self._send_soon()
        return result

    async def tick(self) -> None:
        """End what is due and send due notifications."""
        await self.run(lambda _session: None)
        async with self._sending:
            await self._send_due()

    async def advance(self, by: dt.timedelta) -> None:
        """Advance the clock. Other processes that share the file follow at their next call."""
        self.settings.clock.advance(by)
        await self.tick()

    async def close(self) -> None:
        """Wait for running deliveries and close the file."""
        while self._tasks:
            await asyncio.gather(*self._tasks, return_exceptions=True)
        if self._client is not None:
            await self._client.aclose()
        await self._database.close()

    def _send_soon(self) -> None:
        task = asyncio.create_task(self._send_in_turn())
        self._tasks.add(task)
        task.add_done_callback(self._delivery_done)

    def _delivery_done(self, task: asyncio.Task[None]) -> None:
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
        """Call the hook's URL. Returns the status code, or the name of the exception."""
        try:
            async with asyncio.timeout(self.settings.hook_timeout):
                return str(await (self.settings.deliver or self._get)(url))
        except (httpx.HTTPError, httpx.InvalidURL, TimeoutError, OSError) as error:
            return type(error).__name__

    async def _get(self, url: str) -> int:
        if self._client is None:
            self._client = httpx.AsyncClient(timeout=self.settings.hook_timeout, trust_env=False)
        return (await self._client.get(url)).status_code

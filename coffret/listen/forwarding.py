"""Sends events on to a receiver of the developer's own, as webhooks are sent."""

import asyncio
import datetime as dt
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import httpx

from coffret.commands.command_error import CommandError
from coffret.listen.feed import Happened
from store.core.clock import clock
from store.webhook.signing import headers_of

PATIENCE = dt.timedelta(seconds=30)
"""A receiver may stand in a debugger; a real one has ten seconds."""
PAUSES = tuple(dt.timedelta(milliseconds=milliseconds) for milliseconds in (500, 1000, 2000, 4000))
"""Between tries while nobody listens at the address: it is being started again."""


@dataclass(frozen=True)
class Receipt:
    """What a receiver answered."""

    status: int | None
    """None: it did not."""
    took: dt.timedelta
    error: str = ""

    @property
    def taken(self) -> bool:
        """Whether a real webhook would count as delivered."""
        return self.status is not None and httpx.codes.is_success(self.status)


class Forwarder:
    """Signs events and posts them to one address. To be used in `async with`."""

    def __init__(self, url: str, secret: str, *, pauses: Sequence[dt.timedelta] = PAUSES) -> None:
        self.url = checked(url)
        self._secret = secret
        self._pauses = pauses
        self._client = httpx.AsyncClient(
            timeout=PATIENCE.total_seconds(),
            follow_redirects=False,
            trust_env=False,
            limits=httpx.Limits(max_keepalive_connections=0),  # a receiver that is started again would lose an event
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def send(self, event: Happened) -> Receipt:
        """Post an event, a few times while nobody listens there."""
        for pause in self._pauses:
            try:
                return await self._post(event)
            except httpx.ConnectError:
                await asyncio.sleep(pause.total_seconds())
        try:
            return await self._post(event)
        except httpx.ConnectError:
            return Receipt(None, dt.timedelta(), "nobody listens there")

    async def _post(self, event: Happened) -> Receipt:
        body = event.body
        headers = headers_of(message_id(event), body, clock.now(), [self._secret])
        began = time.monotonic()
        status, error = None, ""
        try:
            status = (await self._client.post(self.url, content=body, headers=headers)).status_code
        except httpx.ConnectError:
            raise
        except httpx.TimeoutException:
            error = f"no answer within {PATIENCE.seconds} seconds"
        except httpx.TransportError as problem:
            error = str(problem) or type(problem).__name__
        return Receipt(status, dt.timedelta(seconds=time.monotonic() - began), error)


def message_id(event: Happened) -> str:
    """The `webhook-id`: the same whenever this event is forwarded, as a real message keeps its own."""
    return f"msg_{hashlib.sha256(f'listen.{event.key}'.encode()).hexdigest()[:32]}"


def checked(url: str) -> str:
    """An address to forward to; `localhost:3000/hooks` is one too."""
    written = url if "://" in url else f"http://{url}"
    try:
        read = httpx.URL(written)
    except (httpx.InvalidURL, UnicodeError):
        read = None
    if read is None or read.scheme not in {"http", "https"} or not read.raw_host:
        raise CommandError(f"{url} is no address to forward to: use one such as http://localhost:3000/webhooks.")
    return written

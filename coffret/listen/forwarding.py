"""Forwards events to the developer's receiver, in the format of webhooks."""

import asyncio
import datetime as dt
import hashlib
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import httpx

from coffret.command_error import CommandError
from coffret.listen.feed import ReceivedEvent
from store.core.clock import clock
from store.webhook.signing import signed_headers

TIMEOUT = dt.timedelta(seconds=30)
"""Longer than the ten seconds of real webhooks, because the receiver may be paused in a debugger."""
RETRY_PAUSES = tuple(dt.timedelta(milliseconds=milliseconds) for milliseconds in (500, 1000, 2000, 4000))
"""Pauses between attempts while the connection is refused: the receiver is being restarted."""


@dataclass(frozen=True)
class ForwardResult:
    """The receiver's answer to one event."""

    status: int | None
    """None if there was no answer."""
    duration: dt.timedelta
    error: str = ""

    @property
    def is_delivered(self) -> bool:
        """True for a 2xx answer, as for a real webhook."""
        return self.status is not None and httpx.codes.is_success(self.status)


class Forwarder:
    """Signs events and posts them to one URL. Use it in `async with`."""

    def __init__(self, url: str, secret: str, *, pauses: Sequence[dt.timedelta] = RETRY_PAUSES) -> None:
        self.url = checked_url(url)
        self._secret = secret
        self._pauses = pauses
        self._client = httpx.AsyncClient(
            timeout=TIMEOUT.total_seconds(),
            follow_redirects=False,
            trust_env=False,
            limits=httpx.Limits(max_keepalive_connections=0),  # a restarted receiver would lose an event
        )

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._client.aclose()

    async def send(self, event: ReceivedEvent) -> ForwardResult:
        """Post an event. Refused connections are retried after each of the pauses."""
        for pause in self._pauses:
            try:
                return await self._post(event)
            except httpx.ConnectError:
                await asyncio.sleep(pause.total_seconds())
        try:
            return await self._post(event)
        except httpx.ConnectError:
            return ForwardResult(None, dt.timedelta(), "nobody listens there")

    async def _post(self, event: ReceivedEvent) -> ForwardResult:
        body = event.body
        headers = signed_headers(message_id(event), body, clock.now(), [self._secret])
        began = time.monotonic()
        status, error = None, ""
        try:
            status = (await self._client.post(self.url, content=body, headers=headers)).status_code
        except httpx.ConnectError:
            raise
        except httpx.TimeoutException:
            error = f"no answer within {TIMEOUT.seconds} seconds"
        except httpx.TransportError as problem:
            error = str(problem) or type(problem).__name__
        return ForwardResult(status, dt.timedelta(seconds=time.monotonic() - began), error)


def message_id(event: ReceivedEvent) -> str:
    """The `webhook-id`: the same each time the event is forwarded, as with real webhooks."""
    return f"msg_{hashlib.sha256(f'listen.{event.key}'.encode()).hexdigest()[:32]}"


def checked_url(url: str) -> str:
    """The URL to forward to. Adds `http://` if the scheme is missing. Raises CommandError for an invalid URL."""
    written = url if "://" in url else f"http://{url}"
    try:
        read = httpx.URL(written)
    except (httpx.InvalidURL, UnicodeError):
        read = None
    if read is None or read.scheme not in {"http", "https"} or not read.raw_host:
        raise CommandError(f"{url} is no address to forward to: use one such as http://localhost:3000/webhooks.")
    return written

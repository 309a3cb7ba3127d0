"""Sends messages to addresses that others have chosen, and to none that they should not have chosen."""

import asyncio
import contextlib
import datetime as dt
import socket
import ssl
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeAlias

import httpcore
import httpx

from schema.webhook.webhook import AttemptOutcome
from store.core.settings import Settings
from store.webhook.addresses import BadUrl, ForbiddenAddress, Network, Target, check, target_of

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""The addresses of a name; OSError when it has none."""

WHOLE_TRY = dt.timedelta(seconds=10)
"""From the look-up of the name to the last byte of the answer."""
CONNECTING = dt.timedelta(seconds=5)
LONGEST_ANSWER = 64 * 1024
KEPT_ANSWER = 1024
ADDRESSES_TRIED = 3
LOOKING_UP = 16
"""How many names are looked up at once."""
SENDING = 20
"""How many messages a process sends at once: half of what its worker does, so that slow receivers keep nothing else waiting."""
OK, REDIRECTS, ERRORS, GONE = 200, 300, 400, 410


@dataclass(frozen=True)
class Answer:
    """What came of sending a message."""

    outcome: AttemptOutcome
    duration: dt.timedelta
    status: int | None = None
    error: str = ""
    beginning: str = ""
    """The first characters of the body."""
    retry_after: str | None = None
    """What the receiver asks for, in its own words."""


class Pinned(httpcore.AsyncNetworkBackend):
    """Connects to the very address that was checked: between the check and the call nobody is asked for the name again."""

    def __init__(self, resolve: Resolve, allowed: Sequence[Network]) -> None:
        self._resolve = resolve
        self._allowed = allowed
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's word for it
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to one of the name's addresses; ForbiddenAddress when one of them is private or reserved."""
        async with asyncio.timeout(timeout):
            found = check(await self._resolve(host, port), self._allowed)
            *others, last = map(str, found[:ADDRESSES_TRIED])
            share = None if timeout is None else timeout / (len(others) + 1)
            for address in others:
                with contextlib.suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                    return await self._sockets.connect_tcp(address, port, share, local_address, socket_options)
            return await self._sockets.connect_tcp(last, port, timeout, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        """Wait, as httpcore does between its own tries, of which there are none."""
        await self._sockets.sleep(seconds)


class _Heard:
    """What is known of an answer, however much of it arrives."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.retry_after: str | None = None
        self.body = b""

    async def listen(self, response: httpcore.Response) -> None:
        """Take the status, then as much of the body as is read."""
        self.status = response.status
        named = {name.lower(): value for name, value in response.headers}
        self.retry_after = named[b"retry-after"].decode("latin-1") if b"retry-after" in named else None
        read = 0
        async for chunk in response.aiter_stream():
            read += len(chunk)
            self.body = (self.body + chunk)[:KEPT_ANSWER]
            if read > LONGEST_ANSWER:
                return

    @property
    def beginning(self) -> str:
        """The beginning of the body, as a database takes it."""
        return self.body.decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")


class Courier:
    """Sends messages. Nothing of the environment, no redirect and no cookie changes where they go."""

    def __init__(self, settings: Settings, resolve: Resolve | None = None) -> None:
        self._plain = settings.development
        self._allowed = settings.webhook_networks
        self._resolve = resolve or self._look_up
        self._names = ThreadPoolExecutor(LOOKING_UP, thread_name_prefix="webhook-names")
        self._sending = 0

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return httpx.create_ssl_context(trust_env=False)

    async def _look_up(self, host: str, port: int) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(
            self._names,
            lambda: socket.getaddrinfo(host.encode(), port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP),
        )
        return list(dict.fromkeys(str(place[0]) for *_, place in found))

    def target(self, url: str) -> Target:
        """Where a URL leads; BadUrl where nothing is sent to."""
        return target_of(url, plain=self._plain)

    @property
    def is_full(self) -> bool:
        """Whether as many messages are being sent as may be."""
        return self._sending >= SENDING

    async def check(self, target: Target) -> None:
        """Refuse a name that is unknown (OSError), slow to be found (TimeoutError) or leads inside (ForbiddenAddress)."""
        async with asyncio.timeout(CONNECTING.total_seconds()):
            check(await self._resolve(target.host, target.port), self._allowed)

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> Answer:
        """Send a message once. Whatever happens is an answer; a status that was heard counts, however its body ends."""
        heard, error, began = _Heard(), None, time.monotonic()
        self._sending += 1
        try:
            async with asyncio.timeout(WHOLE_TRY.total_seconds()):
                await self._post(target_of(url, plain=self._plain), headers, body, heard)
        except (OSError, BadUrl, httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException) as raised:
            error = raised
        finally:
            self._sending -= 1
        duration = dt.timedelta(seconds=time.monotonic() - began)
        if heard.status is not None:
            outcome = _outcome(heard.status)
            told = "" if outcome is AttemptOutcome.DELIVERED else f"It answered {heard.status}."
            return Answer(outcome, duration, heard.status, told, heard.beginning, heard.retry_after)
        assert error is not None  # a request that ends well has a status
        outcome, told = _failure(error)
        return Answer(outcome, duration, error=told)

    async def _post(self, target: Target, headers: Mapping[str, str], body: bytes, heard: _Heard) -> None:
        url = httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
        limits: Any = {"timeout": {"connect": CONNECTING.total_seconds()}}
        given = [("host", _host_header(target)), *headers.items()]
        async with (
            httpcore.AsyncConnectionPool(
                ssl_context=self._tls if target.scheme == "https" else None,
                network_backend=Pinned(self._resolve, self._allowed),
                max_connections=1,
            ) as connections,
            connections.stream("POST", url, headers=given, content=body, extensions=limits) as response,
        ):
            await heard.listen(response)

    def close(self) -> None:
        """Look up no more names."""
        self._names.shutdown(wait=False, cancel_futures=True)


def _host_header(target: Target) -> str:
    host = f"[{target.host}]" if ":" in target.host else target.host
    return host if target.port == (443 if target.scheme == "https" else 80) else f"{host}:{target.port}"


def _outcome(status: int) -> AttemptOutcome:
    if OK <= status < REDIRECTS:
        return AttemptOutcome.DELIVERED
    if REDIRECTS <= status < ERRORS:
        return AttemptOutcome.REDIRECTED
    return AttemptOutcome.GONE if status == GONE else AttemptOutcome.REFUSED


def _failure(error: Exception) -> tuple[AttemptOutcome, str]:
    """What went wrong, in words that tell the owner of an endpoint nothing of our own network."""
    if isinstance(error, ForbiddenAddress | BadUrl):
        return AttemptOutcome.FORBIDDEN, str(error)
    if isinstance(error, TimeoutError | httpcore.TimeoutException):
        return AttemptOutcome.TIMED_OUT, f"There was no answer within {WHOLE_TRY.seconds} seconds."
    if isinstance(error, socket.gaierror):
        return AttemptOutcome.UNREACHABLE, "The name of the host is unknown."
    if isinstance(error.__cause__ or error.__context__, ssl.SSLError):
        return AttemptOutcome.UNREACHABLE, "Its certificate is not to be trusted, or it speaks no TLS that we do."
    if isinstance(error, httpcore.ProtocolError):
        return AttemptOutcome.UNREACHABLE, "Its answer is no HTTP."
    return AttemptOutcome.UNREACHABLE, "No connection could be made, or it broke."

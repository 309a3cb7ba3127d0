"""Sends messages to addresses that users have chosen, and refuses addresses that they must not reach."""

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
from store.webhook.addresses import ForbiddenAddress, InvalidUrl, IpNetwork, Target, check_addresses, parse_target

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""Returns the addresses of a host name; OSError if it has none."""

TOTAL_TIMEOUT = dt.timedelta(seconds=10)
"""From the name resolution to the last byte of the response."""
CONNECT_TIMEOUT = dt.timedelta(seconds=5)
MAX_RESPONSE_BYTES = 64 * 1024
STORED_RESPONSE_BYTES = 1024
MAX_ADDRESSES = 3
MAX_LOOKUPS = 16
"""Maximum number of simultaneous name resolutions."""
MAX_CONCURRENT = 20
"""Messages that a process sends at once: half of its worker's jobs, so that slow receivers do not block other jobs."""
OK, REDIRECTS, ERRORS, GONE = 200, 300, 400, 410


@dataclass(frozen=True)
class SendResult:
    """The result of sending a message."""

    outcome: AttemptOutcome
    duration: dt.timedelta
    status: int | None = None
    error: str = ""
    body_excerpt: str = ""
    """The first characters of the body."""
    retry_after: str | None = None
    """The receiver's `Retry-After` header."""


class PinnedBackend(httpcore.AsyncNetworkBackend):
    """Connects to the address that was checked: the name is not resolved again between the check and the connection."""

    def __init__(self, resolve: Resolve, allowed: Sequence[IpNetwork]) -> None:
        self._resolve = resolve
        self._allowed = allowed
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,  # noqa: ASYNC109 - httpcore's name for it
        local_address: str | None = None,
        socket_options: Iterable[httpcore.SOCKET_OPTION] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Connect to one of the name's addresses. ForbiddenAddress if one of them is private or reserved."""
        async with asyncio.timeout(timeout):
            addresses = check_addresses(await self._resolve(host, port), self._allowed)
            *others, last = map(str, addresses[:MAX_ADDRESSES])
            share = None if timeout is None else timeout / (len(others) + 1)
            for address in others:
                with contextlib.suppress(httpcore.ConnectError, httpcore.ConnectTimeout):
                    return await self._sockets.connect_tcp(address, port, share, local_address, socket_options)
            return await self._sockets.connect_tcp(last, port, timeout, local_address, socket_options)

    async def sleep(self, seconds: float) -> None:
        """Required by httpcore for pauses between its own retries, which are not used."""
        await self._sockets.sleep(seconds)


class _PartialResponse:
    """The part of a response that has arrived."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.retry_after: str | None = None
        self.body = b""

    async def read(self, response: httpcore.Response) -> None:
        """Read the status, then the body up to its limit."""
        self.status = response.status
        named = {name.lower(): value for name, value in response.headers}
        self.retry_after = named[b"retry-after"].decode("latin-1") if b"retry-after" in named else None
        read = 0
        async for chunk in response.aiter_stream():
            read += len(chunk)
            self.body = (self.body + chunk)[:STORED_RESPONSE_BYTES]
            if read > MAX_RESPONSE_BYTES:
                return

    @property
    def body_excerpt(self) -> str:
        """The beginning of the body, without characters that the database refuses."""
        return self.body.decode("utf-8", "replace").replace("\x00", "\N{REPLACEMENT CHARACTER}")


class WebhookSender:
    """Sends messages. No environment variable, redirect or cookie changes their destination."""

    def __init__(self, settings: Settings, resolve: Resolve | None = None) -> None:
        self._plain = settings.development
        self._allowed = settings.webhook_networks
        self._resolve = resolve or self._look_up
        self._names = ThreadPoolExecutor(MAX_LOOKUPS, thread_name_prefix="webhook-names")
        self._active_count = 0

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return httpx.create_ssl_context(trust_env=False)

    async def _look_up(self, host: str, port: int) -> Sequence[str]:
        loop = asyncio.get_running_loop()
        addresses = await loop.run_in_executor(
            self._names,
            lambda: socket.getaddrinfo(host.encode(), port, type=socket.SOCK_STREAM, proto=socket.IPPROTO_TCP),
        )
        return list(dict.fromkeys(str(place[0]) for *_, place in addresses))

    def target(self, url: str) -> Target:
        """Parse the URL of an endpoint. InvalidUrl if webhooks cannot be sent there."""
        return parse_target(url, allow_http=self._plain)

    @property
    def is_full(self) -> bool:
        """True if the maximum number of messages is being sent."""
        return self._active_count >= MAX_CONCURRENT

    async def check(self, target: Target) -> None:
        """Check a target's host name.

        OSError if the name is unknown, TimeoutError if its resolution is slow, ForbiddenAddress if it resolves to an
        internal address.
        """
        async with asyncio.timeout(CONNECT_TIMEOUT.total_seconds()):
            check_addresses(await self._resolve(target.host, target.port), self._allowed)

    async def send(self, url: str, headers: Mapping[str, str], body: bytes) -> SendResult:
        """Send a message once. Every failure is a result. A received status counts, even if the body breaks off."""
        heard, error, began = _PartialResponse(), None, time.monotonic()
        self._active_count += 1
        try:
            async with asyncio.timeout(TOTAL_TIMEOUT.total_seconds()):
                await self._post(parse_target(url, allow_http=self._plain), headers, body, heard)
        except (
            OSError,
            InvalidUrl,
            httpcore.NetworkError,
            httpcore.ProtocolError,
            httpcore.TimeoutException,
        ) as raised:
            error = raised
        finally:
            self._active_count -= 1
        duration = dt.timedelta(seconds=time.monotonic() - began)
        if heard.status is not None:
            outcome = _outcome_of_status(heard.status)
            error_text = "" if outcome is AttemptOutcome.DELIVERED else f"It answered {heard.status}."
            return SendResult(outcome, duration, heard.status, error_text, heard.body_excerpt, heard.retry_after)
        assert error is not None  # a successful request has a status
        outcome, error_text = _outcome_of_error(error)
        return SendResult(outcome, duration, error=error_text)

    async def _post(self, target: Target, headers: Mapping[str, str], body: bytes, heard: _PartialResponse) -> None:
        url = httpcore.URL(scheme=target.scheme, host=target.host, port=target.port, target=target.path)
        limits: Any = {"timeout": {"connect": CONNECT_TIMEOUT.total_seconds()}}
        header_list = [("host", _host_header(target)), *headers.items()]
        async with (
            httpcore.AsyncConnectionPool(
                ssl_context=self._tls if target.scheme == "https" else None,
                network_backend=PinnedBackend(self._resolve, self._allowed),
                max_connections=1,
            ) as connections,
            connections.stream("POST", url, headers=header_list, content=body, extensions=limits) as response,
        ):
            await heard.read(response)

    def close(self) -> None:
        """Stop resolving names."""
        self._names.shutdown(wait=False, cancel_futures=True)


def _host_header(target: Target) -> str:
    host = f"[{target.host}]" if ":" in target.host else target.host
    return host if target.port == (443 if target.scheme == "https" else 80) else f"{host}:{target.port}"


def _outcome_of_status(status: int) -> AttemptOutcome:
    if OK <= status < REDIRECTS:
        return AttemptOutcome.DELIVERED
    if REDIRECTS <= status < ERRORS:
        return AttemptOutcome.REDIRECTED
    return AttemptOutcome.GONE if status == GONE else AttemptOutcome.REFUSED


def _outcome_of_error(error: Exception) -> tuple[AttemptOutcome, str]:
    """The outcome and a description of an error, which reveals nothing about our own network."""
    if isinstance(error, ForbiddenAddress | InvalidUrl):
        return AttemptOutcome.FORBIDDEN, str(error)
    if isinstance(error, TimeoutError | httpcore.TimeoutException):
        return AttemptOutcome.TIMED_OUT, f"There was no answer within {TOTAL_TIMEOUT.seconds} seconds."
    if isinstance(error, socket.gaierror):
        return AttemptOutcome.UNREACHABLE, "The name of the host is unknown."
    if isinstance(error.__cause__ or error.__context__, ssl.SSLError):
        return (
            AttemptOutcome.UNREACHABLE,
            "Its certificate is not trusted, or it supports no TLS version that we support.",
        )
    if isinstance(error, httpcore.ProtocolError):
        return AttemptOutcome.UNREACHABLE, "Its response is not HTTP."
    return AttemptOutcome.UNREACHABLE, "The connection failed or broke."

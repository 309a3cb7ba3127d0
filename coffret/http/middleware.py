"""Middleware for every request: request ids and trusted proxies."""

import functools
import ipaddress
import os
import re
import time
from collections.abc import Iterable

import structlog
from prometheus_client import Histogram
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from coffret.http.stalls import name_task

VALID_REQUEST_ID = re.compile(rb"[A-Za-z0-9._:+/=-]{1,128}")
REQUEST_SECONDS = Histogram("coffret_http_request_seconds", "Time to answer a request.", ["method", "status"])


@functools.lru_cache(maxsize=256)
def request_timer(method: str, status: int) -> Histogram:
    """The histogram of a method and status. Cached, because Prometheus' lookup takes as long as its observation."""
    return REQUEST_SECONDS.labels(method, status)


def header_of(scope: Scope, name: bytes) -> bytes | None:
    """The first value of a request's header; None if it is absent."""
    for sent, value in scope["headers"]:
        if sent == name:
            found: bytes = value
            return found
    return None


class RequestId:
    """Gives each request an id and adds it to the answer and to every log line. A valid `X-Request-Id` of the caller is
    used.

    Also adds the headers in the state's `answer_headers` to the answer.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = header_of(scope, b"x-request-id") or b""
        request_id = given.decode() if VALID_REQUEST_ID.fullmatch(given) else os.urandom(16).hex()
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        structlog.contextvars.bind_contextvars(request_id=request_id)
        name_task(request_id)
        begun, status = time.perf_counter(), 500

        async def send_with_id(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                more = state.get("answer_headers", ())
                message["headers"] = [*message.get("headers", ()), *more, (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self.app(scope, receive, send_with_id)
        finally:
            request_timer(scope["method"], status).observe(time.perf_counter() - begun)


def ip_address_of(hop: str) -> str:
    """The IP address of a hop. Some proxies append the client's port, which would make each connection a new client."""
    hop = hop.strip()
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


class TrustedProxies:
    """Applies `X-Forwarded-For`, `-Proto` and `-Host` from the proxies in the settings only."""

    def __init__(self, app: ASGIApp, proxies: Iterable[str]) -> None:
        self.app = app
        self.networks = [ipaddress.ip_network(entry, strict=False) for entry in proxies]

    def trusts(self, address: str) -> bool:
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        if parsed.version == 6 and parsed.ipv4_mapped is not None:  # dual-stack sockets report IPv4 clients so
            parsed = parsed.ipv4_mapped
        return any(parsed in network for network in self.networks)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Replace client, scheme and host by those that the proxy forwards."""
        client = scope.get("client")
        if scope["type"] == "http" and client and self.trusts(client[0]):
            headers = {k: v.decode("latin-1") for k, v in scope["headers"] if k.startswith(b"x-forwarded-")}
            hops = [ip_address_of(hop) for hop in headers.get(b"x-forwarded-for", "").split(",") if hop.strip()]
            origin = next((hop for hop in reversed(hops) if not self.trusts(hop)), hops[0] if hops else client[0])
            scope = {**scope, "client": (origin, 0)}
            if headers.get(b"x-forwarded-proto") in {"http", "https"}:
                scope["scheme"] = headers[b"x-forwarded-proto"]
            if host := headers.get(b"x-forwarded-host"):
                others = [(k, v) for k, v in scope["headers"] if k != b"host"]
                scope["headers"] = [(b"host", host.encode("latin-1")), *others]
        await self.app(scope, receive, send)

"""What stands before every request: who is believed, and an id for each request."""

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

SANE_ID = re.compile(rb"[A-Za-z0-9._:+/=-]{1,128}")
SECONDS = Histogram("coffret_http_request_seconds", "Time to answer a request.", ["method", "status"])


@functools.lru_cache(maxsize=256)
def timer(method: str, status: int) -> Histogram:
    """What requests of one method and outcome are counted in; Prometheus takes as long to find it as to count."""
    return SECONDS.labels(method, status)


def header(scope: Scope, name: bytes) -> bytes | None:
    """What a header of a request says, the first of its name; None where there is none."""
    for sent, value in scope["headers"]:
        if sent == name:
            found: bytes = value
            return found
    return None


class RequestId:
    """Gives each request an id (the caller's own when it is sane), tells it in the answer and in every log line.

    What stands in the state's `answer_headers` when an answer begins goes into it.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        given = header(scope, b"x-request-id") or b""
        request_id = given.decode() if SANE_ID.fullmatch(given) else os.urandom(16).hex()
        state = scope.setdefault("state", {})
        state["request_id"] = request_id
        structlog.contextvars.bind_contextvars(request_id=request_id)
        name_task(request_id)
        begun, status = time.perf_counter(), 500

        async def tell(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                more = state.get("answer_headers", ())
                message["headers"] = [*message.get("headers", ()), *more, (b"x-request-id", request_id.encode())]
            await send(message)

        try:
            await self.app(scope, receive, tell)
        finally:
            timer(scope["method"], status).observe(time.perf_counter() - begun)


def address_of(hop: str) -> str:
    """The address of a hop: some proxies write the client's port behind it, which would make a new client of each connection."""
    hop = hop.strip()
    if hop.startswith("["):
        return hop[1:].partition("]")[0]
    return hop.partition(":")[0] if hop.count(":") == 1 else hop


class TrustedProxies:
    """Believes `X-Forwarded-For`, `-Proto` and `-Host` from the proxies named in the settings, and from nobody else."""

    def __init__(self, app: ASGIApp, proxies: Iterable[str]) -> None:
        self.app = app
        self.networks = [ipaddress.ip_network(entry, strict=False) for entry in proxies]

    def trusts(self, address: str) -> bool:
        """Whether an address is a proxy of ours."""
        try:
            parsed = ipaddress.ip_address(address)
        except ValueError:
            return False
        if parsed.version == 6 and parsed.ipv4_mapped is not None:  # as a socket for both kinds has them
            parsed = parsed.ipv4_mapped
        return any(parsed in network for network in self.networks)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, as if the proxy were not there."""
        client = scope.get("client")
        if scope["type"] == "http" and client and self.trusts(client[0]):
            headers = {k: v.decode("latin-1") for k, v in scope["headers"] if k.startswith(b"x-forwarded-")}
            hops = [address_of(hop) for hop in headers.get(b"x-forwarded-for", "").split(",") if hop.strip()]
            origin = next((hop for hop in reversed(hops) if not self.trusts(hop)), hops[0] if hops else client[0])
            scope = {**scope, "client": (origin, 0)}
            if headers.get(b"x-forwarded-proto") in {"http", "https"}:
                scope["scheme"] = headers[b"x-forwarded-proto"]
            if host := headers.get(b"x-forwarded-host"):
                others = [(k, v) for k, v in scope["headers"] if k != b"host"]
                scope["headers"] = [(b"host", host.encode("latin-1")), *others]
        await self.app(scope, receive, send)

"""How the provider does: each call that went out is logged, counted, timed and a span of its trace."""

import asyncio
import time
from types import TracebackType
from typing import Self

import httpx
import structlog
from prometheus_client import Counter, Histogram

from store.core import tracing

log = structlog.stdlib.get_logger(__name__)

CALLS = Counter("coffret_provider_calls", "Calls of the payment provider.", ["call", "outcome"])
SECONDS = Histogram(
    "coffret_provider_call_seconds",
    "Time that the payment provider took to answer.",
    ["call"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
WORDS = frozenset(
    [
        "Regulatory",
        "card",
        "documents",
        "enrollment",
        "events",
        "hooks",
        "identity-verifications",
        "kyc",
        "legal",
        "natural",
        "pages",
        "payins",
        "recipients",
        "refunds",
        "responses",
        "sca",
        "sca-status",
        "users",
        "wallets",
        "web",
    ]
)
"""What paths are made of besides ids. A word that is not here is told as an id: their names must not become endless."""

ROUTINE = frozenset({"GET /events", "GET /hooks", "POST /hooks"})
"""Calls that are made by the dozen at each start and each quarter of an hour, and tell nothing where they succeed."""


def named(method: str, path: str) -> str:
    """A call without the ids in its path: `GET /payins/{id}/refunds`."""
    parts = [part if part in WORDS else "{id}" for part in path.strip("/").split("/")]
    return f"{method} /{'/'.join(parts)}"


class WatchedCall:
    """`with WatchedCall(…) as call:` around one request; what became of it is said by `answered` or `lost`.

    The log has the whole path and the key, by which the provider is asked about a call; neither opens anything. It has no
    body. The ids of our request and job stand in each line of the log already.
    """

    def __init__(self, method: str, path: str, key: str | None) -> None:
        self._call = named(method, path)
        self._told: dict[str, object] = {"method": method, "path": path}
        if key:
            self._told["idempotency_key"] = key
        self._outcome = "failed"
        self.sent = True
        """Whether it may have arrived."""

    def __enter__(self) -> Self:
        self._span = tracing.span("provider", **{"coffret.provider_call": self._call})
        self._on_span = self._span.__enter__()
        self._begun = time.perf_counter()
        return self

    def answered(self, status: int, request_id: str | None) -> None:
        """It was answered; a refusal has an id by which the provider finds it."""
        self._told["status"] = status
        if request_id:
            self._told["provider_request_id"] = request_id
        refused = httpx.codes.BAD_REQUEST <= status < httpx.codes.INTERNAL_SERVER_ERROR
        self._outcome = "ok" if httpx.codes.is_success(status) else "refused" if refused else "failed"
        self._on_span.set_attribute("http.response.status_code", status)

    def lost(self, error: httpx.RequestError, *, sent: bool) -> None:
        """It was not answered, or not even sent."""
        self._told["error"] = type(error).__name__
        self.sent = sent
        self._outcome = "interrupted" if sent else "not_sent"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        if isinstance(error, asyncio.CancelledError):
            self._outcome = "given_up"
        seconds = time.perf_counter() - self._begun
        SECONDS.labels(self._call).observe(seconds)
        CALLS.labels(self._call, self._outcome).inc()
        if self._outcome == "ok" and self._call in ROUTINE:
            write = log.debug
        else:
            write = log.info if self._outcome in {"ok", "refused", "given_up"} else log.warning
        write("provider call", provider="mangopay", outcome=self._outcome, ms=round(seconds * 1000, 1), **self._told)
        self._span.__exit__(kind, error, traceback)

"""Instrumentation of provider calls: log, counter, histogram and trace span."""

import asyncio
import time
from types import TracebackType
from typing import Self

import httpx
import structlog
from prometheus_client import Counter, Histogram

from store.core.telemetry import tracing

log = structlog.stdlib.get_logger(__name__)

CALLS = Counter("coffret_provider_calls", "Calls to the payment provider.", ["call", "outcome"])
SECONDS = Histogram(
    "coffret_provider_call_seconds",
    "Response time of the payment provider.",
    ["call"],
    buckets=(0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30),
)
PATH_WORDS = frozenset(
    [
        "Regulatory",
        "bankwire",
        "card",
        "clients",
        "close",
        "dispute-documents",
        "disputes",
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
        "payouts",
        "pscs",
        "recipients",
        "refunds",
        "reporting",
        "reports",
        "repudiations",
        "responses",
        "retry",
        "sca",
        "sca-status",
        "settlements",
        "settlementtransfer",
        "submit",
        "transfers",
        "users",
        "wallets",
        "web",
    ]
)
"""Path segments that are not ids. Any other segment is replaced by `{id}`, to bound the number of metric labels."""

ROUTINE = frozenset({"GET /events", "GET /hooks", "POST /hooks"})
"""Frequent calls, made at each start and every quarter of an hour. Successful ones are logged at debug level."""


def call_name_of(method: str, path: str) -> str:
    """The method and path without ids: `GET /payins/{id}/refunds`."""
    parts = [part if part in PATH_WORDS else "{id}" for part in path.strip("/").split("/")]
    return f"{method} /{'/'.join(parts)}"


class InstrumentedCall:
    """`with InstrumentedCall(…) as call:` around one request; `record_response` or `record_failure` sets its outcome.

    The log line has the full path and the idempotency key, to ask the provider about a call; neither grants access. It
    has no body. The ids of our request and job are already in every log line.
    """

    def __init__(self, method: str, path: str, key: str | None) -> None:
        self._call = call_name_of(method, path)
        self._log_fields: dict[str, object] = {"method": method, "path": path}
        if key:
            self._log_fields["idempotency_key"] = key
        self._outcome = "failed"
        self.may_have_arrived = True
        """True if the request may have reached the provider."""

    def __enter__(self) -> Self:
        self._span = tracing.span("provider", **{"coffret.provider_call": self._call})
        self._active_span = self._span.__enter__()
        self._begun = time.perf_counter()
        return self

    def record_response(self, status: int, request_id: str | None) -> None:
        """Record the response. `request_id` is the provider's id of a refusal."""
        self._log_fields["status"] = status
        if request_id:
            self._log_fields["provider_request_id"] = request_id
        refused = httpx.codes.BAD_REQUEST <= status < httpx.codes.INTERNAL_SERVER_ERROR
        self._outcome = "ok" if httpx.codes.is_success(status) else "refused" if refused else "failed"
        self._active_span.set_attribute("http.response.status_code", status)

    def record_failure(self, error: httpx.RequestError, *, may_have_arrived: bool) -> None:
        """Record that the request got no response, or was not sent."""
        self._log_fields["error"] = type(error).__name__
        self.may_have_arrived = may_have_arrived
        self._outcome = "interrupted" if may_have_arrived else "not_sent"

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
        write(
            "provider call", provider="mangopay", outcome=self._outcome, ms=round(seconds * 1000, 1), **self._log_fields
        )
        self._span.__exit__(kind, error, traceback)

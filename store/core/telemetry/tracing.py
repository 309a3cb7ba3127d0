"""Traces of requests and jobs as spans. Without `start_tracing` there are none, and they cost almost nothing.

Spans carry names, numbers, statuses and SQL without parameters. They never carry values that a client sent, raw request
paths or error messages. Trace ids are not sent to other services.
"""

import contextlib
import importlib.util
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

import structlog

if TYPE_CHECKING:
    from store.core.telemetry.opentelemetry import Telemetry

log = structlog.get_logger(__name__)

ENDPOINT_VARIABLES = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
REMEDY = "Install it: pip install 'coffret[tracing]'"
PACKAGES = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


class Span(Protocol):
    """An operation with a duration."""

    def update_name(self, name: str) -> None:
        """Rename the span."""

    def set_attribute(self, key: str, value: Any) -> None:
        """Set an attribute of the span."""


class _NoOpSpan:
    """The span without tracing."""

    def update_name(self, name: str) -> None:
        pass

    def set_attribute(self, key: str, value: Any) -> None:
        pass


_NO_SPAN: AbstractContextManager[Span] = contextlib.nullcontext(_NoOpSpan())
_telemetry: "Telemetry | None" = None


def current_telemetry() -> "Telemetry | None":
    """The telemetry of this process; None without tracing."""
    return _telemetry


def span(name: str, **attributes: str | int) -> AbstractContextManager[Span]:
    """A span around a block, below the current span. An error that leaves the block is recorded by its type."""
    return _NO_SPAN if _telemetry is None else _telemetry.span(name, attributes)


def statement_span(sql: str) -> AbstractContextManager[object]:
    """A span around a statement that is sent directly to the database driver.

    SQLAlchemy's statements have their own.
    """
    return _NO_SPAN if _telemetry is None else _telemetry.statement_span(sql)


def request_span(name: str, headers: Mapping[str, str], **attributes: str | int) -> AbstractContextManager[Span]:
    """A span around a request, below the caller's span if the headers name one."""
    return _NO_SPAN if _telemetry is None else _telemetry.span_from_headers(name, headers, "SERVER", attributes)


def job_span(name: str, headers: Mapping[str, Any], **attributes: str | int) -> AbstractContextManager[Span]:
    """A span around a job, below the span that enqueued it: `headers` are those of `propagation_headers`."""
    return _NO_SPAN if _telemetry is None else _telemetry.span_from_headers(name, headers, "CONSUMER", attributes)


def propagation_headers() -> dict[str, str]:
    """The current span as headers, to be continued elsewhere; empty without tracing."""
    return {} if _telemetry is None else _telemetry.propagation_headers()


def requested_endpoint_variable() -> str | None:
    """The OpenTelemetry variable that enables tracing; None if tracing is not requested."""
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or os.environ.get("OTEL_TRACES_EXPORTER") == "none":
        return None
    return next((name for name in ENDPOINT_VARIABLES if os.environ.get(name)), None)


def is_installed() -> bool:
    """True if the packages of the extra `tracing` are installed."""
    try:
        return all(importlib.util.find_spec(package) for package in PACKAGES)
    except ModuleNotFoundError:
        return False


def start_tracing(service_name: str) -> None:
    """Start tracing if the environment requests it. A warning names missing packages."""
    variable = requested_endpoint_variable()
    if variable is None:
        return
    if not is_installed():
        log.warning(
            "tracing is off", because=f"{variable} is set, but the tracing packages are not installed. {REMEDY}"
        )
        return
    from store.core.telemetry.opentelemetry import Telemetry, build_exporter

    start_tracing_with(Telemetry(build_exporter(), service_name))


def start_tracing_with(telemetry: "Telemetry") -> None:
    """Start tracing with this telemetry instead of the one that the environment configures."""
    global _telemetry  # noqa: PLW0603 - a process traces to one place, like its log
    _telemetry = telemetry


def stop_tracing() -> None:
    """Export the remaining spans and stop tracing."""
    global _telemetry  # noqa: PLW0603 - see above
    if _telemetry is not None:
        _telemetry.shutdown()
    _telemetry = None

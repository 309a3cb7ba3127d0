"""Traces: what happens within a request or a job, as spans. Without `begin` there are none, and they cost next to nothing.

What is told is names, numbers, statuses and statements without their parameters: no value that a client sent, no path as it
was asked, no message of an error. A trace ends at our own doors: nobody outside is sent its ids.
"""

import contextlib
import importlib.util
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, Protocol

import structlog

if TYPE_CHECKING:
    from store.core.opentelemetry import Telemetry

log = structlog.get_logger(__name__)

ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
REMEDY = "Install it: pip install 'coffret[tracing]'"
PACKAGES = ("opentelemetry.sdk", "opentelemetry.exporter.otlp.proto.http")


class Span(Protocol):
    """Something that takes time."""

    def update_name(self, name: str) -> None:
        """Call it something else."""

    def set_attribute(self, key: str, value: Any) -> None:
        """Say something about it."""


class _Unseen:
    """A span that nobody looks at."""

    def update_name(self, name: str) -> None:
        pass

    def set_attribute(self, key: str, value: Any) -> None:
        pass


_NONE: AbstractContextManager[Span] = contextlib.nullcontext(_Unseen())
_live: "Telemetry | None" = None


def live() -> "Telemetry | None":
    """What makes the spans; None without tracing."""
    return _live


def span(name: str, **attributes: str | int) -> AbstractContextManager[Span]:
    """A span around a block, within the present one. An error that leaves the block is named by its type."""
    return _NONE if _live is None else _live.span(name, attributes)


def statement(sql: str) -> AbstractContextManager[object]:
    """A span around a statement that goes to the database's driver by itself; SQLAlchemy's have theirs."""
    return _NONE if _live is None else _live.statement(sql)


def serving(name: str, headers: Mapping[str, str], **attributes: str | int) -> AbstractContextManager[Span]:
    """A span around answering a request, within that of its caller where the headers tell of one."""
    return _NONE if _live is None else _live.continued(name, headers, "SERVER", attributes)


def working(name: str, headers: Mapping[str, Any], **attributes: str | int) -> AbstractContextManager[Span]:
    """A span around a job, within that of what enqueued it: `headers` are those that `carried` gave it."""
    return _NONE if _live is None else _live.continued(name, headers, "CONSUMER", attributes)


def carried() -> dict[str, str]:
    """The present span as headers, to be continued elsewhere; empty without tracing."""
    return {} if _live is None else _live.carried()


def wanted() -> str | None:
    """The variable of the environment that asks for traces, by OpenTelemetry's own names; None: they are not wanted."""
    if os.environ.get("OTEL_SDK_DISABLED", "").lower() == "true" or os.environ.get("OTEL_TRACES_EXPORTER") == "none":
        return None
    return next((name for name in ENDPOINTS if os.environ.get(name)), None)


def installed() -> bool:
    """Whether the packages are there, which are an extra."""
    try:
        return all(importlib.util.find_spec(package) for package in PACKAGES)
    except ModuleNotFoundError:
        return False


def begin(service_name: str) -> None:
    """Send traces from now on, where the environment asks for it; a warning says what that lacks."""
    variable = wanted()
    if variable is None:
        return
    if not installed():
        log.warning(
            "there are no traces", because=f"{variable} is set, but what sends traces is not installed. {REMEDY}"
        )
        return
    from store.core.opentelemetry import Telemetry, exporter

    begin_with(Telemetry(exporter(), service_name))


def begin_with(telemetry: "Telemetry") -> None:
    """Trace to something else than the environment names."""
    global _live  # noqa: PLW0603 - a process traces to one place, like its log
    _live = telemetry


def end() -> None:
    """Send what is left, and trace no more."""
    global _live  # noqa: PLW0603 - see above
    if _live is not None:
        _live.shutdown()
    _live = None

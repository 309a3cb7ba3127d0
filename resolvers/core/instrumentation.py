"""Metrics and traces of operations: number, duration and outcome by transport."""

import asyncio
import functools
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Protocol, Self, TypeVar

from prometheus_client import Counter, Histogram

from resolvers.core.context import Context
from schema.core.errors import AppError
from store.core.telemetry import tracing

OPERATIONS = Counter("coffret_operations", "Requested operations.", ["operation", "transport", "outcome"])
SECONDS = Histogram(
    "coffret_operation_seconds",
    "Duration of operations.",
    ["operation", "transport"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
SERVER_ERRORS = 500


class Instrumented(Protocol):
    """An operation, a list or a look-up."""

    @property
    def name(self) -> str:
        """The name in snake case."""


S = TypeVar("S", bound=Instrumented)
P = ParamSpec("P")
R = TypeVar("R")


class OperationTimer:
    """`with OperationTimer(name, context):` counts and times the code within, and makes a span of it."""

    __slots__ = ("_begun", "_context", "_name", "_span", "is_replayed")

    def __init__(self, name: str, context: Context) -> None:
        self.is_replayed = False
        """Set to True if a stored response was found, and nothing ran."""
        self._name = name
        self._context = context

    def __enter__(self) -> Self:
        self._span: AbstractContextManager[object] | None = None
        if tracing.current_telemetry() is not None:
            self._span = tracing.span(self._name, **{"coffret.transport": self._context.transport})
            self._span.__enter__()
        self._begun = time.perf_counter()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        record_run(self._name, self._context, self._begun, "replayed" if self.is_replayed else outcome_label(error))
        if self._span is not None:
            self._span.__exit__(kind, error, traceback)


class ReadTimer:
    """Instruments a list or a look-up that is read later. The first read counts as the operation; later statements are
    spans.
    """

    __slots__ = ("_context", "_is_recorded", "_name")

    def __init__(self, name: str, context: Context) -> None:
        self._name = name
        self._context = context
        self._is_recorded = False

    def start(self) -> AbstractContextManager[object]:
        """The context manager of one read."""
        if self._is_recorded:
            return tracing.span(self._name)
        self._is_recorded = True
        return OperationTimer(self._name, self._context)


def instrumented_plan(
    plan: Callable[Concatenate[S, Context, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[S, Context, P], Coroutine[Any, Any, R]]:
    """Instrument the planning of a list or a look-up if it fails. Otherwise `ReadTimer` instruments the read."""

    @functools.wraps(plan)
    async def plan_or_record(self: S, context: Context, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return await plan(self, context, *args, **kwargs)
        except BaseException as error:
            record_run(self.name, context, time.perf_counter(), outcome_label(error))
            raise

    return plan_or_record


def record_run(name: str, context: Context, begun: float, outcome: str = "ok") -> None:
    """Record a run that began at a moment of `time.perf_counter`, and its outcome: see `outcome_label`, or `replayed`."""
    _duration_metric(name, context.transport).observe(time.perf_counter() - begun)
    _run_metric(name, context.transport, outcome).inc()


def outcome_label(error: BaseException | None) -> str:
    """`ok` or `cancelled`; `refused:<code>` for an error of the client, `failed:<code>` for one of the
    server, `error` for a bug.
    """
    if error is None:
        return "ok"
    if isinstance(error, asyncio.CancelledError):
        return "cancelled"
    if not isinstance(error, AppError):
        return "error"
    return f"{'failed' if error.status >= SERVER_ERRORS else 'refused'}:{error.code().lower()}"


@functools.lru_cache(maxsize=4096)
def _run_metric(operation: str, transport: str, outcome: str) -> Counter:
    return OPERATIONS.labels(operation, transport, outcome)


@functools.lru_cache(maxsize=1024)
def _duration_metric(operation: str, transport: str) -> Histogram:
    return SECONDS.labels(operation, transport)

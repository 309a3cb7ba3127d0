"""How operations do: how often, how long, and with what outcome, by transport; the same as spans of a trace."""

import asyncio
import functools
import time
from collections.abc import Callable, Coroutine
from contextlib import AbstractContextManager
from types import TracebackType
from typing import Any, Concatenate, ParamSpec, Protocol, TypeVar

from prometheus_client import Counter, Histogram

from resolvers.core.context import Context
from resolvers.core.idempotency import Answered, Stage
from schema.core.errors import AppError
from store.core import tracing

OPERATIONS = Counter("coffret_operations", "Operations that were asked for.", ["operation", "transport", "outcome"])
SECONDS = Histogram(
    "coffret_operation_seconds",
    "Time that operations took.",
    ["operation", "transport"],
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)
SERVER_ERRORS = 500


class Named(Protocol):
    """An operation, a list or a look-up."""

    @property
    def name(self) -> str:
        """Its name, in snake case."""


S = TypeVar("S", bound=Named)
P = ParamSpec("P")
R = TypeVar("R")


class Noted:
    """`with Noted(name, context):` counts and times what runs within, and makes a span of it."""

    __slots__ = ("_begun", "_context", "_name", "_span")

    def __init__(self, name: str, context: Context) -> None:
        self._name = name
        self._context = context

    def __enter__(self) -> None:
        self._span: AbstractContextManager[object] | None = None
        if tracing.live() is not None:
            self._span = tracing.span(self._name, **{"coffret.transport": self._context.transport})
            self._span.__enter__()
        self._begun = time.perf_counter()

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        note(self._name, self._context, self._begun, error)
        if self._span is not None:
            kept = isinstance(error, Answered)  # an answer, though it is raised
            self._span.__exit__(*((None, None, None) if kept else (kind, error, traceback)))


class Reading:
    """A list or a look-up whose rows are not read yet: noted when it is first read, and the statements after that are spans."""

    __slots__ = ("_context", "_name", "_noted")

    def __init__(self, name: str, context: Context) -> None:
        self._name = name
        self._context = context
        self._noted = False

    def begin(self) -> AbstractContextManager[object]:
        """Something to read within."""
        if self._noted:
            return tracing.span(self._name)
        self._noted = True
        return Noted(self._name, self._context)


def watched(
    run: Callable[Concatenate[S, Context, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[S, Context, P], Coroutine[Any, Any, R]]:
    """Note each run of an operation. What only renders the answer of one (see `resolvers.core.idempotency`) is none."""

    @functools.wraps(run)
    async def noted(self: S, context: Context, /, *args: P.args, **kwargs: P.kwargs) -> R:
        if context.once is not None and context.once.stage is Stage.RENDERING:
            return await run(self, context, *args, **kwargs)
        with Noted(self.name, context):
            return await run(self, context, *args, **kwargs)

    return noted


def planned(
    plan: Callable[Concatenate[S, Context, P], Coroutine[Any, Any, R]],
) -> Callable[Concatenate[S, Context, P], Coroutine[Any, Any, R]]:
    """Note what refuses to be planned: the rest is noted when it is read."""

    @functools.wraps(plan)
    async def noted(self: S, context: Context, /, *args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return await plan(self, context, *args, **kwargs)
        except BaseException as error:
            note(self.name, context, time.perf_counter(), error)
            raise

    return noted


def note(name: str, context: Context, begun: float, error: BaseException | None = None) -> None:
    """Count one that began at a moment of `time.perf_counter`."""
    _timed(name, context.transport).observe(time.perf_counter() - begun)
    _counted(name, context.transport, outcome(error)).inc()


def outcome(error: BaseException | None) -> str:
    """`ok`; `refused:<code>` for what the caller can put right; `failed:<code>` for what is ours, `error` for a bug."""
    if error is None:
        return "ok"
    if isinstance(error, Answered):
        return "replayed" if error.replayed else "ok"
    if isinstance(error, asyncio.CancelledError):
        return "cancelled"
    if not isinstance(error, AppError):
        return "error"
    return f"{'failed' if error.status >= SERVER_ERRORS else 'refused'}:{error.code().lower()}"


@functools.lru_cache(maxsize=4096)
def _counted(operation: str, transport: str, told: str) -> Counter:
    return OPERATIONS.labels(operation, transport, told)


@functools.lru_cache(maxsize=1024)
def _timed(operation: str, transport: str) -> Histogram:
    return SECONDS.labels(operation, transport)

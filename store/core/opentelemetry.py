"""Spans by OpenTelemetry. Imported only where traces are wanted and its packages are installed."""

import asyncio
import importlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from opentelemetry import context as contexts
from opentelemetry.sdk.resources import SERVICE_NAME, Resource
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import BatchSpanProcessor, SpanExporter
from opentelemetry.trace import Span, SpanKind, Status, StatusCode
from opentelemetry.trace.propagation.tracecontext import TraceContextTextMapPropagator
from sqlalchemy import event

from schema.core.errors import AppError
from store.job.jobs import Again

STATEMENT_LENGTH = 2_000
SERVER_ERRORS = 500
SPAN = "coffret_span"
"""Where SQLAlchemy's execution context holds the span of its statement."""


class Telemetry:
    """Makes spans and sends them. Callers tell theirs by W3C's `traceparent`; baggage is not taken from anybody."""

    def __init__(self, to: SpanExporter, service_name: str) -> None:
        resource = Resource.create()
        if str(resource.attributes.get(SERVICE_NAME, "")).startswith("unknown_service"):
            resource = resource.merge(Resource({SERVICE_NAME: service_name}))
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(to))
        self._tracer = self._provider.get_tracer("coffret")
        self._propagator = TraceContextTextMapPropagator()

    @contextmanager
    def span(
        self,
        name: str,
        attributes: Mapping[str, Any],
        within: contexts.Context | None = None,
        kind: SpanKind = SpanKind.INTERNAL,
    ) -> Iterator[Span]:
        """A span around a block."""
        with self._tracer.start_as_current_span(
            name, within, kind, attributes, record_exception=False, set_status_on_exception=False
        ) as made:
            try:
                yield made
            except BaseException as error:
                failed(made, error)
                raise

    def continued(self, name: str, headers: Mapping[str, Any], kind: str, attributes: Mapping[str, Any]) -> Any:
        """A span within one that headers tell of, or one of its own where they tell of none."""
        return self.span(name, attributes, self._propagator.extract(headers, contexts.Context()), SpanKind[kind])

    def carried(self) -> dict[str, str]:
        """The present span as headers."""
        headers: dict[str, str] = {}
        self._propagator.inject(headers)
        return headers

    def follow(self, engine: Any) -> None:
        """Make a span of each statement of an engine."""

        def begun(_connection: Any, _cursor: Any, statement: str, _parameters: Any, context: Any, _many: bool) -> None:
            setattr(context, SPAN, self._tracer.start_span("sql", None, SpanKind.CLIENT, of_statement(statement)))

        def ended(*arguments: Any) -> None:
            getattr(arguments[-2], SPAN).end()

        def gone_wrong(problem: Any) -> None:
            span = getattr(problem.execution_context, SPAN, None)
            if span is not None:
                failed(span, problem.original_exception)
                span.end()

        event.listen(engine, "before_cursor_execute", begun)
        event.listen(engine, "after_cursor_execute", ended)
        event.listen(engine, "handle_error", gone_wrong)

    def statement(self, sql: str) -> Any:
        """A span around a statement that goes to the driver by itself."""
        return self.span("sql", of_statement(sql), kind=SpanKind.CLIENT)

    def shutdown(self) -> None:
        """Send what is left."""
        self._provider.shutdown()


def of_statement(sql: str) -> Mapping[str, Any]:
    """What is told of a statement; its parameters never are."""
    return {"db.system.name": "postgresql", "db.query.text": sql[:STATEMENT_LENGTH]}


def failed(span: Span, error: BaseException) -> None:
    """Name an error by its type, as its message may hold what a client sent. A refusal is the client's mistake."""
    if isinstance(error, Again | asyncio.CancelledError):
        return
    name = error.code() if isinstance(error, AppError) else type(error).__name__
    span.set_attribute("error.type", name)
    if not isinstance(error, AppError) or error.status >= SERVER_ERRORS:
        span.set_status(Status(StatusCode.ERROR, name))


def exporter() -> SpanExporter:
    """What sends spans by OTLP to where the environment says, in the way that it says."""
    module = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    made: SpanExporter = module.OTLPSpanExporter()
    return made

"""OpenTelemetry spans. Imported only if tracing is enabled and its packages are installed."""

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
from store.core.retries import RunAgain

STATEMENT_LENGTH = 2_000
SERVER_ERRORS = 500
SPAN_ATTRIBUTE = "coffret_span"
"""The attribute of SQLAlchemy's execution context that holds the span of its statement."""


class Telemetry:
    """Creates and exports spans. It accepts W3C `traceparent` headers from callers and ignores baggage."""

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
        with self._tracer.start_as_current_span(
            name, within, kind, attributes, record_exception=False, set_status_on_exception=False
        ) as new_span:
            try:
                yield new_span
            except BaseException as error:
                record_error(new_span, error)
                raise

    def span_from_headers(self, name: str, headers: Mapping[str, Any], kind: str, attributes: Mapping[str, Any]) -> Any:
        """A span below the one that the headers name, or a root span if they name none."""
        return self.span(name, attributes, self._propagator.extract(headers, contexts.Context()), SpanKind[kind])

    def propagation_headers(self) -> dict[str, str]:
        """The current span as headers."""
        headers: dict[str, str] = {}
        self._propagator.inject(headers)
        return headers

    def instrument_engine(self, engine: Any) -> None:
        """Create a span for each statement of an engine."""

        def begin_span(
            _connection: Any, _cursor: Any, statement: str, _parameters: Any, context: Any, _many: bool
        ) -> None:
            setattr(
                context,
                SPAN_ATTRIBUTE,
                self._tracer.start_span("sql", None, SpanKind.CLIENT, statement_attributes(statement)),
            )

        def end_span(*arguments: Any) -> None:
            getattr(arguments[-2], SPAN_ATTRIBUTE).end()

        def fail_span(problem: Any) -> None:
            span = getattr(problem.execution_context, SPAN_ATTRIBUTE, None)
            if span is not None:
                record_error(span, problem.original_exception)
                span.end()

        event.listen(engine, "before_cursor_execute", begin_span)
        event.listen(engine, "after_cursor_execute", end_span)
        event.listen(engine, "handle_error", fail_span)

    def statement_span(self, sql: str) -> Any:
        """A span around a statement that is sent directly to the driver."""
        return self.span("sql", statement_attributes(sql), kind=SpanKind.CLIENT)

    def shutdown(self) -> None:
        """Export the remaining spans."""
        self._provider.shutdown()


def statement_attributes(sql: str) -> Mapping[str, Any]:
    """The attributes of a statement's span; they never include its parameters."""
    return {"db.system.name": "postgresql", "db.query.text": sql[:STATEMENT_LENGTH]}


def record_error(span: Span, error: BaseException) -> None:
    """Record the type of an error. Its message is left out, since it may contain a client's input.

    A refusal does not mark the span as failed: it is the client's mistake.
    """
    if isinstance(error, RunAgain | asyncio.CancelledError):
        return
    name = error.code() if isinstance(error, AppError) else type(error).__name__
    span.set_attribute("error.type", name)
    if not isinstance(error, AppError) or error.status >= SERVER_ERRORS:
        span.set_status(Status(StatusCode.ERROR, name))


def build_exporter() -> SpanExporter:
    """The OTLP exporter, configured by OpenTelemetry's environment variables."""
    module = importlib.import_module("opentelemetry.exporter.otlp.proto.http.trace_exporter")
    exporter: SpanExporter = module.OTLPSpanExporter()
    return exporter

"""Executes GraphQL requests of any transport: document, limits, execution, errors."""

import inspect
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import orjson
import strawberry
from graphql import ExecutionResult, GraphQLError, OperationDefinitionNode, OperationType
from graphql import Executor as CoreExecutor
from prometheus_client import Histogram
from strawberry.execution import optimized_is_awaitable

from resolvers.core.context import Context
from resolvers.core.idempotency import DryRun, IdempotentRequest, StoredResponse, fingerprint
from schema.graph.bounds import LimitExceededError, QueryLimits, check_variables
from schema.graph.documents import MOST_ERRORS_WITH_HINTS, DocumentCache, DocumentRejected, GraphQLDocument
from schema.graph.errors import BAD_USER_INPUT, ENGLISH, WrongMethod, cause_of, find_outage, format_errors
from schema.graph.executor import Executor
from schema.graph.failures import failures_of

COST_HISTOGRAM = Histogram(
    "coffret_graphql_cost",
    "Cost of requested operations.",
    buckets=(1, 10, 100, 300, 1_000, 3_000, 10_000, 100_000),
)


@dataclass(frozen=True)
class GraphQLRequest:
    """A GraphQL request: a document, or the id of a trusted one (`query` is then empty)."""

    query: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    operation_name: str | None = None
    document_id: str | None = None


@dataclass(frozen=True)
class GraphQLResponse:
    """The body of a response, its status and headers, and whether the operation ran at all."""

    body: dict[str, Any] | bytes
    """Bytes for a stored response, which is sent unchanged."""
    was_executed: bool
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)


class GraphQLServer:
    """A schema that executes requests within limits.

    `trusted` are documents by id, which requests may name instead of sending them. With `trusted_only` all other
    documents are refused. `compiled=False` lets graphql-core execute everything, as the reference.
    """

    def __init__(
        self,
        schema: strawberry.Schema,
        *,
        limits: QueryLimits | None = None,
        introspection: bool = True,
        compiled: bool = True,
        trusted: Mapping[str, str] | None = None,
        trusted_only: bool = False,
    ) -> None:
        self.schema = schema._schema  # noqa: SLF001 - Strawberry has no public name for graphql-core's schema
        self.limits = limits or QueryLimits()
        self.introspection = introspection
        self.compiled = compiled
        self.documents = DocumentCache(
            self.schema, self.limits, introspection=introspection, trusted=trusted or {}, trusted_only=trusted_only
        )

    async def execute(
        self,
        asked: GraphQLRequest,
        context: Context,
        *,
        idempotency_key: str | None = None,
        queries_only: bool = False,
        dry_run: bool = False,
    ) -> GraphQLResponse:
        """Execute a request. Raises WrongMethod, before anything runs, for a mutation under `queries_only`.

        With an `idempotency_key` a mutation runs once per key and token. A `dry_run` of one mutation tells what it would
        answer, and has no effect.
        """
        try:
            text = asked.query or self.documents.find_trusted_text(asked.document_id)
            document = self.documents.get(text)
            operation = document.find_operation(asked.operation_name)
            check_variables(asked.variables, self.limits)
        except DocumentRejected as refused:
            return _error_response(refused, context)
        except LimitExceededError as beyond:
            return _error_response(DocumentRejected(beyond, code="BAD_REQUEST"), context)
        if queries_only and operation.operation is not OperationType.QUERY:
            raise WrongMethod("Send mutations by POST.", allow="POST")
        changes = 0 if idempotency_key is None else document.count_mutations(operation)
        if changes > 1:
            words = "An Idempotency-Key is for one change: send one mutation with it."
            return _error_response(DocumentRejected(GraphQLError(words), code="BAD_REQUEST"), context)
        cost = document.cost(operation, asked.variables)
        COST_HISTOGRAM.observe(cost)
        extensions = {"cost": {"requested": cost, "limit": self.limits.cost}}
        if cost > self.limits.cost:
            return _error_response(self._too_costly(cost), context, extensions)
        request = _CheckedRequest(document, operation, asked, context, extensions)
        if dry_run:
            context.idempotency = DryRun(context, lambda _: self._render_response(request))
        elif idempotency_key is not None and changes and context.caller is not None:
            context.idempotency = await self._identify(request, idempotency_key, text)
        return await self._respond(request)

    def _too_costly(self, cost: int) -> DocumentRejected:
        words = f"This would cost {cost}; the limit is {self.limits.cost}. Request smaller pages, or fewer fields."
        error = LimitExceededError(words, "COST_LIMIT_EXCEEDED", requested=cost, limit=self.limits.cost)
        return DocumentRejected(error, code="COST_LIMIT_EXCEEDED")

    async def _identify(self, request: "_CheckedRequest", key: str, text: str) -> IdempotentRequest:
        asked = request.request
        said = await fingerprint("graphql", asked.operation_name, text, asked.variables)
        return IdempotentRequest(request.context, key, said, lambda _: self._render_response(request))

    async def _respond(self, request: "_CheckedRequest") -> GraphQLResponse:
        context, extensions = request.context, request.extensions
        result = await self._execute(request)
        if not isinstance(result, ExecutionResult):
            return _error_response(
                DocumentRejected(*result, code=BAD_USER_INPUT), context, extensions, request.operation
            )
        if not result.errors:
            if context.idempotency is not None and context.idempotency.response is not None:
                stored = context.idempotency.response
                return GraphQLResponse(stored.body, True, stored.status, dict(stored.sent_headers))
            return GraphQLResponse({"data": result.data, "extensions": extensions}, was_executed=True)
        errors = format_errors(result.errors, context.request_id, BAD_USER_INPUT, context.wording or ENGLISH)
        context.add_failures(failures_of(errors, request.operation))
        body = {"data": result.data, "errors": errors, "extensions": extensions}
        outage = find_outage(result)
        if outage is not None:
            return GraphQLResponse(body, True, outage.status, outage.headers)
        return GraphQLResponse(body, was_executed=True)

    async def _render_response(self, request: "_CheckedRequest") -> StoredResponse:
        """The response to store after a mutation has run. Raises the errors of rendering it."""
        result = await self._execute(request)
        errors = result.errors if isinstance(result, ExecutionResult) else result
        if errors:
            raise cause_of(errors[0]) or RuntimeError("The response to a mutation could not be rendered.") from errors[
                0
            ]
        assert isinstance(result, ExecutionResult)
        return StoredResponse(orjson.dumps({"data": result.data, "extensions": request.extensions}))

    async def _execute(self, request: "_CheckedRequest") -> ExecutionResult | Sequence[GraphQLError]:
        """The result, or a list of errors if the variables are invalid."""
        executor = self._executor(request, hints=False)
        if isinstance(executor, list):
            few = self.introspection and len(executor) <= MOST_ERRORS_WITH_HINTS
            told = self._executor(request, hints=True) if few else executor
            assert isinstance(told, list)
            return told
        result: Any = executor.execute_operation()
        if inspect.isawaitable(result):
            result = await result
        assert isinstance(result, ExecutionResult)
        return result

    def _executor(self, request: "_CheckedRequest", *, hints: bool) -> CoreExecutor[Any] | list[GraphQLError]:
        document, operation = request.document, request.operation
        return Executor.build(
            self.schema,
            document.node,
            context_value=request.context,
            raw_variable_values=dict(request.request.variables),
            operation_name=operation.name.value if operation.name else None,
            is_awaitable=optimized_is_awaitable,  # type: ignore[arg-type]  # Strawberry types it as a plain bool
            hide_suggestions=not hints,
            plans=document.plans,
            conditions=document.condition_variables,
            compiled=self.compiled,
        )


@dataclass(frozen=True, slots=True)
class _CheckedRequest:
    """A request within the limits."""

    document: GraphQLDocument
    operation: OperationDefinitionNode
    request: GraphQLRequest
    context: Context
    extensions: dict[str, Any]


def _error_response(
    refused: DocumentRejected,
    context: Context,
    extensions: dict[str, Any] | None = None,
    operation: OperationDefinitionNode | None = None,
) -> GraphQLResponse:
    errors = format_errors(refused.errors, context.request_id, "BAD_REQUEST")
    context.add_failures(failures_of(errors, operation))
    body: dict[str, Any] = {"errors": errors}
    return GraphQLResponse(body | ({"extensions": extensions} if extensions else {}), was_executed=False)

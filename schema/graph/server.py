"""Answers GraphQL requests, whatever brought them: document, bounds, execution, errors."""

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
from resolvers.core.idempotency import Answered, Once, Rendered, fingerprint
from schema.core.errors import Unavailable
from schema.graph.bounds import BeyondLimitsError, Limits, check_variables
from schema.graph.documents import MOST_HINTS, Document, Documents, RefusedDocument
from schema.graph.errors import BAD_USER_INPUT, cause_of, outage, told
from schema.graph.executor import Executor

COST = Histogram(
    "coffret_graphql_cost",
    "What operations would cost that were asked for.",
    buckets=(1, 10, 100, 300, 1_000, 3_000, 10_000, 100_000),
)


@dataclass(frozen=True)
class Asked:
    """A GraphQL request: the document itself, or (`query` is empty then) the id of one that the server knows."""

    query: str
    variables: Mapping[str, Any] = field(default_factory=dict)
    operation_name: str | None = None
    document_id: str | None = None


@dataclass(frozen=True)
class Answer:
    """What is sent back, and whether the operation was run at all."""

    body: dict[str, Any]
    ran: bool
    away: Unavailable | None = None
    """Set when nothing was answered because something behind us cannot be reached."""
    kept: Answered | None = None
    """Set when the answer is one that was kept, to be sent as it is; the body is empty then."""


class QueryOnlyError(Exception):
    """A mutation where only queries are answered."""


class Graph:
    """A schema that answers requests within limits.

    `trusted` are documents by id, which requests may name instead of sending them; with `trusted_only` no other is
    answered. `compiled=False` leaves all to graphql-core, the reference.
    """

    def __init__(
        self,
        schema: strawberry.Schema,
        *,
        limits: Limits | None = None,
        introspection: bool = True,
        compiled: bool = True,
        trusted: Mapping[str, str] | None = None,
        trusted_only: bool = False,
    ) -> None:
        self.schema = schema._schema  # noqa: SLF001 - Strawberry has no public name for graphql-core's schema
        self.limits = limits or Limits()
        self.introspection = introspection
        self.compiled = compiled
        self.documents = Documents(
            self.schema, self.limits, introspection=introspection, trusted=trusted or {}, trusted_only=trusted_only
        )

    async def answer(
        self, asked: Asked, context: Context, *, key: str | None = None, queries_only: bool = False
    ) -> Answer:
        """Answer a request. QueryOnlyError, with nothing run, for a mutation under `queries_only`.

        With a `key` a mutation is done once for the caller's token.
        """
        try:
            text = asked.query or self.documents.text(asked.document_id)
            document = self.documents.get(text)
            operation = document.operation(asked.operation_name)
            check_variables(asked.variables, self.limits)
        except RefusedDocument as refused:
            return _refused(refused, context)
        except BeyondLimitsError as beyond:
            return _refused(RefusedDocument(beyond, code="BAD_REQUEST"), context)
        if queries_only and operation.operation is not OperationType.QUERY:
            raise QueryOnlyError
        changes = 0 if key is None else document.changes(operation)
        if changes > 1:
            words = "An Idempotency-Key is for one change: send one mutation with it."
            return _refused(RefusedDocument(GraphQLError(words), code="BAD_REQUEST"), context)
        cost = document.cost(operation, asked.variables)
        COST.observe(cost)
        extensions = {"cost": {"requested": cost, "limit": self.limits.cost}}
        if cost > self.limits.cost:
            words = (
                f"This would cost {cost}; the limit is {self.limits.cost}. Ask for smaller pages, or for less at once."
            )
            error = BeyondLimitsError(words, "COST_LIMIT_EXCEEDED", requested=cost, limit=self.limits.cost)
            return _refused(RefusedDocument(error, code="COST_LIMIT_EXCEEDED"), context, extensions)
        request = _Request(document, operation, asked, context, extensions)
        if key is not None and changes and context.caller is not None:
            said = await fingerprint("graphql", asked.operation_name, text, asked.variables)
            context.once = Once(context, key, said, lambda _: self._rendered(request))
        return await self._answered(request)

    async def _answered(self, request: "_Request") -> Answer:
        context, extensions = request.context, request.extensions
        result = await self._executed(request)
        if not isinstance(result, ExecutionResult):
            return _refused(RefusedDocument(*result, code=BAD_USER_INPUT), context, extensions)
        if not result.errors:
            return Answer({"data": result.data, "extensions": extensions}, ran=True)
        if context.once is not None and isinstance(kept := cause_of(result.errors[0]), Answered):
            return Answer({}, ran=True, kept=kept)
        errors = told(result.errors, context.request_id, BAD_USER_INPUT)
        return Answer({"data": result.data, "errors": errors, "extensions": extensions}, True, outage(result))

    async def _rendered(self, request: "_Request") -> Rendered:
        """The answer to a request whose mutation has come to something; raises what goes wrong in writing it."""
        result = await self._executed(request)
        errors = result.errors if isinstance(result, ExecutionResult) else result
        if errors:
            raise cause_of(errors[0]) or RuntimeError("The answer to a mutation could not be written.") from errors[0]
        assert isinstance(result, ExecutionResult)
        return Rendered(orjson.dumps({"data": result.data, "extensions": request.extensions}))

    async def _executed(self, request: "_Request") -> ExecutionResult | Sequence[GraphQLError]:
        """Execute; a list of errors where the variables do not fit."""
        executor = self._executor(request, hints=False)
        if isinstance(executor, list):
            few = self.introspection and len(executor) <= MOST_HINTS
            told = self._executor(request, hints=True) if few else executor
            assert isinstance(told, list)
            return told
        result: Any = executor.execute_operation()
        if inspect.isawaitable(result):
            result = await result
        assert isinstance(result, ExecutionResult)
        return result

    def _executor(self, request: "_Request", *, hints: bool) -> CoreExecutor[Any] | list[GraphQLError]:
        document, operation = request.document, request.operation
        return Executor.build(
            self.schema,
            document.node,
            context_value=request.context,
            raw_variable_values=dict(request.asked.variables),
            operation_name=operation.name.value if operation.name else None,
            is_awaitable=optimized_is_awaitable,  # type: ignore[arg-type]  # Strawberry types it as a plain bool
            hide_suggestions=not hints,
            plans=document.plans,
            conditions=document.conditions,
            compiled=self.compiled,
        )


@dataclass(frozen=True, slots=True)
class _Request:
    """A request that is within bounds."""

    document: Document
    operation: OperationDefinitionNode
    asked: Asked
    context: Context
    extensions: dict[str, Any]


def _refused(refused: RefusedDocument, context: Context, extensions: dict[str, Any] | None = None) -> Answer:
    errors: tuple[GraphQLError, ...] = refused.errors
    body: dict[str, Any] = {"errors": told(errors, context.request_id, "BAD_REQUEST")}
    return Answer(body | ({"extensions": extensions} if extensions else {}), ran=False)

"""Runs GraphQL documents in this process, with the permissions, the tenancy, the audit log and the compiled reads of the API.

The back office and exports read what they show as documents: nothing is decided twice.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from resolvers.core.context import Context
from schema.core.errors import (
    AppError,
    Forbidden,
    MarketplaceOnly,
    PartnerOnly,
    ReadOnlySession,
    TooManyRequests,
    Unauthenticated,
    Unavailable,
)
from schema.graph.bounds import QueryLimits
from schema.graph.server import GraphQLRequest, GraphQLServer

LIMITS = QueryLimits(depth=12, aliases=400, repeated_fields=400, tokens=20_000, cost=200_000)
"""The documents are our own: they may be larger than those of clients."""
REFUSALS: Mapping[str, Callable[[int], AppError]] = {
    "FORBIDDEN": lambda _: Forbidden(permission=""),
    "MARKETPLACE_ONLY": lambda _: MarketplaceOnly(),
    "PARTNER_ONLY": lambda _: PartnerOnly(),
    "READ_ONLY_SESSION": lambda _: ReadOnlySession(),
    "TOO_MANY_REQUESTS": TooManyRequests,
    "UNAUTHENTICATED": lambda _: Unauthenticated(),
    "UNAVAILABLE": lambda _: Unavailable(what="The service"),
}
"""The errors of a response that are errors of the whole document."""


@dataclass(frozen=True, slots=True)
class GraphError:
    """An error of a response: its code, its message and the response path."""

    code: str
    message: str
    path: tuple[str | int, ...]
    problems: tuple[Mapping[str, Any], ...] = ()
    retry_after: int = 0
    """Seconds after which it may be tried again; 0 if that is not told."""


@dataclass(frozen=True, slots=True)
class GraphAnswer:
    """The data of a response as JSON, and its errors."""

    data: Mapping[str, Any]
    errors: tuple[GraphError, ...] = ()

    def check(self) -> None:
        """Raise the first error."""
        for error in self.errors:
            raise_for(error)

    def only(self, name: str) -> Any:
        """The value of a field. Raises its error if it is null because of one."""
        value = self.data.get(name)
        if value is None:
            for error in self.errors:
                if not error.path or error.path[0] == name:
                    raise_for(error)
        return value


def raise_for(error: GraphError) -> None:
    """Raise the error of a refused or failed field. Raises RuntimeError for one that callers have no answer to."""
    refused = REFUSALS.get(error.code)
    if refused is not None:
        raise refused(error.retry_after)
    raise RuntimeError(f"{error.code}: {error.message}")


async def run_document(
    server: GraphQLServer,
    context: Context,
    document: str,
    variables: Mapping[str, Any] | None = None,
    *,
    key: str | None = None,
    dry_run: bool = False,
) -> GraphAnswer:
    """Run a document for the caller of a context. With a `key` a mutation runs once, however often it is sent.

    A `dry_run` of a mutation tells what it would answer, and has no effect.
    """
    request = GraphQLRequest(document, variables or {})
    response = await server.execute(request, context, idempotency_key=key, dry_run=dry_run)
    context.idempotency = None  # the next document of the same context is another request
    body = orjson.loads(response.body if isinstance(response.body, bytes) else orjson.dumps(response.body))
    return GraphAnswer(body.get("data") or {}, tuple(_error(each) for each in body.get("errors", ())))


def _error(error: Mapping[str, Any]) -> GraphError:
    extensions = error.get("extensions") or {}
    return GraphError(
        extensions.get("code", ""),
        error["message"],
        tuple(error.get("path") or ()),
        tuple(extensions.get("problems") or ()),
        extensions.get("retryAfter") or 0,
    )

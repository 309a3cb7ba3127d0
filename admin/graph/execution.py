"""Runs GraphQL documents in this process, so that the back office has the permissions, the tenancy, the audit log and the
compiled reads of the API.
"""

import functools
from collections.abc import Mapping
from typing import Any

from resolvers.core.context import Context
from schema.graph import in_process
from schema.graph.server import GraphQLServer
from schema.root import schema

GraphAnswer = in_process.GraphAnswer
REFUSALS, raise_for = in_process.REFUSALS, in_process.raise_for


@functools.cache
def server() -> GraphQLServer:
    """The server of the back office. It keeps the plans of its documents."""
    return GraphQLServer(schema, limits=in_process.LIMITS, introspection=False)


async def run(
    context: Context,
    document: str,
    variables: Mapping[str, Any] | None = None,
    *,
    key: str | None = None,
    dry_run: bool = False,
) -> GraphAnswer:
    """Run a document for the caller of a context. With a `key` a mutation runs once, however often its form is sent.

    A `dry_run` of a mutation tells what it would answer, and has no effect.
    """
    return await in_process.run_document(server(), context, document, variables, key=key, dry_run=dry_run)

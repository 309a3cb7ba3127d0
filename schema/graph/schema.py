"""The schema that Strawberry makes of `Query` and `Mutation`."""

import strawberry
from strawberry.schema.config import StrawberryConfig

from schema.graph.scalars import SCALARS


def schema_of(query: type, mutation: type | None = None) -> strawberry.Schema:
    """The schema of an API."""
    return strawberry.Schema(query, mutation, config=StrawberryConfig(scalar_map=SCALARS))

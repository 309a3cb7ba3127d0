"""Lazy types, for types that refer to each other: `"schema.voucher.voucher:Voucher"`."""

import importlib
from typing import Annotated, Any, Optional

import strawberry


def resolve_type(kind: Any) -> Any:
    """The type, or the type at `module:Name`."""
    if not isinstance(kind, str):
        return kind
    module, _, name = kind.partition(":")
    return getattr(importlib.import_module(module), name)


def lazy_type(kind: Any, *, many: bool = False, nullable: bool = False) -> Any:
    """The type of a field, resolved by the schema once all types are declared."""
    if isinstance(kind, str):
        module, _, name = kind.partition(":")
        kind = Annotated[name, strawberry.lazy(module)]
    one = list[kind] if many else kind
    return Optional[one] if nullable else one  # noqa: UP045 - what is declared later is no type yet

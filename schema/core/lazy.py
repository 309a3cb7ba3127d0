"""Types that are declared later than what names them, as two that lead to each other are: `"schema.voucher.voucher:Voucher"`."""

import importlib
from typing import Annotated, Any, Optional

import strawberry


def found(kind: Any) -> Any:
    """A type, itself or by its place."""
    if not isinstance(kind, str):
        return kind
    module, _, name = kind.partition(":")
    return getattr(importlib.import_module(module), name)


def published(kind: Any, *, many: bool = False, nullable: bool = False) -> Any:
    """The same as the type of a field, which the schema resolves once all is declared."""
    if isinstance(kind, str):
        module, _, name = kind.partition(":")
        kind = Annotated[name, strawberry.lazy(module)]
    one = list[kind] if many else kind
    return Optional[one] if nullable else one  # noqa: UP045 - what is declared later is no type yet

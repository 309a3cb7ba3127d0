"""Texts that come in are cleaned, whatever input they are in: `schema.validation.characters` says how."""

from collections.abc import Iterator
from typing import Annotated, Any, get_args

import strawberry
from pydantic import BaseModel, TypeAdapter, ValidationError
from strawberry.types import get_object_definition

from schema.graph.fields import ORIGINS
from schema.root import Mutation

AS_SENT = {"code", "currency", "account_id", "password", "current_password", "new_password", "ObtainToken.username"}
"""What is only looked up, or compared with what is there, and a password: no name, and no text. The code of an import is
checked by its operation."""
INVISIBLE_TEXTS = ("A\x1bB", "\u200b\u3164\u2800\u200b\u3164\u2800\u200b\u3164\u2800\u200b\u3164\u2800")


def _inputs() -> Iterator[type[BaseModel]]:
    """The inputs of all mutations, and those within them."""
    waiting = [
        source.function.__annotations__["input"]
        for field in get_object_definition(Mutation, strict=True).fields
        for source in field.metadata.get(ORIGINS, ())
    ]
    seen: set[Any] = set()
    while waiting:
        kind = waiting.pop()
        if kind in seen:
            continue
        seen.add(kind)
        waiting += get_args(kind)
        if isinstance(kind, type) and issubclass(kind, BaseModel):
            waiting += [field.annotation for field in kind.model_fields.values()]
            yield kind


def _accepted(field: Any, text: str) -> Iterator[str]:
    """What a field of an input makes of a text; nothing where it refuses it."""
    if isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel):
        return
    kind: Any = Annotated[field.annotation, *field.metadata] if field.metadata else field.annotation
    adapter: TypeAdapter[Any] = TypeAdapter(kind, config={"arbitrary_types_allowed": True})
    for sent in (text, strawberry.Some(text)):
        try:
            got = adapter.validate_python(sent)
        except ValidationError:
            continue
        yield got.value if isinstance(got, strawberry.Some) else got


def test_no_input_keeps_what_cannot_be_seen() -> None:
    found = list(_inputs())
    assert len(found) > 50
    lets_through = {
        f"{kind.__name__}.{name}"
        for kind in found
        for name, field in kind.model_fields.items()
        for text in INVISIBLE_TEXTS
        if not AS_SENT & {name, f"{kind.__name__}.{name}"} and text in _accepted(field, text)
    }
    assert lets_through == set()

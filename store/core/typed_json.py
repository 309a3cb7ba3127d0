"""Columns of typed values, stored as JSONB."""

from typing import Any, TypeVar

from pydantic import PlainSerializer, TypeAdapter
from sqlalchemy import Dialect
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field

T = TypeVar("T")

TEXT_AS_STORED = PlainSerializer(lambda text: text.model_dump(exclude_none=True), return_type=dict[str, str])
"""For a text within a stored value: its languages only, as in a column of its own."""


class TypedJson(TypeDecorator[T]):
    """Values of `kind`, which pydantic reads from and writes to JSON. They are replaced as a whole, so freeze them."""

    impl = JSONB
    cache_ok = True

    def __init__(self, kind: type[T]) -> None:
        super().__init__()
        self.kind = kind
        self._adapter = TypeAdapter(kind)

    def process_bind_param(self, value: T | None, dialect: Dialect) -> Any:  # noqa: ARG002
        return None if value is None else self.dump(value)

    def process_result_value(self, value: Any, dialect: Dialect) -> T | None:  # noqa: ARG002
        return None if value is None else self.read(value)

    def read(self, stored: Any) -> T:
        """The value of what is stored. Raises pydantic's ValidationError."""
        return self._adapter.validate_python(stored)

    def dump(self, value: T) -> Any:
        """The value as it is stored."""
        return self._adapter.dump_python(value, mode="json")


def typed_json_column(stored: TypedJson[T], description: str, **options: Any) -> T:
    """A typed value, as JSONB."""
    column: T = Field(sa_type=stored, description=description, **options)
    return column

"""Lists of values that have no rows of their own: one JSONB column."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Dialect
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field


class ListColumn(TypeDecorator[list[BaseModel]]):
    """Values of one kind, in their order, as one JSONB column."""

    impl = JSONB
    cache_ok = True

    def __init__(self, kind: type[BaseModel]) -> None:
        super().__init__()
        self.kind = kind

    def process_bind_param(self, value: Sequence[BaseModel] | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """To the database: as JSON, amounts as text."""
        return None if value is None else [each.model_dump(mode="json") for each in value]

    def process_result_value(self, value: Any, dialect: Dialect) -> list[BaseModel] | None:  # noqa: ARG002
        """From the database."""
        return None if value is None else [self.kind.model_validate(each) for each in value]


def kept_list(kind: type[BaseModel], description: str, **options: Any) -> Any:
    """A published list of such values, empty unless told."""
    return Field(sa_type=ListColumn(kind), description=description, default_factory=list, **options)

"""Lists of values without rows of their own, stored in one JSONB column."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel
from sqlalchemy import Dialect
from sqlalchemy.dialects.postgresql import JSONB
from sqlalchemy.types import TypeDecorator
from sqlmodel import Field


class JsonListColumn(TypeDecorator[list[BaseModel]]):
    """An ordered list of values of one type, as one JSONB column."""

    impl = JSONB
    cache_ok = True

    def __init__(self, kind: type[BaseModel]) -> None:
        super().__init__()
        self.kind = kind

    def process_bind_param(self, value: Sequence[BaseModel] | None, dialect: Dialect) -> Any:  # noqa: ARG002
        """Serialize to JSON; amounts are texts."""
        return None if value is None else [each.model_dump(mode="json") for each in value]

    def process_result_value(self, value: Any, dialect: Dialect) -> list[BaseModel] | None:  # noqa: ARG002
        return None if value is None else [self.kind.model_validate(each) for each in value]


def json_list_column(kind: type[BaseModel], description: str, **options: Any) -> Any:
    """A published list of values of this type, empty by default."""
    return Field(sa_type=JsonListColumn(kind), description=description, default_factory=list, **options)

"""Columns of published resources: enums, amounts, times, JSON."""

import enum
from typing import Any, Self, TypeVar

import strawberry
from sqlalchemy import DateTime, Enum, Numeric
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field
from strawberry.types.enum import StrawberryEnumDefinition

C = TypeVar("C", bound="DescribedEnum")


class DescribedEnum(enum.StrEnum):
    """The base of published enums. A member is its stored value and its description: `PAID = "paid", "Paid."`"""

    description: str

    def __new__(cls, value: str, description: str = "") -> Self:
        member = str.__new__(cls, value)
        member._value_ = value
        member.description = description
        return member


def graphql_enum(cls: type[C]) -> type[C]:
    """Publish an enum. Its docstring and its members' descriptions become the published descriptions."""
    strawberry.enum(cls, description=_docstring_of(cls))
    definition: StrawberryEnumDefinition = cls.__dict__["__strawberry_definition__"]
    for member in definition.values:
        member.description = cls[member.name].description
    return cls


def id_column(description: str, **options: Any) -> Any:
    """The primary key, a number that the database assigns."""
    return Field(default=None, primary_key=True, description=description, **options)


def enum_column(kind: type[enum.Enum], description: str, *, length: int = 20, **options: Any) -> Any:
    """An enum, stored as its values (`a`) in a text column. SQLModel's default is a native enum of names."""
    return Field(sa_type=enum_type(kind, length), description=description, **options)


def enum_type(kind: type[enum.Enum], length: int = 20) -> Enum:
    """The type of such a column, also for the elements of an array."""
    return Enum(kind, native_enum=False, length=length, values_callable=lambda e: [m.value for m in e])


def amount_column(description: str = "", **options: Any) -> Any:
    """An exact amount of money or another number with two decimals."""
    return Field(sa_type=Numeric(12, 2), max_digits=12, decimal_places=2, description=description, **options)


def datetime_column(description: str, **options: Any) -> Any:
    """A point in time, UTC."""
    return Field(sa_type=DateTime(timezone=True), description=description, **options)


def json_column(description: str, **options: Any) -> Any:
    """Internal structured data, as JSONB."""
    return Field(sa_type=JSONB, description=description, **options)


def _docstring_of(documented: Any) -> str:
    return " ".join((documented.__doc__ or "").split())

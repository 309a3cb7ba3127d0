"""Saved filters: filters of lists that a user has given names."""

import datetime as dt
from typing import Annotated, Any

import strawberry
from pydantic import Field as InputField
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field
from strawberry.scalars import JSON

from schema.core.columns import datetime_column, id_column
from schema.core.inputs import graphql_input
from schema.core.resource import SchemaModel
from schema.validation.characters import line_up_to


@strawberry.pydantic.type(description="A filter of a list that its user has given a name. Nobody else sees it.")
class SavedFilter(SchemaModel):
    id: int = id_column("The filter's id.")
    list: str = Field(max_length=80, description="The list: its name in `Query`, such as `orders`.")
    name: str = Field(max_length=80, description="What its user calls it.")
    filter: Annotated[dict[str, Any], strawberry.field(graphql_type=JSON)] = Field(
        default_factory=dict, sa_type=JSONB, description="The filter of the list, as it was sent."
    )
    order_by: str = Field(default="", max_length=80, description="The order of the list; empty for its default.")
    created_on: dt.datetime = datetime_column("When it was saved first.")


@graphql_input
class SaveFilterInput(SchemaModel):
    """Save a filter of a list. It replaces yours of the same name."""

    list: Annotated[str, line_up_to(80, min_length=1)] = InputField(
        description="The list: its name in `Query`, such as `orders`."
    )
    name: Annotated[str, line_up_to(80, min_length=1)] = InputField(
        description="What you call it, in up to 80 characters."
    )
    filter: Annotated[dict[str, Any] | None, strawberry.field(graphql_type=JSON | None)] = InputField(
        default=None, description="The filter of the list, with the fields of the list's own `filter` argument."
    )
    order_by: Annotated[str, line_up_to(80)] | None = InputField(
        default=None, description="One of the list's own orders; by default its first."
    )


@graphql_input
class DeleteSavedFilterInput(SchemaModel):
    """Delete a saved filter."""

    id: int = InputField(description="The filter's id.")

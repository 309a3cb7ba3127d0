"""Inputs that create and update universes, environments and price ranges."""

from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.catalogue.taxonomy import Environment, PriceRange, Universe
from schema.core.inputs import graphql_input_for, update_input_of
from schema.core.ownership import MARKETPLACE_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.core.text import TextInput
from schema.core.text_input import line_per_language
from schema.validation.numbers import MoneyAmount, Ranking

Name = Annotated[TextInput, line_per_language(120)]
CURRENCY_DESCRIPTION = "In the marketplace's currency."


@graphql_input_for(Universe)
class CreateUniverse(SchemaModel):
    """Create a universe."""

    marketplace_uuid: UUID | None = Field(default=None, description=MARKETPLACE_DESCRIPTION)
    name: Name
    is_active: bool = True
    ranking: Ranking = 1


@update_input_of(CreateUniverse, without={"marketplace_uuid"})
class UpdateUniverse(SchemaModel):
    """Update a universe. Omitted fields stay unchanged."""

    id: int


@graphql_input_for(Environment)
class CreateEnvironment(SchemaModel):
    """Create an environment."""

    marketplace_uuid: UUID | None = Field(default=None, description=MARKETPLACE_DESCRIPTION)
    name: Name
    is_active: bool = True
    ranking: Ranking = 1


@update_input_of(CreateEnvironment, without={"marketplace_uuid"})
class UpdateEnvironment(SchemaModel):
    """Update an environment. Omitted fields stay unchanged."""

    id: int


@graphql_input_for(PriceRange)
class CreatePriceRange(SchemaModel):
    """Create a price range."""

    marketplace_uuid: UUID | None = Field(default=None, description=MARKETPLACE_DESCRIPTION)
    name: Name
    minimum: MoneyAmount = Field(description=f"The lower bound, inclusive. {CURRENCY_DESCRIPTION}")
    maximum: MoneyAmount | None = Field(
        default=None, description=f"The upper bound, exclusive; null if unlimited. {CURRENCY_DESCRIPTION}"
    )
    is_active: bool = True
    ranking: Ranking = 1


@update_input_of(CreatePriceRange, without={"marketplace_uuid"})
class UpdatePriceRange(SchemaModel):
    """Update a price range. Omitted fields stay unchanged; null removes the upper bound."""

    id: int
    minimum: strawberry.Maybe[MoneyAmount] = Field(description=f"The lower bound, inclusive. {CURRENCY_DESCRIPTION}")
    maximum: strawberry.Maybe[MoneyAmount | None] = Field(
        description=f"The upper bound, exclusive; null if unlimited. {CURRENCY_DESCRIPTION}"
    )

"""What is sent to make and to change how a marketplace sorts what its partners sell."""

from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.catalogue.taxonomy import Environment, PriceRange, Universe
from schema.core.ownership import MARKETPLACE
from schema.core.resource import Fields, TextInput, writable_as
from schema.core.text_input import line_up_to_each
from schema.validation.numbers import MoneyAmount, Ranking

Name = Annotated[TextInput, line_up_to_each(120)]
AMOUNT = "In the currency of the marketplace."


@writable_as(Universe)
class CreateUniverse(Fields):
    """A kind of experience."""

    marketplace_uuid: UUID | None = Field(default=None, description=MARKETPLACE)
    name: Name
    is_active: bool = True
    ranking: Ranking = 1


@writable_as(Universe)
class UpdateUniverse(Fields):
    """What is left out stays as it is."""

    id: int
    name: strawberry.Maybe[Name]
    is_active: strawberry.Maybe[bool]
    ranking: strawberry.Maybe[Ranking]


@writable_as(Environment)
class CreateEnvironment(Fields):
    """Where experiences happen."""

    marketplace_uuid: UUID | None = Field(default=None, description=MARKETPLACE)
    name: Name
    is_active: bool = True
    ranking: Ranking = 1


@writable_as(Environment)
class UpdateEnvironment(Fields):
    """What is left out stays as it is."""

    id: int
    name: strawberry.Maybe[Name]
    is_active: strawberry.Maybe[bool]
    ranking: strawberry.Maybe[Ranking]


@writable_as(PriceRange)
class CreatePriceRange(Fields):
    """A range of prices to choose from."""

    marketplace_uuid: UUID | None = Field(default=None, description=MARKETPLACE)
    name: Name
    minimum: MoneyAmount = Field(description=f"From this price on. {AMOUNT}")
    maximum: MoneyAmount | None = Field(
        default=None, description=f"Up to this price, itself left out; null: any. {AMOUNT}"
    )
    is_active: bool = True
    ranking: Ranking = 1


@writable_as(PriceRange)
class UpdatePriceRange(Fields):
    """What is left out stays as it is; null takes the upper end away."""

    id: int
    name: strawberry.Maybe[Name]
    minimum: strawberry.Maybe[MoneyAmount] = Field(description=f"From this price on. {AMOUNT}")
    maximum: strawberry.Maybe[MoneyAmount | None] = Field(
        description=f"Up to this price, itself left out; null: any. {AMOUNT}"
    )
    is_active: strawberry.Maybe[bool]
    ranking: strawberry.Maybe[Ranking]

"""The taxonomy of a marketplace: universes, environments and price ranges."""

from decimal import Decimal

import strawberry
from sqlmodel import Field

from schema.core.columns import id_column
from schema.core.money import money, money_column
from schema.core.ownership import marketplace_relation
from schema.core.resource import SchemaModel
from schema.core.text import Text, translated_text_column


@strawberry.pydantic.type(description="A kind of experience, such as spa or restaurant, defined per marketplace.")
class Universe(SchemaModel):
    id: int = id_column("The universe's id.")
    name: Text = translated_text_column("The name that customers see.")
    is_active: bool = Field(default=True, description="Whether new prototypes can use it.")
    ranking: int = Field(default=1, description="Its position in the list; lower values come first.")
    marketplace = marketplace_relation()


@strawberry.pydantic.type(
    description="The surroundings of an experience, such as sea or mountains, defined per marketplace."
)
class Environment(SchemaModel):
    id: int = id_column("The environment's id.")
    name: Text = translated_text_column("The name that customers see.")
    is_active: bool = Field(default=True, description="Whether new prototypes can use it.")
    ranking: int = Field(default=1, description="Its position in the list; lower values come first.")
    marketplace = marketplace_relation()


@strawberry.pydantic.type(description="A price range that customers can filter by, defined per marketplace.")
class PriceRange(SchemaModel):
    id: int = id_column("The price range's id.")
    name: Text = translated_text_column("The name that customers see.")
    minimum_amount: Decimal = money_column()
    minimum = money("minimum_amount", description="The lower bound, inclusive.")
    maximum_amount: Decimal | None = money_column(default=None, nullable=True)
    maximum = money("maximum_amount", description="The upper bound, exclusive; null if unlimited.", nullable=True)
    is_active: bool = Field(default=True, description="Whether customers can choose it.")
    ranking: int = Field(default=1, description="Its position in the list; lower values come first.")
    marketplace = marketplace_relation()

"""How a marketplace sorts what its partners sell: universes, environments, price ranges."""

import strawberry
from sqlmodel import Field

from schema.core.ownership import of_marketplace
from schema.core.resource import Fields, Text, money, text


@strawberry.pydantic.type(
    description="What kind of experience something is, the same for a whole marketplace: a spa, a table."
)
class Universe(Fields):
    """A kind of experience."""

    id: int = Field(description="Its id.")
    name: Text = text("What customers read.")
    is_active: bool = Field(default=True, description="Whether new prototypes can name it.")
    ranking: int = Field(default=1, description="Its place in the list, lowest first.")
    marketplace = of_marketplace()


@strawberry.pydantic.type(
    description="Where an experience happens, the same for a whole marketplace: the sea, the mountains."
)
class Environment(Fields):
    """Where an experience happens."""

    id: int = Field(description="Its id.")
    name: Text = text("What customers read.")
    is_active: bool = Field(default=True, description="Whether new prototypes can name it.")
    ranking: int = Field(default=1, description="Its place in the list, lowest first.")
    marketplace = of_marketplace()


@strawberry.pydantic.type(description="A range of prices that a marketplace lets its customers choose from.")
class PriceRange(Fields):
    """A range of prices."""

    id: int = Field(description="Its id.")
    name: Text = text("What customers read.")
    minimum = money("minimum_amount", description="From this price on.")
    maximum = money("maximum_amount", description="Up to this price, itself left out; null: any.", nullable=True)
    is_active: bool = Field(default=True, description="Whether customers can choose it.")
    ranking: int = Field(default=1, description="Its place in the list, lowest first.")
    marketplace = of_marketplace()

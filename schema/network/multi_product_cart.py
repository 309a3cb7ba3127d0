"""The multi-product cart: network products that an API client hands over to the checkout."""

import datetime as dt
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import BaseModel, Field

from schema.core.inputs import graphql_input
from schema.core.money import Money
from schema.core.resource import relation
from schema.gift_card.design import GiftCardDesign
from schema.network.box import Box
from schema.validation.numbers import AmountRule, RowId, WholeNumberRule

MOST_LINES = 20
"""The most lines of each kind."""
MOST_ALIKE = 100
"""The most gift cards or boxes of a line."""
MOST_PIECES = 200
"""The most gift cards and boxes of an order: each is issued while others wait for the number of their order."""

Amount = Annotated[Decimal, AmountRule(positive=True)]
Quantity = Annotated[int, WholeNumberRule(ge=1, le=MOST_ALIKE)]
QUANTITY = "How many alike, from 1 to 100."


@graphql_input
class MultiProductGiftCardInput(BaseModel):
    """Gift cards of the network in a multi-product cart."""

    amount: Amount = Field(description="The value of each, in the currency of the network.")
    quantity: Quantity = Field(1, description=QUANTITY)
    design_id: RowId | None = Field(None, description="The id of their design; null for none.")


@graphql_input
class MultiProductBoxInput(BaseModel):
    """Boxes of the network in a multi-product cart. Each is one network voucher."""

    box_id: RowId = Field(description="The id of the box.")
    quantity: Quantity = Field(1, description=QUANTITY)


@graphql_input
class MultiProductItemsInput(BaseModel):
    """The content of a multi-product cart: at least one gift card or box."""

    gift_cards: list[MultiProductGiftCardInput] = Field(
        default_factory=list,
        max_length=MOST_LINES,
        description="Gift cards of the network; with the boxes at most 20 lines.",
    )
    boxes: list[MultiProductBoxInput] = Field(
        default_factory=list,
        max_length=MOST_LINES,
        description="Boxes of the network; with the gift cards at most 20 lines.",
    )


@graphql_input
class CreateMultiProductCart(BaseModel):
    """Create a cart of network products, for the checkout of a shop."""

    partner_uuid: UUID = Field(
        description="The uuid of the partner in whose shop it is bought; or that of the marketplace, for the network's own "
        "shop."
    )
    items: MultiProductItemsInput = Field(description="What is in the cart.")


@strawberry.type(description="Gift cards of the network in a multi-product cart.")
class MultiProductGiftCard:
    amount: Money = strawberry.field(description="The value of each.")
    quantity: int = strawberry.field(description="How many alike.")
    design_id: int | None = strawberry.field(description="The id of their design; null for none.")
    marketplace_id: strawberry.Private[int]
    design = relation(
        GiftCardDesign,
        "design_id",
        "Their design; null for none.",
        nullable=True,
        scope_column="marketplace_id",
        field=strawberry.field,
    )


@strawberry.type(description="Boxes of the network in a multi-product cart.")
class MultiProductBox:
    box_id: int = strawberry.field(description="The id of the box.")
    quantity: int = strawberry.field(description="How many alike.")
    marketplace_id: strawberry.Private[int]
    box = relation(Box, "box_id", "The box.", nullable=True, scope_column="marketplace_id", field=strawberry.field)


@strawberry.type(description="The content of a multi-product cart.")
class MultiProductItems:
    gift_cards: list[MultiProductGiftCard] = strawberry.field(description="Gift cards of the network.")
    boxes: list[MultiProductBox] = strawberry.field(description="Boxes of the network.")


@strawberry.type(
    description="A cart of network products for the checkout of a shop. It expires two hours after it was created."
)
class MultiProductCart:
    id: UUID = strawberry.field(description="The cart's id.")
    partner_uuid: UUID = strawberry.field(description="The uuid of the partner or marketplace, as it was sent.")
    items: MultiProductItems = strawberry.field(description="What is in the cart.")
    checkout_url: str = strawberry.field(description="The URL of the checkout: redirect the customer's browser there.")
    expires_on: dt.datetime = strawberry.field(description="When the link expires, unless it was followed.")

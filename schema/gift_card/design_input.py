"""Inputs that create and update designs of gift cards."""

from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.core.inputs import graphql_input_for, update_input_of
from schema.core.ownership import MARKETPLACE_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.core.text import TextInput
from schema.core.text_input import line_per_language, text_per_language
from schema.gift_card.design import GiftCardDesign
from schema.gift_occasion import GiftOccasion
from schema.product.input import PicturePath
from schema.validation.colours import Colour
from schema.validation.numbers import Ranking

DesignName = Annotated[TextInput, line_per_language(120)]
DesignLine = Annotated[TextInput, line_per_language(200)]
DesignText = Annotated[TextInput, text_per_language(2000)]
DESIGN_PICTURE_DESCRIPTION = (
    "The URL of a picture of the partner, or of any partner of the network (`Media.coverUrl`), with or without scheme and "
    "host; empty for none: its documents then show a pattern in its colour."
)


@graphql_input_for(GiftCardDesign)
class CreateGiftCardDesign(SchemaModel):
    """Create a design of gift cards, of a partner or of a network."""

    partner_uuid: UUID | None = Field(
        default=None,
        description="The uuid of the partner whose own gift cards it is for; a partner's own users may omit it, others omit it "
        "for the gift cards of the network.",
    )
    marketplace_uuid: UUID | None = Field(default=None, description=MARKETPLACE_DESCRIPTION)
    name: DesignName
    occasion: GiftOccasion | None = None
    short_description: DesignLine | None = None
    description: DesignText | None = None
    picture_url: PicturePath = Field(default="", description=DESIGN_PICTURE_DESCRIPTION)
    accent_colour: Colour = "#1f4e5f"
    is_active: bool = True
    ranking: Ranking = 1


@update_input_of(CreateGiftCardDesign, without={"partner_uuid", "marketplace_uuid"})
class UpdateGiftCardDesign(SchemaModel):
    """Update a design. Omitted fields stay unchanged; null clears."""

    id: int
    picture_url: strawberry.Maybe[PicturePath] = Field(description=DESIGN_PICTURE_DESCRIPTION)

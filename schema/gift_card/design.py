"""Designs of gift cards, of a partner or of a network: what customers choose from."""

import strawberry
from sqlmodel import Field

from schema.core.columns import enum_column, id_column
from schema.core.derived import derived
from schema.core.ownership import marketplace_relation, partner_relation
from schema.core.resource import SchemaModel
from schema.core.text import Text, translated_text_column
from schema.gift_occasion import GiftOccasion


@strawberry.pydantic.type(
    description="A design of gift cards, of a partner or of a network: a theme, such as a birthday, with its picture and its "
    "colour."
)
class GiftCardDesign(SchemaModel):
    id: int = id_column("The design's id.")
    name: Text = translated_text_column("The theme that customers see.")
    occasion: GiftOccasion | None = enum_column(
        GiftOccasion,
        "What it is for: customers find the designs of an occasion together. Null for any occasion.",
        default=None,
        nullable=True,
    )
    short_description: Text = translated_text_column("A line about it; its document shows it.")
    description: Text = translated_text_column("A longer description, for the page where customers choose.")
    picture_address = derived(
        str, ("picture_url",), "The URL of its picture, on this service; empty if none.", name="pictureUrl"
    )
    accent_colour: str = Field(
        default="#1f4e5f",
        max_length=7,
        description="The colour of its documents and mail, `#rrggbb`. Text in or on this colour uses a readable shade.",
    )
    is_active: bool = Field(default=True, description="Whether new gift cards can have it.")
    ranking: int = Field(default=1, description="Its position in the list; lower values come first.")
    marketplace = marketplace_relation("The network that it belongs to, or that its partner belongs to.")
    partner = partner_relation(
        "The partner whose own gift cards it is for; null for those of the network.", nullable=True
    )

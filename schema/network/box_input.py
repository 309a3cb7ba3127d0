"""Inputs about boxes and offers."""

import datetime as dt
from decimal import Decimal
from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.catalogue.prototype_input import COVER_DESCRIPTION, Description, ImageIds, LongText, Name, Position
from schema.core.inputs import graphql_input_for, update_input_of
from schema.core.ownership import MARKETPLACE_DESCRIPTION, PARTNER_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.network.box import Box, Offer
from schema.product.input import Count
from schema.validation.characters import multiline_up_to
from schema.validation.contact import EmptyToNone
from schema.validation.numbers import CENT, LARGEST_AMOUNT, AmountRule, Ranking, RowId, WholeNumberRule

MOST_USAGES, MOST_PERSONS, MOST_DAYS, MOST_PARTNERS = 999, 999, 3650, 1000
IMAGES_DESCRIPTION = "The ids of its pictures, in order; media of partners of the marketplace, without duplicates."
PARTNERS_DESCRIPTION = (
    "The uuids of the partners whose offers it admits, without duplicates; empty for every partner that takes part in the "
    "vouchers of its network."
)
PRODUCT_DESCRIPTION = "The id of a prototype of the partner; null for none."

PositiveAmount = Annotated[Decimal, AmountRule(ge=CENT, le=LARGEST_AMOUNT)]
Persons = Annotated[int, WholeNumberRule(ge=1, le=MOST_PERSONS)]
Usages = Annotated[int, WholeNumberRule(ge=1, le=MOST_USAGES)]
Days = Annotated[int, WholeNumberRule(ge=0, le=MOST_DAYS)]
OptionalId = Annotated[RowId | None, EmptyToNone]
PartnerUuids = Annotated[list[UUID], Field(max_length=MOST_PARTNERS)]


@graphql_input_for(Box)
class CreateBox(SchemaModel):
    """Create a box. Its name needs at least one language."""

    marketplace_uuid: UUID | None = Field(default=None, description=MARKETPLACE_DESCRIPTION)
    name: Name
    short_description: Description | None = None
    long_description: LongText | None = None
    is_active: bool = False
    is_highlight: bool = False
    price: PositiveAmount = Field(description="The price, VAT included, in the marketplace's currency; more than 0.")
    weight_grams: Count = 0
    price_scope: Persons = 1
    max_usages: Usages = 1
    max_days_after_first_usage: Days = 0
    ranking: Ranking = 1
    price_range_id: OptionalId = None
    image_ids: ImageIds = Field(default_factory=list, description=IMAGES_DESCRIPTION)
    cover_image: Position = Field(default=1, description=COVER_DESCRIPTION)
    partner_uuids: PartnerUuids = Field(default_factory=list, description=PARTNERS_DESCRIPTION)


@update_input_of(CreateBox, without={"marketplace_uuid"})
class UpdateBox(SchemaModel):
    """Update a box. Omitted fields stay unchanged; null clears."""

    id: int
    image_ids: strawberry.Maybe[ImageIds] = Field(description=IMAGES_DESCRIPTION)
    cover_image: strawberry.Maybe[Position] = Field(description=COVER_DESCRIPTION)
    partner_uuids: strawberry.Maybe[PartnerUuids] = Field(description=PARTNERS_DESCRIPTION)


@graphql_input_for(Offer)
class CreateOffer(SchemaModel):
    """Create an offer of a partner, as a draft. Its name needs at least one language."""

    partner_uuid: UUID | None = Field(default=None, description=PARTNER_DESCRIPTION)
    box_id: RowId
    name: Name
    description: Description | None = None
    terms_of_use: LongText | None = None
    product_id: OptionalId = Field(default=None, description=PRODUCT_DESCRIPTION)
    is_active: bool = True
    ranking: Ranking = 1


@update_input_of(CreateOffer, without={"partner_uuid", "box_id"})
class UpdateOffer(SchemaModel):
    """Update an offer. Omitted fields stay unchanged; null clears."""

    id: int


@graphql_input_for(Offer)
class SubmitOffer(SchemaModel):
    """Submit an offer to the marketplace."""

    id: int


@graphql_input_for(Offer)
class AcceptOffer(SchemaModel):
    """Accept an offer."""

    id: int
    edited_on: dt.datetime | None = Field(
        default=None,
        description="The `editedOn` of the offer as you have read it. If it has changed since, the acceptance is refused "
        "with `OFFER_CHANGED`.",
    )


@graphql_input_for(Offer)
class RejectOffer(SchemaModel):
    """Reject an offer."""

    id: int
    reason: Annotated[str, multiline_up_to(1000)] = Field(default="", description="Why, for the partner.")

"""Inputs that create and update prototypes."""

from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.catalogue.prototype import VoucherPrototype, VoucherPrototypeType
from schema.core.inputs import graphql_input_for, update_input_of
from schema.core.ownership import FIXED_PARTNER_DESCRIPTION, PARTNER_DESCRIPTION
from schema.core.resource import SchemaModel
from schema.core.text import TextInput
from schema.core.text_input import html_per_language, line_per_language, text_per_language
from schema.product.input import STANDARD_VAT, VatRate
from schema.validation.contact import EmptyToNone
from schema.validation.dates import OptionalDay
from schema.validation.numbers import MoneyAmount, Ranking, RowId, WholeNumberRule
from schema.validation.slugs import Slug

MOST_PERSONS, MOST_NIGHTS, MOST_MONTHS, MOST_IMAGES = 999, 365, 120, 30
LONGEST_NAME, LONGEST_DESCRIPTION, LONGEST_TEXT, LONGEST_PDF_DESCRIPTION = 200, 2000, 10_000, 300
IMAGES_DESCRIPTION = "The ids of its pictures, in order; media of the same partner, without duplicates."
COVER_DESCRIPTION = (
    "The position of the cover among its pictures, from 1. If there are fewer pictures and no "
    "cover is sent, it becomes the first."
)
SLUG_DESCRIPTION = (
    "Its name in the address of its page, unique among those of its partner: lower-case letters, digits and hyphens. By "
    "default it is made from the name. The addresses with its former slugs redirect to the page."
)
NIGHTS_DESCRIPTION = (
    "The number of nights: exact for a fixed stay, the minimum for a stay; 1 by default. `STANDARD` has 0."
)


Name = Annotated[TextInput, line_per_language(LONGEST_NAME)]
Description = Annotated[TextInput, text_per_language(LONGEST_DESCRIPTION)]
LongText = Annotated[TextInput, text_per_language(LONGEST_TEXT)]
Html = Annotated[TextInput, html_per_language(LONGEST_TEXT)]
PdfDescription = Annotated[TextInput, text_per_language(LONGEST_PDF_DESCRIPTION)]
PositivePersons = Annotated[int, WholeNumberRule(ge=1, le=MOST_PERSONS)]
Persons = Annotated[int, WholeNumberRule(ge=0, le=MOST_PERSONS)]
Nights = Annotated[int, WholeNumberRule(ge=0, le=MOST_NIGHTS)]
Months = Annotated[int, WholeNumberRule(ge=1, le=MOST_MONTHS)]
Position = Annotated[int, WholeNumberRule(ge=1, le=MOST_IMAGES)]
ImageIds = Annotated[list[RowId], Field(max_length=MOST_IMAGES)]
OptionalPrice = Annotated[MoneyAmount | None, EmptyToNone]
OptionalId = Annotated[RowId | None, EmptyToNone]


@graphql_input_for(VoucherPrototype)
class CreateVoucherPrototype(SchemaModel):
    """Create a prototype. Name, description and long description need at least one language."""

    partner_uuid: UUID | None = Field(default=None, description=PARTNER_DESCRIPTION)
    name: Name
    slug: Slug | None = Field(default=None, description=SLUG_DESCRIPTION)
    is_active: bool = False
    type: VoucherPrototypeType
    is_highlight: bool = False
    price_scope: PositivePersons = 1
    max_capacity: Persons = 0
    min_capacity: Persons = 1
    nb_nights: Nights | None = Field(default=None, description=NIGHTS_DESCRIPTION)
    stay_price: MoneyAmount
    adults_price: OptionalPrice = None
    children_price: OptionalPrice = None
    baby_price: OptionalPrice = None
    vat_rate: VatRate = STANDARD_VAT
    description: Description
    long_description: LongText
    rent_conditions: LongText | None = None
    how_to_book_html: Html | None = None
    pdf_description: PdfDescription | None = None
    universe_id: RowId
    environment_id: OptionalId = None
    validity_months: Months = 12
    last_active_day: OptionalDay = None
    ranking: Ranking = 1
    image_ids: ImageIds = Field(default_factory=list, description=IMAGES_DESCRIPTION)
    cover_image: Position = Field(default=1, description=COVER_DESCRIPTION)


@update_input_of(CreateVoucherPrototype)
class UpdateVoucherPrototype(SchemaModel):
    """Update a prototype. Omitted fields stay unchanged; null clears. Sold vouchers keep their texts."""

    id: int
    partner_uuid: strawberry.Maybe[UUID] = Field(description=FIXED_PARTNER_DESCRIPTION)
    slug: strawberry.Maybe[Slug] = Field(description=SLUG_DESCRIPTION)
    type: strawberry.Maybe[VoucherPrototypeType]
    max_capacity: strawberry.Maybe[Persons]
    min_capacity: strawberry.Maybe[Persons]
    nb_nights: strawberry.Maybe[Nights] = Field(description=NIGHTS_DESCRIPTION)
    image_ids: strawberry.Maybe[ImageIds] = Field(description=IMAGES_DESCRIPTION)
    cover_image: strawberry.Maybe[Position] = Field(description=COVER_DESCRIPTION)

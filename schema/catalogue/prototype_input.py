"""What is sent to make and to change prototypes."""

from typing import Annotated
from uuid import UUID

import strawberry
from pydantic import Field

from schema.catalogue.prototype import VoucherPrototype, VoucherPrototypeType
from schema.core.ownership import FOR_WHOM, STAYS
from schema.core.resource import Fields, TextInput, writable_as
from schema.core.text_input import html_up_to_each, line_up_to_each, up_to_each
from schema.product.input import STANDARD_VAT, VatRate
from schema.validation.contact import EmptyIsNothing
from schema.validation.dates import MaybeDay
from schema.validation.numbers import MoneyAmount, Ranking, RowId, Whole

MOST_PERSONS, MOST_NIGHTS, MOST_MONTHS, MOST_IMAGES = 999, 365, 120, 30
LONGEST_NAME, LONGEST_DESCRIPTION, LONGEST_TEXT, LONGEST_PDF_DESCRIPTION = 200, 2000, 10_000, 300
IMAGES = "Its pictures, in their order: ids of media of its partner, each once."
COVER = "Which of its pictures is its cover, by position from 1. When there are fewer, the first is, unless told."
NIGHTS = "All of a fixed stay, the fewest of a stay: 1 unless told. What is standard has none."


Name = Annotated[TextInput, line_up_to_each(LONGEST_NAME)]
Description = Annotated[TextInput, up_to_each(LONGEST_DESCRIPTION)]
LongText = Annotated[TextInput, up_to_each(LONGEST_TEXT)]
Html = Annotated[TextInput, html_up_to_each(LONGEST_TEXT)]
PdfDescription = Annotated[TextInput, up_to_each(LONGEST_PDF_DESCRIPTION)]
SomePersons = Annotated[int, Whole(ge=1, le=MOST_PERSONS)]
Persons = Annotated[int, Whole(ge=0, le=MOST_PERSONS)]
Nights = Annotated[int, Whole(ge=0, le=MOST_NIGHTS)]
Months = Annotated[int, Whole(ge=1, le=MOST_MONTHS)]
Position = Annotated[int, Whole(ge=1, le=MOST_IMAGES)]
Images = Annotated[list[RowId], Field(max_length=MOST_IMAGES)]
MaybePrice = Annotated[MoneyAmount | None, EmptyIsNothing]
MaybeId = Annotated[RowId | None, EmptyIsNothing]


@writable_as(VoucherPrototype)
class CreateVoucherPrototype(Fields):
    """An experience to sell. Name, description and long description are said in at least one language."""

    partner_uuid: UUID | None = Field(default=None, description=FOR_WHOM)
    name: Name
    is_active: bool = False
    type: VoucherPrototypeType
    is_highlight: bool = False
    price_scope: SomePersons = 1
    max_capacity: Persons = 0
    min_capacity: Persons = 1
    nb_nights: Nights | None = Field(default=None, description=NIGHTS)
    stay_price: MoneyAmount
    adults_price: MaybePrice = None
    children_price: MaybePrice = None
    baby_price: MaybePrice = None
    vat_rate: VatRate = STANDARD_VAT
    description: Description
    long_description: LongText
    rent_conditions: LongText | None = None
    how_to_book_html: Html | None = None
    pdf_description: PdfDescription | None = None
    universe_id: RowId
    environment_id: MaybeId = None
    validity_months: Months = 12
    last_active_day: MaybeDay = None
    ranking: Ranking = 1
    image_ids: Images = Field(default_factory=list, description=IMAGES)
    cover_image: Position = Field(default=1, description=COVER)


@writable_as(VoucherPrototype)
class UpdateVoucherPrototype(Fields):
    """What is left out stays as it is; null clears. Vouchers that were sold keep what was said of it on their day."""

    id: int
    partner_uuid: strawberry.Maybe[UUID] = Field(description=STAYS)
    name: strawberry.Maybe[Name]
    is_active: strawberry.Maybe[bool]
    type: strawberry.Maybe[VoucherPrototypeType]
    is_highlight: strawberry.Maybe[bool]
    price_scope: strawberry.Maybe[SomePersons]
    max_capacity: strawberry.Maybe[Persons]
    min_capacity: strawberry.Maybe[Persons]
    nb_nights: strawberry.Maybe[Nights] = Field(description=NIGHTS)
    stay_price: strawberry.Maybe[MoneyAmount]
    adults_price: strawberry.Maybe[MaybePrice]
    children_price: strawberry.Maybe[MaybePrice]
    baby_price: strawberry.Maybe[MaybePrice]
    vat_rate: strawberry.Maybe[VatRate]
    description: strawberry.Maybe[Description]
    long_description: strawberry.Maybe[LongText]
    rent_conditions: strawberry.Maybe[LongText]
    how_to_book_html: strawberry.Maybe[Html]
    pdf_description: strawberry.Maybe[PdfDescription]
    universe_id: strawberry.Maybe[RowId]
    environment_id: strawberry.Maybe[MaybeId]
    validity_months: strawberry.Maybe[Months]
    last_active_day: strawberry.Maybe[MaybeDay]
    ranking: strawberry.Maybe[Ranking]
    image_ids: strawberry.Maybe[Images] = Field(description=IMAGES)
    cover_image: strawberry.Maybe[Position] = Field(description=COVER)

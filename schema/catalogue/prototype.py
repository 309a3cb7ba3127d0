"""Voucher prototypes: the experiences that a partner sells as vouchers."""

import datetime as dt
from decimal import Decimal

import strawberry
from sqlmodel import Field

from schema.catalogue.option import VoucherOptionLink
from schema.catalogue.taxonomy import Environment, Universe
from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.money import money, money_column
from schema.core.ownership import partner_relation
from schema.core.resource import SchemaModel, computed, relation, relations
from schema.core.text import Text, translated_text_column
from schema.media import Media
from schema.product.product import vat_rate_column
from schema.validation.slugs import LONGEST_SLUG


@graphql_enum
class VoucherPrototypeType(DescribedEnum):
    """How the price of an experience is calculated."""

    STAY = "stay", "Per night: the buyer chooses the number of nights."
    STANDARD = "standard", "Without nights, such as a meal or a treatment."
    FIXED_STAY = "fixed_stay", "A stay with a fixed number of nights, at one price."


@strawberry.pydantic.type(description="A picture of a prototype, with its position.")
class PrototypeImage(SchemaModel):
    id: int = id_column("The row's id.")
    position: int = Field(description="Its position, from 1.")
    media_id: int = Field(foreign_key="media.id", description="The picture's id.")
    media = relation(Media, by="media_id", description="The picture.")
    partner = partner_relation()


@strawberry.pydantic.type(description="An experience that a partner sells; vouchers are created from it.")
class VoucherPrototype(SchemaModel):
    id: int = id_column("The prototype's id.")
    name: Text = translated_text_column("The name that customers see.")
    slug: str = Field(
        max_length=LONGEST_SLUG, description="Its name in the address of its page, unique among those of its partner."
    )
    description: Text = translated_text_column("A short description.")
    long_description: Text = translated_text_column("The full description.")
    rent_conditions: Text = translated_text_column("The conditions for using a voucher.")
    how_to_book_html: Text = translated_text_column("How to book, as sanitized HTML that is safe to display.")
    pdf_description: Text = translated_text_column(
        "The description on the printed voucher, at most 300 characters per language."
    )
    is_active: bool = Field(default=False, description="Whether it is on sale.")
    type: VoucherPrototypeType = enum_column(VoucherPrototypeType, "How its price is calculated.")
    is_highlight: bool = Field(default=False, description="Whether it is shown first.")
    price_scope: int = Field(default=1, description="The number of persons included in the price.")
    max_capacity: int = Field(default=0, description="The maximum number of persons; 0 for any number.")
    min_capacity: int = Field(default=1, description="The minimum number of persons.")
    nb_nights: int = Field(
        default=0, description="The number of nights: exact for a fixed stay, the minimum for a stay, 0 without nights."
    )
    stay_price_amount: Decimal = money_column()
    stay_price = money("stay_price_amount", description="The price, VAT included; for a stay, per night.")
    adults_price_amount: Decimal | None = money_column(default=None, nullable=True)
    adults_price = money(
        "adults_price_amount", description="The price of an additional adult; null if not sold.", nullable=True
    )
    children_price_amount: Decimal | None = money_column(default=None, nullable=True)
    children_price = money(
        "children_price_amount", description="The price of an additional child; null if not sold.", nullable=True
    )
    baby_price_amount: Decimal | None = money_column(default=None, nullable=True)
    baby_price = money(
        "baby_price_amount", description="The price of an additional baby; null if not sold.", nullable=True
    )
    vat_rate: Decimal = vat_rate_column()
    validity_months: int = Field(default=12, description="The validity of its vouchers in months, from the sale.")
    last_active_day: dt.date | None = Field(default=None, description="The last day it is on sale; null if unlimited.")
    ranking: int = Field(default=1, description="Its position in the checkout; lower values come first.")
    cover_image: int = Field(default=1, description="The position of the cover among its pictures, from 1.")
    nb_orders: int = Field(default=0, description="The number of vouchers sold.")
    universe_id: int = Field(foreign_key="universe.id", index=True, description="The id of its universe.")
    environment_id: int | None = Field(
        default=None, foreign_key="environment.id", index=True, description="The id of its environment; null if none."
    )
    universe = relation(Universe, by="universe_id", description="Its universe.")
    environment = relation(
        Environment, by="environment_id", description="Its environment; null if none.", nullable=True
    )
    partner = partner_relation()
    url = computed(str, "The URL of its page in its partner's shop. After it left the sale the page says so.")
    cover = computed(Media, "The cover picture, at position `coverImage`; null if there is none.")
    images = relations(PrototypeImage, by="voucher_prototype_id", description="Its pictures.", order="position")
    option_links = relations(
        VoucherOptionLink,
        by="voucher_prototype_id",
        description="Its linked options, by ranking. Options available for all prototypes are not included.",
        order="option.ranking",
    )
    created_on: dt.datetime = datetime_column("When it was created.")
    updated_on: dt.datetime = datetime_column("When it was last updated.")

"""What a voucher is made from: an experience as a partner sells it."""

import datetime as dt
from decimal import Decimal

import strawberry
from sqlmodel import Field

from schema.catalogue.option import VoucherOptionLink
from schema.catalogue.taxonomy import Environment, Universe
from schema.core.ownership import of_partner
from schema.core.resource import (
    ClosedSet,
    Fields,
    Text,
    choice,
    closed_set,
    computed,
    moment,
    money,
    relation,
    relations,
    text,
)
from schema.media import Media
from schema.product.product import vat_rate


@closed_set
class VoucherPrototypeType(ClosedSet):
    """How the price of an experience comes about."""

    STAY = "stay", "By the night: the buyer chooses how many."
    STANDARD = "standard", "No nights: a meal, a treatment."
    FIXED_STAY = "fixed_stay", "A stay of so many nights, at one price."


@strawberry.pydantic.type(description="A picture of a prototype, at its place.")
class PrototypeImage(Fields):
    """A picture of a prototype."""

    id: int = Field(description="Its id.")
    position: int = Field(description="Its place, from 1.")
    media_id: int = Field(description="The picture.")
    media = relation(Media, by="media_id", description="The picture.")
    partner = of_partner()


@strawberry.pydantic.type(description="An experience as a partner sells it: what vouchers are made from.")
class VoucherPrototype(Fields):
    """An experience as a partner sells it."""

    id: int = Field(description="Its id.")
    name: Text = text("What customers read.")
    description: Text = text("A few lines about it.")
    long_description: Text = text("All about it.")
    rent_conditions: Text = text("What using a voucher is subject to.")
    how_to_book_html: Text = text("How to book, as HTML that was cleaned: it can be shown as it is.")
    pdf_description: Text = text("What the printed voucher says of it, at most 300 characters a language.")
    is_active: bool = Field(default=False, description="Whether it is sold.")
    type: VoucherPrototypeType = choice(VoucherPrototypeType, "How its price comes about.")
    is_highlight: bool = Field(default=False, description="Whether it is shown first.")
    price_scope: int = Field(default=1, description="How many persons the price applies to.")
    max_capacity: int = Field(default=0, description="The most persons; 0: any number.")
    min_capacity: int = Field(default=1, description="The fewest persons.")
    nb_nights: int = Field(
        default=0, description="Nights: all of a fixed stay, the fewest of a stay; 0 for what has none."
    )
    stay_price = money("stay_price_amount", description="What it costs; of a stay, a night. VAT included.")
    adults_price = money(
        "adults_price_amount", description="An adult more than the price is for; null: not sold.", nullable=True
    )
    children_price = money(
        "children_price_amount", description="A child more than the price is for; null: not sold.", nullable=True
    )
    baby_price = money(
        "baby_price_amount", description="A baby more than the price is for; null: not sold.", nullable=True
    )
    vat_rate: Decimal = vat_rate()
    validity_months: int = Field(default=12, description="How many months a voucher is valid from its sale.")
    last_active_day: dt.date | None = Field(default=None, description="The last day it is sold; null: no end.")
    ranking: int = Field(default=1, description="Its place in the funnel, lowest first.")
    cover_image: int = Field(default=1, description="Which of its pictures is its cover, by position from 1.")
    nb_orders: int = Field(default=0, description="How many vouchers of it were sold.")
    universe_id: int = Field(description="Its universe.")
    environment_id: int | None = Field(default=None, description="Its environment; null: none.")
    universe = relation(Universe, by="universe_id", description="Its universe.")
    environment = relation(Environment, by="environment_id", description="Its environment.", nullable=True)
    partner = of_partner()
    cover = computed(Media, "Its cover: the picture at the place that `coverImage` says; null: it has none.")
    images = relations(PrototypeImage, by="voucher_prototype_id", description="Its pictures.", order="position")
    option_links = relations(
        VoucherOptionLink,
        by="voucher_prototype_id",
        description="Its options, best ranked first; those that go with all prototypes are not among them.",
        order="option.ranking",
    )
    created_on: dt.datetime = moment("When it was made.")
    updated_on: dt.datetime = moment("When it last changed.")

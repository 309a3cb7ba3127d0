"""Boxes, which a marketplace sells, and the offers with which its partners accept their vouchers."""

import datetime as dt
from decimal import Decimal

import strawberry
from sqlmodel import Field

from schema.catalogue.prototype import VoucherPrototype
from schema.catalogue.taxonomy import PriceRange
from schema.core.columns import DescribedEnum, datetime_column, enum_column, graphql_enum, id_column
from schema.core.field_permission import FieldPermission
from schema.core.money import money, money_column
from schema.core.ownership import marketplace_relation, partner_relation
from schema.core.permission import Permission
from schema.core.resource import SchemaModel, computed, relation, relations
from schema.core.text import Text, translated_text_column
from schema.media import Media

OFFER_PERMISSION = FieldPermission(Permission.VIEW_CATALOGUE)
"""Limits a field to callers who may see the catalogue of the partner that offers."""


@graphql_enum
class OfferStatus(DescribedEnum):
    """How far an offer is."""

    DRAFT = "DRAFT", "The partner is writing it."
    SUBMITTED = "SUBMITTED", "The partner has submitted it, and the marketplace has not decided yet."
    ACCEPTED = (
        "ACCEPTED",
        "The marketplace has accepted it: while it is active, the partner accepts the box's vouchers.",
    )
    REJECTED = "REJECTED", "The marketplace has rejected it; the partner may change it and submit it again."


@strawberry.pydantic.type(description="A picture of a box, with its position.")
class BoxImage(SchemaModel):
    id: int = id_column("The row's id.")
    position: int = Field(description="Its position, from 1.")
    is_cover: bool = Field(default=False, description="Whether it is the cover.")
    media_id: int = Field(foreign_key="media.id", description="The picture's id.")
    media = relation(Media, by="media_id", description="The picture.")


@strawberry.pydantic.type(description="A partner that a box is limited to.")
class BoxPartner(SchemaModel):
    id: int = id_column("The row's id.")
    partner = partner_relation("The partner.")


@strawberry.pydantic.type(description="What partners offer for a box: a prototype of its accepted, active offers.")
class BoxProduct(SchemaModel):
    id: int = Field(description="The prototype's id.")
    name: Text = Field(description="The prototype's name.")
    price_range_id: int | None = Field(
        description="The id of the active price range of the marketplace that its lowest price is in; null if of none."
    )
    price_range = relation(PriceRange, "price_range_id", "The price range; null if it is in none.", nullable=True)


@strawberry.pydantic.type(
    description="A box that a marketplace sells, such as a spa day for two. Its buyer gets a network voucher, which any "
    "partner with an accepted, active offer for the box accepts."
)
class Box(SchemaModel):
    id: int = id_column("The box's id.")
    name: Text = translated_text_column("The name that customers see.")
    short_description: Text = translated_text_column("A short description.")
    long_description: Text = translated_text_column("The full description.")
    is_active: bool = Field(default=False, description="Whether it is on sale. Vouchers already sold stay valid.")
    is_highlight: bool = Field(default=False, description="Whether it is shown first.")
    price_amount: Decimal = money_column()
    price = money("price_amount", description="The price, VAT included.")
    weight_grams: int = Field(default=0, description="The weight in grams, for delivery prices.")
    price_scope: int = Field(default=1, description="The number of persons included in the price.")
    max_usages: int = Field(default=1, description="How often one of its vouchers can be used.")
    max_days_after_first_usage: int = Field(
        default=0, description="How many days after the first usage its vouchers can still be used; 0 for any number."
    )
    orders_count: int = Field(default=0, description="The number of orders with its vouchers.")
    ranking: int = Field(default=1, description="Its position in lists by ranking; lower values come first.")
    price_range_id: int | None = Field(
        default=None, foreign_key="price_range.id", description="The id of its price range; null if none."
    )
    created_on: dt.datetime = datetime_column("When it was created.")
    updated_on: dt.datetime = datetime_column("When it was last updated.")
    price_range = relation(PriceRange, "price_range_id", "Its price range; null if none.", nullable=True)
    images = relations(BoxImage, "box_id", "Its pictures.", order="position")
    allowed_partners = relations(
        BoxPartner,
        "box_id",
        "The partners whose offers it admits, by id; empty if it admits every partner that takes part in the vouchers of "
        "its network.",
        order="partner_id",
    )
    products = computed(
        list[BoxProduct],
        "The prototypes of its accepted, active offers of partners that it admits, each once, by ranking of the offers.",
    )
    offers = computed(
        "schema.network.box:Offer",
        "Its newest offers that you may see, at most 100, newest first. `offers` with a filter by `boxId` lists all.",
        many=True,
    )
    marketplace = marketplace_relation()


@strawberry.pydantic.type(description="What a partner offers for the vouchers of a box.")
class Offer(SchemaModel):
    id: int = id_column("The offer's id.")
    name: Text = translated_text_column("The name that customers see.")
    description: Text = translated_text_column("What the holder of a voucher gets.")
    terms_of_use: Text = translated_text_column("The terms of use.")
    status: OfferStatus = enum_column(OfferStatus, "How far it is.", default=OfferStatus.DRAFT)
    is_active: bool = Field(default=True, description="Whether it counts once it is accepted; not if it is withdrawn.")
    ranking: int = Field(default=1, description="Its position among the offers of the box; lower values come first.")
    created_on: dt.datetime = datetime_column("When it was created.")
    edited_on: dt.datetime = datetime_column("When anything but `isActive` was last changed.")
    submitted_on: dt.datetime | None = datetime_column(
        "When it was last submitted; null if never.", default=None, nullable=True
    )
    accepted_on: dt.datetime | None = datetime_column(
        "When it was accepted; null if it is not.", default=None, nullable=True
    )
    rejected_on: dt.datetime | None = datetime_column(
        "When it was last rejected; null if never, or if it was accepted since.", default=None, nullable=True
    )
    rejection_reason: str = Field(
        default="", max_length=1000, description="Why it was last rejected; empty if there is no reason."
    )
    box_id: int = Field(foreign_key="box.id", description="The id of the box.")
    product_id: int | None = Field(
        default=None,
        foreign_key="voucher_prototype.id",
        description="The id of the prototype that it offers; null if none.",
    )
    box = relation(Box, "box_id", "The box.")
    product = relation(
        VoucherPrototype,
        "product_id",
        "The prototype that it offers; null if none, and for callers who may not see it.",
        nullable=True,
        field_permission=OFFER_PERMISSION,
    )
    partner = partner_relation("The partner that offers it.")
    marketplace = marketplace_relation("The marketplace of the box and of the partner.")

"""The tables of boxes and their pictures, of the partners that they are limited to, and of offers."""

from sqlalchemy import CheckConstraint, Index, UniqueConstraint
from sqlmodel import Field

from schema.network.box import Box, BoxImage, BoxPartner, Offer
from store.core.row import CreatedOn, InCurrency, PartnerIndexed, PartnerOwned, UpdatedOn


class BoxRow(InCurrency, CreatedOn, UpdatedOn, Box, table=True):
    """A box. `orders_count` is incremented in the transaction that completes an order with its vouchers."""

    __tablename__ = "box"
    __table_args__ = (
        Index("box_created_on_list_idx", "marketplace_id", "created_on", "id"),
        Index("box_ranking_list_idx", "marketplace_id", "ranking", "id"),
        Index("box_price_amount_list_idx", "marketplace_id", "price_amount", "id"),
        CheckConstraint("price_amount > 0", name="price_positive"),
        CheckConstraint(
            "weight_grams >= 0 AND price_scope >= 1 AND max_usages >= 1 AND max_days_after_first_usage >= 0",
            name="numbers_in_range",
        ),
    )
    marketplace_id: int = Field(foreign_key="marketplace.id")


class BoxImageRow(BoxImage, table=True):
    __tablename__ = "box_image"
    __table_args__ = (
        UniqueConstraint("box_id", "position", name="box_image_position_key"),
        Index("box_image_media_idx", "media_id"),
        Index("box_image_cover_key", "box_id", unique=True, postgresql_where="is_cover"),
    )
    box_id: int = Field(foreign_key="box.id")


class BoxPartnerRow(PartnerIndexed, BoxPartner, table=True):
    """A partner that a box is limited to. A box without one admits every partner of its marketplace."""

    __tablename__ = "box_partner"
    __table_args__ = (UniqueConstraint("box_id", "partner_id", name="box_partner_key"),)
    box_id: int = Field(foreign_key="box.id")


class OfferRow(PartnerOwned, CreatedOn, Offer, table=True):
    """An offer. Its marketplace is that of the partner and of the box."""

    __tablename__ = "offer"
    __table_args__ = (
        Index("offer_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("offer_ranking_list_idx", "partner_id", "ranking", "id"),
        Index("offer_newest_of_marketplace_idx", "marketplace_id", "created_on", "id"),
        Index("offer_ranking_of_marketplace_idx", "marketplace_id", "ranking", "id"),
        Index("offer_newest_of_box_idx", "box_id", "created_on", "id"),
    )
    marketplace_id: int = Field(foreign_key="marketplace.id")

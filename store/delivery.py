"""The tables of delivery modes and rates."""

from sqlalchemy import CheckConstraint, Index, UniqueConstraint
from sqlmodel import Field

from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken
from schema.delivery.delivery import DeliveryMode, DeliveryRate
from store.core.row import InCurrency, PartnerIndexed, UpdatedOn


class DeliveryModeRow(PartnerIndexed, InCurrency, UpdatedOn, DeliveryMode, table=True):
    __tablename__ = "delivery_mode"
    __table_args__ = (Index("delivery_mode_ranking_list_idx", "partner_id", "ranking", "id"),)


class DeliveryRateRow(PartnerIndexed, InCurrency, DeliveryRate, table=True):
    """A shipping rate of a delivery mode: one for each country and weight limit."""

    __tablename__ = "delivery_rate"
    __table_args__ = (
        UniqueConstraint(
            "delivery_mode_id",
            "country",
            "max_weight_grams",
            name="delivery_rate_band_key",
            postgresql_nulls_not_distinct=True,
        ),
        CheckConstraint("price_amount >= 0", name="price_not_negative"),
    )
    delivery_mode_id: int = Field(foreign_key="delivery_mode.id", index=True)


CONSTRAINT_ERRORS["delivery_rate_band_key"] = lambda: AlreadyTaken("rates", what="country and weight")

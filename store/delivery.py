"""The tables of delivery modes and rates."""

import datetime as dt
from decimal import Decimal

from sqlalchemy import CheckConstraint, Index, UniqueConstraint
from sqlmodel import Field

from schema.core.columns import amount_column, datetime_column
from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken
from schema.delivery.delivery import DeliveryMode, DeliveryRate
from store.core.clock import now


class DeliveryModeRow(DeliveryMode, table=True):
    __tablename__ = "delivery_mode"
    __table_args__ = (Index("delivery_mode_ranking_list_idx", "partner_id", "ranking", "id"),)
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    free_above_amount: Decimal | None = amount_column(default=None, nullable=True)
    currency: str = Field(default="EUR", max_length=3)
    updated_on: dt.datetime = datetime_column(
        "When it last changed.", default_factory=now, sa_column_kwargs={"onupdate": now}
    )


class DeliveryRateRow(DeliveryRate, table=True):
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
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    delivery_mode_id: int = Field(foreign_key="delivery_mode.id", index=True)
    price_amount: Decimal = amount_column()
    currency: str = Field(default="EUR", max_length=3)


CONSTRAINT_ERRORS["delivery_rate_band_key"] = lambda: AlreadyTaken("rates", what="country and weight")

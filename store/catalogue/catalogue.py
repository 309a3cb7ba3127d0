"""The tables of the voucher catalogue: prototypes, options, categories, and the marketplace's taxonomy."""

import datetime as dt
from decimal import Decimal

from sqlalchemy import CheckConstraint, Index, UniqueConstraint
from sqlmodel import Field

from schema.catalogue.option import VoucherOption, VoucherOptionCategory, VoucherOptionLink
from schema.catalogue.prototype import PrototypeImage, VoucherPrototype
from schema.catalogue.taxonomy import Environment, PriceRange, Universe
from schema.core.columns import amount_column, datetime_column
from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken
from store.core.clock import now


class UniverseRow(Universe, table=True):
    __tablename__ = "universe"
    __table_args__ = (Index("universe_ranking_list_idx", "marketplace_id", "ranking", "id"),)
    marketplace_id: int = Field(foreign_key="marketplace.id", index=True)
    id: int = Field(default=None, primary_key=True)


class EnvironmentRow(Environment, table=True):
    __tablename__ = "environment"
    __table_args__ = (Index("environment_ranking_list_idx", "marketplace_id", "ranking", "id"),)
    marketplace_id: int = Field(foreign_key="marketplace.id", index=True)
    id: int = Field(default=None, primary_key=True)


class PriceRangeRow(PriceRange, table=True):
    __tablename__ = "price_range"
    __table_args__ = (
        Index("price_range_ranking_list_idx", "marketplace_id", "ranking", "id"),
        CheckConstraint("minimum_amount >= 0 AND maximum_amount > minimum_amount", name="is_a_range"),
    )
    marketplace_id: int = Field(foreign_key="marketplace.id", index=True)
    id: int = Field(default=None, primary_key=True)
    currency: str = Field(default="EUR", max_length=3)
    minimum_amount: Decimal = amount_column()
    maximum_amount: Decimal | None = amount_column(default=None, nullable=True)


class VoucherOptionCategoryRow(VoucherOptionCategory, table=True):
    __tablename__ = "voucher_option_category"
    __table_args__ = (
        Index("voucher_option_category_ranking_list_idx", "partner_id", "ranking", "id"),
        CheckConstraint(
            "min_number_options >= 0 AND max_number_options >= 0 AND min_number_options <= max_number_options",
            name="is_a_range",
        ),
    )
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    created_on: dt.datetime = datetime_column("When it was created.", default_factory=now)
    updated_on: dt.datetime = datetime_column(
        "When it last changed.", default_factory=now, sa_column_kwargs={"onupdate": now}
    )


class VoucherOptionRow(VoucherOption, table=True):
    __tablename__ = "voucher_option"
    __table_args__ = (
        Index("voucher_option_ranking_list_idx", "partner_id", "ranking", "id"),
        CheckConstraint("selling_price_amount >= 0", name="price_not_negative"),
    )
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    category_id: int | None = Field(default=None, foreign_key="voucher_option_category.id", index=True)
    currency: str = Field(default="EUR", max_length=3)
    selling_price_amount: Decimal = amount_column()
    created_on: dt.datetime = datetime_column("When it was created.", default_factory=now)
    updated_on: dt.datetime = datetime_column(
        "When it last changed.", default_factory=now, sa_column_kwargs={"onupdate": now}
    )


class VoucherPrototypeRow(VoucherPrototype, table=True):
    """A voucher prototype. `nb_orders` is incremented in the transaction that issues a voucher."""

    __tablename__ = "voucher_prototype"
    __table_args__ = (
        Index("voucher_prototype_ranking_list_idx", "partner_id", "ranking", "id"),
        Index("voucher_prototype_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("voucher_prototype_stay_price_amount_list_idx", "partner_id", "stay_price_amount", "id"),
        CheckConstraint(
            "stay_price_amount >= 0 AND coalesce(adults_price_amount, 0) >= 0 "
            "AND coalesce(children_price_amount, 0) >= 0 AND coalesce(baby_price_amount, 0) >= 0",
            name="prices_not_negative",
        ),
        CheckConstraint(
            "min_capacity >= 0 AND (max_capacity = 0 OR max_capacity >= min_capacity)", name="capacity_is_a_range"
        ),
    )
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    universe_id: int = Field(foreign_key="universe.id", index=True)
    environment_id: int | None = Field(default=None, foreign_key="environment.id", index=True)
    currency: str = Field(default="EUR", max_length=3)
    stay_price_amount: Decimal = amount_column()
    adults_price_amount: Decimal | None = amount_column(default=None, nullable=True)
    children_price_amount: Decimal | None = amount_column(default=None, nullable=True)
    baby_price_amount: Decimal | None = amount_column(default=None, nullable=True)
    created_on: dt.datetime = datetime_column("When it was created.", default_factory=now)
    updated_on: dt.datetime = datetime_column(
        "When it last changed.", default_factory=now, sa_column_kwargs={"onupdate": now}
    )


class PrototypeImageRow(PrototypeImage, table=True):
    __tablename__ = "voucher_prototype_image"
    __table_args__ = (
        UniqueConstraint("voucher_prototype_id", "position", name="voucher_prototype_image_position_key"),
        Index("voucher_prototype_image_media_idx", "media_id"),
    )
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    voucher_prototype_id: int = Field(foreign_key="voucher_prototype.id")
    media_id: int = Field(foreign_key="media.id")


class VoucherOptionLinkRow(VoucherOptionLink, table=True):
    """Links an option to a prototype."""

    __tablename__ = "voucher_option_link"
    __table_args__ = (
        UniqueConstraint("voucher_prototype_id", "option_id", name="voucher_option_link_once_key"),
        CheckConstraint("count >= 1", name="count_at_least_one"),
    )
    partner_id: int = Field(foreign_key="partner.id", index=True)
    id: int = Field(default=None, primary_key=True)
    voucher_prototype_id: int = Field(foreign_key="voucher_prototype.id")
    option_id: int = Field(foreign_key="voucher_option.id", index=True)


CONSTRAINT_ERRORS["voucher_option_link_once_key"] = lambda: AlreadyTaken("option_id", what="option of this prototype")

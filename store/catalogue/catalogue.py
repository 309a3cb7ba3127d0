"""The tables of the voucher catalogue: prototypes, options, categories, and the marketplace's taxonomy."""

from sqlalchemy import ARRAY, VARCHAR, CheckConstraint, Index, UniqueConstraint
from sqlmodel import Field

from schema.catalogue.option import VoucherOption, VoucherOptionCategory, VoucherOptionLink
from schema.catalogue.prototype import PrototypeImage, VoucherPrototype
from schema.catalogue.taxonomy import Environment, PriceRange, Universe
from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken
from schema.validation.slugs import LONGEST_SLUG
from store.core.row import CreatedOn, InCurrency, MarketplaceIndexed, PartnerIndexed, UpdatedOn


class UniverseRow(MarketplaceIndexed, Universe, table=True):
    __tablename__ = "universe"
    __table_args__ = (Index("universe_ranking_list_idx", "marketplace_id", "ranking", "id"),)


class EnvironmentRow(MarketplaceIndexed, Environment, table=True):
    __tablename__ = "environment"
    __table_args__ = (Index("environment_ranking_list_idx", "marketplace_id", "ranking", "id"),)


class PriceRangeRow(MarketplaceIndexed, InCurrency, PriceRange, table=True):
    __tablename__ = "price_range"
    __table_args__ = (
        Index("price_range_ranking_list_idx", "marketplace_id", "ranking", "id"),
        CheckConstraint("minimum_amount >= 0 AND maximum_amount > minimum_amount", name="is_a_range"),
    )


class VoucherOptionCategoryRow(PartnerIndexed, CreatedOn, UpdatedOn, VoucherOptionCategory, table=True):
    __tablename__ = "voucher_option_category"
    __table_args__ = (
        Index("voucher_option_category_ranking_list_idx", "partner_id", "ranking", "id"),
        CheckConstraint(
            "min_number_options >= 0 AND max_number_options >= 0 AND min_number_options <= max_number_options",
            name="is_a_range",
        ),
    )


class VoucherOptionRow(PartnerIndexed, InCurrency, CreatedOn, UpdatedOn, VoucherOption, table=True):
    __tablename__ = "voucher_option"
    __table_args__ = (
        Index("voucher_option_ranking_list_idx", "partner_id", "ranking", "id"),
        CheckConstraint("selling_price_amount >= 0", name="price_not_negative"),
    )


class VoucherPrototypeRow(PartnerIndexed, InCurrency, CreatedOn, UpdatedOn, VoucherPrototype, table=True):
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
        UniqueConstraint("partner_id", "slug", name="voucher_prototype_slug_key"),
    )
    former_slugs: list[str] = Field(default_factory=list, sa_type=ARRAY(VARCHAR(LONGEST_SLUG)))
    """The newest first."""


class PrototypeImageRow(PartnerIndexed, PrototypeImage, table=True):
    __tablename__ = "voucher_prototype_image"
    __table_args__ = (
        UniqueConstraint("voucher_prototype_id", "position", name="voucher_prototype_image_position_key"),
        Index("voucher_prototype_image_media_idx", "media_id"),
    )
    voucher_prototype_id: int = Field(foreign_key="voucher_prototype.id")


class VoucherOptionLinkRow(PartnerIndexed, VoucherOptionLink, table=True):
    """Links an option to a prototype."""

    __tablename__ = "voucher_option_link"
    __table_args__ = (
        UniqueConstraint("voucher_prototype_id", "option_id", name="voucher_option_link_once_key"),
        CheckConstraint("count >= 1", name="count_at_least_one"),
    )


CONSTRAINT_ERRORS["voucher_option_link_once_key"] = lambda: AlreadyTaken("option_id", what="option of this prototype")
CONSTRAINT_ERRORS["voucher_prototype_slug_key"] = lambda: AlreadyTaken("slug", what="slug")

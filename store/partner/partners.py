"""The tables of marketplaces and partners."""

import datetime as dt
from decimal import Decimal

from sqlalchemy import CheckConstraint, Index, Numeric, UniqueConstraint
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import amount_column, enum_column
from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken
from schema.partner.marketplace import Marketplace
from schema.partner.partner import Partner, PartnerStatus
from schema.partner.parts import PayoutFrequency
from store.core.row import CreatedOn


class MarketplaceRow(Marketplace, table=True):
    __tablename__ = "marketplace"
    __table_args__ = (Index("marketplace_name_list_idx", "name", "id"),)


class PartnerRow(CreatedOn, Partner, table=True):
    __tablename__ = "partner"
    __table_args__ = (
        UniqueConstraint("marketplace_id", "source_id", name="partner_source_id_key"),
        Index("partner_id_list_idx", "marketplace_id", "id"),
        Index("partner_commercial_name_list_idx", "marketplace_id", "commercial_name", "id"),
        Index("partner_source_id_list_idx", "marketplace_id", "source_id", "id"),
        Index("partner_siret_number_idx", "marketplace_id", "siret_number"),
        Index("partner_tags_idx", "tags", postgresql_using="gin"),
        CheckConstraint(
            "gift_card_offer_minimum > 0 AND gift_card_offer_minimum <= gift_card_offer_maximum",
            name="gift_card_offer_bounds",
        ),
        CheckConstraint(
            "gift_card_offer_minimum <= ALL (gift_card_offer_suggested) "
            "AND gift_card_offer_maximum >= ALL (gift_card_offer_suggested)",
            name="gift_card_offer_suggested",
        ),
        CheckConstraint("gift_card_offer_validity_months BETWEEN 1 AND 120", name="gift_card_offer_validity"),
    )
    marketplace_id: int = Field(foreign_key="marketplace.id")
    siret_number: str = Field(default="", max_length=40)
    rcs: str = Field(default="", max_length=80)
    ape: str = Field(default="", max_length=20)
    vat_id: str = Field(default="", max_length=40)
    legal_representative_first_name: str = Field(default="", max_length=100)
    legal_representative_last_name: str = Field(default="", max_length=100)
    legal_representative_birthday: dt.date | None = Field(default=None)
    legal_representative_email: str = Field(default="", max_length=254)
    legal_representative_nationality: str = Field(default="", max_length=2)
    legal_representative_country_of_residence: str = Field(default="", max_length=2)
    hq_address_line_1: str = Field(default="", max_length=255)
    hq_address_line_2: str = Field(default="", max_length=255)
    hq_postal_code: str = Field(default="", max_length=20)
    hq_city: str = Field(default="", max_length=120)
    hq_region: str = Field(default="", max_length=120)
    """State or province."""
    hq_country: str = Field(default="", max_length=100)
    """As it was sent: a country code, or a country name in a supported language."""
    hq_country_code: str = Field(default="", max_length=2)
    """The same country as ISO 3166 alpha-2; empty if unknown."""
    iban: str = Field(default="", max_length=34)
    bic: str = Field(default="", max_length=11)
    payout_frequency: PayoutFrequency | None = enum_column(PayoutFrequency, "", default=None, nullable=True)
    auto_validate_payout: bool = Field(default=False)
    freeze_payout: bool = Field(default=False)
    block_payout_validation: bool = Field(default=False)
    linked_to_nv_settings: bool = Field(default=False)
    linked_to_ngc_settings: bool = Field(default=False)
    provider_user_id: str = Field(default="", max_length=128)
    provider_wallet_id: str = Field(default="", max_length=128)
    last_order_number: int = Field(default=0)
    gift_card_offer_enabled: bool = Field(default=True)
    gift_card_offer_suggested: list[Decimal] = Field(
        default_factory=lambda: [Decimal(f"{value}.00") for value in (25, 50, 75, 100, 150, 200)],
        sa_type=ARRAY(Numeric(12, 2)),
    )
    gift_card_offer_minimum: Decimal = amount_column(default=Decimal("10.00"))
    gift_card_offer_maximum: Decimal = amount_column(default=Decimal("1000.00"))
    gift_card_offer_validity_months: int = Field(default=12)


CONSTRAINT_ERRORS["partner_site_domain_key"] = lambda: AlreadyTaken("site_domain", what="site domain")
CONSTRAINT_ERRORS["partner_source_id_key"] = lambda: AlreadyTaken("source_id", what="source id")


async def partner_status(db: AsyncSession, partner_id: int, *, lock: bool = False) -> PartnerStatus | None:
    """The current status of a partner; None if it does not exist.

    With `lock`, the row is locked FOR KEY SHARE, as by a foreign key: it conflicts with changes that lock the partner's
    row for update, and does not conflict with the increment of the partner's order number.
    """
    status = select(col(PartnerRow.status)).where(col(PartnerRow.id) == partner_id)
    return (await db.exec(status.with_for_update(read=True, key_share=True) if lock else status)).one_or_none()

"""The tables of marketplaces and partners."""

from decimal import Decimal

from sqlalchemy import CheckConstraint, Index, Numeric, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.legal import LegalLink
from schema.core.columns import amount_column
from schema.core.errors import CONSTRAINT_ERRORS, AlreadyTaken
from schema.partner.invoicing import InvoicerDetails
from schema.partner.marketplace import Marketplace
from schema.partner.network_settings import (
    MarketplacePayoutSettings,
    NetworkGiftCardSettings,
    NetworkVoucherSettings,
)
from schema.partner.partner import Partner, PartnerStatus
from schema.partner.parts import (
    BankDetails,
    HeadOffice,
    LegalRepresentative,
    NetworkLinks,
    PayoutSettings,
    RefundPolicy,
    Registration,
)
from schema.theme import StartPage, Theme
from store.core.row import CreatedOn
from store.core.typed_json import TypedJson, typed_json_column

LEGAL_LINKS = TypedJson(tuple[LegalLink, ...])


class MarketplaceRow(
    NetworkGiftCardSettings,
    NetworkVoucherSettings,
    MarketplacePayoutSettings,
    InvoicerDetails,
    Theme,
    Marketplace,
    table=True,
):
    __tablename__ = "marketplace"
    __table_args__ = (
        Index("marketplace_name_list_idx", "name", "id"),
        CheckConstraint(
            "network_gift_card_validity_months BETWEEN 1 AND 120 AND network_voucher_validity_months BETWEEN 1 AND 120",
            name="network_validity",
        ),
        CheckConstraint(
            "network_gift_card_management_fee_amount >= 0 AND network_voucher_management_fee_amount >= 0",
            name="network_management_fee",
        ),
        CheckConstraint(
            "network_gift_card_commission_rate BETWEEN 0 AND 100 AND network_gift_card_vat_rate BETWEEN 0 AND 100 "
            "AND network_voucher_commission_rate BETWEEN 0 AND 100 AND network_voucher_vat_rate BETWEEN 0 AND 100",
            name="network_rates",
        ),
        CheckConstraint("payout_approval_from_amount >= 0", name="payout_approval"),
        CheckConstraint("payout_second_validation_from_amount >= 0", name="payout_second_validation"),
    )

    def requires_approval(self, amount: Decimal) -> bool:
        """Whether an adjustment of this amount, given or taken, needs a second user."""
        least = self.payout_approval_from_amount
        return least is not None and abs(amount) >= least

    def requires_second_validation(self, amount: Decimal) -> bool:
        """Whether two users have to validate a payout request of this amount."""
        least = self.payout_second_validation_from_amount
        return least is not None and amount >= least


class PartnerRow(
    CreatedOn,
    Registration,
    HeadOffice,
    LegalRepresentative,
    BankDetails,
    PayoutSettings,
    RefundPolicy,
    NetworkLinks,
    Theme,
    StartPage,
    Partner,
    table=True,
):
    __tablename__ = "partner"
    __table_args__ = (
        UniqueConstraint("marketplace_id", "source_id", name="partner_source_id_key"),
        Index("partner_id_list_idx", "marketplace_id", "id"),
        Index("partner_commercial_name_list_idx", "marketplace_id", "commercial_name", "id"),
        Index("partner_source_id_list_idx", "marketplace_id", "source_id", "id"),
        Index("partner_siret_number_idx", "marketplace_id", "siret_number"),
        Index("partner_tags_idx", "tags", postgresql_using="gin"),
        Index("partner_network_shop_key", "marketplace_id", unique=True, postgresql_where=text("is_network_shop")),
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
        CheckConstraint("withdrawal_days BETWEEN 0 AND 365", name="withdrawal_period"),
    )
    marketplace_id: int = Field(foreign_key="marketplace.id")
    provider_user_id: str = Field(default="", max_length=128)
    provider_wallet_id: str = Field(default="", max_length=128)
    last_order_number: int = Field(default=0)
    legal_links: tuple[LegalLink, ...] = typed_json_column(
        LEGAL_LINKS, "The links to its legal texts in force, in the order of their kinds.", default=()
    )
    gift_card_offer_enabled: bool = Field(default=True)
    gift_card_offer_suggested: list[Decimal] = Field(
        default_factory=lambda: [Decimal(f"{value}.00") for value in (25, 50, 75, 100, 150, 200)],
        sa_type=ARRAY(Numeric(12, 2)),
    )
    gift_card_offer_minimum: Decimal = amount_column(default=Decimal("10.00"))
    gift_card_offer_maximum: Decimal = amount_column(default=Decimal("1000.00"))
    gift_card_offer_validity_months: int = Field(default=12)


CONSTRAINT_ERRORS["partner_site_domain_key"] = lambda: AlreadyTaken("site_domain", what="site domain")
CONSTRAINT_ERRORS["partner_network_shop_key"] = lambda: AlreadyTaken(
    "network_links", "is_shop", what="place of the network's shop"
)
CONSTRAINT_ERRORS["partner_source_id_key"] = lambda: AlreadyTaken("source_id", what="source id")


async def partner_status(db: AsyncSession, partner_id: int, *, lock: bool = False) -> PartnerStatus | None:
    """The current status of a partner; None if it does not exist.

    With `lock`, the row is locked FOR KEY SHARE, as by a foreign key: it conflicts with changes that lock the partner's
    row for update, and does not conflict with the increment of the partner's order number.
    """
    status = select(col(PartnerRow.status)).where(col(PartnerRow.id) == partner_id)
    return (await db.exec(status.with_for_update(read=True, key_share=True) if lock else status)).one_or_none()


async def partner_with_time_zone(db: AsyncSession, partner_id: int) -> tuple[PartnerRow, str]:
    """The partner, and the time zone of its marketplace."""
    query = select(PartnerRow, MarketplaceRow.time_zone).join(
        MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id)
    )
    return (await db.exec(query.where(col(PartnerRow.id) == partner_id))).one()

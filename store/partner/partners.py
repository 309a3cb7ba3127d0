"""Marketplaces, partners, users and tokens, as rows."""

import datetime as dt
from decimal import Decimal
from typing import Any
from uuid import UUID, uuid4

from sqlalchemy import CheckConstraint, Column, Index, LargeBinary, Numeric, UniqueConstraint, event, inspect
from sqlalchemy.dialects.postgresql import ARRAY, VARCHAR
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import CONSTRAINTS, AlreadyTaken
from schema.core.resource import amount, choice, moment
from schema.partner.partner import Marketplace, Partner, PartnerStatus, Token, User
from schema.partner.parts import PayoutFrequency
from store.account.confusables import skeleton_digest
from store.core.clock import now


class MarketplaceRow(Marketplace, table=True):
    """A marketplace."""

    __tablename__ = "marketplace"
    __table_args__ = (Index("marketplace_name_list_idx", "name", "id"),)
    id: int = Field(default=None, primary_key=True)
    uuid: UUID = Field(default_factory=uuid4, unique=True)


class PartnerRow(Partner, table=True):
    """A partner."""

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
    id: int = Field(default=None, primary_key=True)
    uuid: UUID = Field(default_factory=uuid4, unique=True)
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
    """As it was sent: a code, or a name in one of our languages."""
    hq_country_code: str = Field(default="", max_length=2)
    """ISO 3166 alpha-2, of the same."""
    iban: str = Field(default="", max_length=34)
    bic: str = Field(default="", max_length=11)
    payout_frequency: PayoutFrequency | None = choice(PayoutFrequency, "", default=None, nullable=True)
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
    gift_card_offer_minimum: Decimal = amount(default=Decimal("10.00"))
    gift_card_offer_maximum: Decimal = amount(default=Decimal("1000.00"))
    gift_card_offer_validity_months: int = Field(default=12)
    created_on: dt.datetime = moment("When it was made.", default_factory=now)


def _of_new_username(context: Any) -> bytes:
    return skeleton_digest(context.get_current_parameters()["username"])


class UserRow(User, table=True):
    """A user."""

    __tablename__ = "app_user"
    __table_args__ = (
        Index("app_user_username_list_idx", "partner_id", "username", "id"),
        Index("app_user_created_on_list_idx", "partner_id", "created_on", "id"),
    )
    id: int = Field(default=None, primary_key=True)
    uuid: UUID = Field(default_factory=uuid4, unique=True)
    partner_id: int | None = Field(default=None, foreign_key="partner.id", index=True)
    marketplace_id: int | None = Field(default=None, foreign_key="marketplace.id", index=True)
    password_hash: str = Field(default="", max_length=255)
    permissions: list[str] | None = Field(default=None, sa_column=Column(ARRAY(VARCHAR(60)), nullable=True))
    created_on: dt.datetime = moment("When the user was made.", default_factory=now)
    username_skeleton: bytes | None = Field(
        default=None, sa_column=Column(LargeBinary, unique=True, nullable=True, default=_of_new_username)
    )
    """What the user name looks like, which no two users share; null: somebody's did already when that began to count."""


@event.listens_for(UserRow, "before_update")
def _follow_username(_mapper: Any, _connection: Any, user: UserRow) -> None:
    if inspect(user).attrs.username.history.has_changes():
        user.username_skeleton = skeleton_digest(user.username)


class TokenRow(Token, table=True):
    """A token; only a digest of its secret is kept."""

    __tablename__ = "token"
    id: int = Field(default=None, primary_key=True)
    user_id: int = Field(foreign_key="app_user.id", index=True)
    digest: bytes = Field(unique=True)


CONSTRAINTS["partner_site_domain_key"] = lambda: AlreadyTaken("site_domain", what="site domain")
CONSTRAINTS["partner_source_id_key"] = lambda: AlreadyTaken("source_id", what="source id")
CONSTRAINTS["app_user_username_key"] = lambda: AlreadyTaken("username", what="user name")
CONSTRAINTS["app_user_username_skeleton_key"] = lambda: AlreadyTaken(
    "username", what="user name, or one that reads like it,"
)


async def partner_status(db: AsyncSession, partner_id: int, *, lock: bool = False) -> PartnerStatus | None:
    """The status of a partner as it is now; None without one.

    With `lock` whoever changes the partner, and this transaction, wait for each other. It is the lock of a row that refers to
    the partner, so that nobody waits who only counts the partner's orders.
    """
    status = select(col(PartnerRow.status)).where(col(PartnerRow.id) == partner_id)
    return (await db.exec(status.with_for_update(read=True, key_share=True) if lock else status)).one_or_none()

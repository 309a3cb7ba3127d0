"""Network gift cards: the view of those gift cards that networks have issued, and the table of their usages.

A network's gift card is a row of the table of gift cards: what holds, captures and releases amounts does it alike for
both.
"""

from sqlalchemy import CheckConstraint, ColumnElement, Index, String, text
from sqlalchemy.dialects.postgresql import ARRAY
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.gift_card.gift_card import GiftCardGiftee, GiftCardGifter
from schema.network.gift_card import NetworkGiftCard, NetworkGiftCardUsage
from store.core.row import CreatedOn, InCurrency, PartnerOwned
from store.database.views import VIEW
from store.gift_card.gift_cards import GiftCardRow


class NetworkGiftCardRow(InCurrency, CreatedOn, GiftCardGifter, GiftCardGiftee, NetworkGiftCard, table=True):
    """A network gift card as it is read. It is changed as a `GiftCardRow`."""

    __tablename__ = "network_gift_card"
    __table_args__ = ({"info": VIEW},)
    marketplace_id: int
    normal_code: str
    emails: list[str] = Field(sa_type=ARRAY(String))
    wallet_id: int
    document_token: str


class NetworkGiftCardUsageRow(PartnerOwned, InCurrency, NetworkGiftCardUsage, table=True):
    """A usage of a network gift card. It changes only under the lock of its card."""

    __tablename__ = "network_gift_card_usage"
    __table_args__ = (
        Index("network_gift_card_usage_used_on_list_idx", "partner_id", "used_on", "id"),
        Index("network_gift_card_usage_newest_idx", "used_on", "id"),
        CheckConstraint("value_amount > 0", name="uses_something"),
        CheckConstraint("net_amount BETWEEN 0 AND value_amount", name="earns_no_more"),
        CheckConstraint("is_active = (cancelled_on IS NULL)", name="is_cancelled_once"),
        CheckConstraint("returned_amount BETWEEN 0 AND value_amount", name="returns_no_more"),
        CheckConstraint("returned_net_amount BETWEEN 0 AND net_amount", name="gives_back_no_more"),
        CheckConstraint("payment_id IS NOT NULL OR returned_amount = 0", name="returns_by_payment"),
        Index(
            "network_gift_card_usage_payment_key",
            "payment_id",
            "gift_card_id",
            unique=True,
            postgresql_where=text("payment_id IS NOT NULL"),
        ),
    )
    fee_rule_id: int | None = Field(default=None, foreign_key="fee_rule.id")
    is_reverse_charge: bool = False
    """Whether no VAT was added because the partner owes it."""


async def network_card(db: AsyncSession, *conditions: ColumnElement[bool], lock: bool = False) -> GiftCardRow | None:
    """The one gift card of a network that meets these conditions, locked and read again if requested."""
    query = select(GiftCardRow).where(col(GiftCardRow.partner_id).is_(None), *conditions)
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    return (await db.exec(query)).one_or_none()

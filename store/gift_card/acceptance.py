"""Which gift cards a partner accepts: its own, and those of its network if it takes part in them."""

from sqlalchemy import ColumnElement
from sqlmodel import col, or_, select

from store.gift_card.gift_cards import GiftCardRow
from store.partner.partners import MarketplaceRow, PartnerRow


def is_accepted_at(partner_id: int) -> ColumnElement[bool]:
    """The condition that a gift card is the partner's own, or of the network in which the partner takes part, in the
    currency of today.
    """
    networks = (
        select(MarketplaceRow.id)
        .join(PartnerRow, col(PartnerRow.marketplace_id) == col(MarketplaceRow.id))
        .where(
            col(PartnerRow.id) == partner_id,
            col(PartnerRow.linked_to_ngc_settings),
            col(MarketplaceRow.currency) == col(GiftCardRow.currency),
        )
        .correlate(GiftCardRow)
    )
    return or_(col(GiftCardRow.partner_id) == partner_id, col(GiftCardRow.network_id).in_(networks))

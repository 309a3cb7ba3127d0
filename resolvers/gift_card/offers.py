"""Which gift cards partners sell: reading it, changing it."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from sqlmodel import col, select

from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.input_mapping import owner_of, sent
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find
from schema.core.permission import Permission
from schema.core.resource import Money
from schema.gift_card.input import UpdateGiftCardOffer
from schema.partner.partner import Partner
from schema.partner.parts import GiftCardOffer
from store.database.loaders import among
from store.gift_card.offer import check_offer
from store.partner.partners import MarketplaceRow, PartnerRow

PREFIX = "gift_card_offer_"
"""Of the columns of a partner that its offer is kept in."""


@computes(Partner, "gift_card_offer")
async def gift_card_offer(context: Context, ids: Sequence[int]) -> Mapping[int, GiftCardOffer]:
    """Which gift cards partners sell, in the currency of their marketplace."""
    query = select(PartnerRow, MarketplaceRow.currency).join(
        MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id)
    )
    async with context.db.sessions() as db:
        found = (await db.exec(query.where(among(col(PartnerRow.id), ids)))).all()
        return {partner.id: _told(partner, currency) for partner, currency in found}


def _told(partner: PartnerRow, currency: str) -> GiftCardOffer:
    def money(amount: Decimal) -> Money:
        return Money(amount=amount, currency=currency)

    return GiftCardOffer(
        enabled=partner.gift_card_offer_enabled,
        suggested=[money(value) for value in partner.gift_card_offer_suggested],
        minimum=money(partner.gift_card_offer_minimum),
        maximum=money(partner.gift_card_offer_maximum),
        validity_months=partner.gift_card_offer_validity_months,
    )


@operation(Permission.MANAGE_GIFT_CARD)
async def update_gift_card_offer(call: Call, input: UpdateGiftCardOffer) -> Partner:
    """Decide which gift cards the shop of a partner sells: for which values, for how long they can be spent, or none at all.

    What customers have chosen and not begun to pay is judged by the new offer; a payment that has begun is completed.
    """
    partner = await owner_of(call, input.partner_uuid)
    row = await find(call.db, call.caller, PartnerRow, "partner", lock=True, id=partner.id)
    for name in GiftCardOffer.model_fields:
        if (change := sent(input, name)) is not None:
            setattr(row, PREFIX + name, change.value)
    check_offer(row)
    await call.db.flush()
    return row

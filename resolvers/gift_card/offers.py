"""The gift card offer of a partner: which values its shop sells, and for how long they are valid."""

from collections.abc import Mapping, Sequence
from decimal import Decimal

from sqlmodel import col, select

from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.input_mapping import change_of, currency_of, owner_of
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from schema.core.money import Money
from schema.core.permission import Permission
from schema.gift_card.input import UpdateGiftCardOffer
from schema.partner.partner import Partner
from schema.partner.parts import GiftCardOffer
from store.database.loaders import is_any_of
from store.gift_card.offer import check_gift_card_offer
from store.partner.partners import MarketplaceRow, PartnerRow

COLUMN_PREFIX = "gift_card_offer_"
"""Prefix of the partner columns that store the offer."""


@computes(Partner, "gift_card_offer")
async def gift_card_offer(context: Context, ids: Sequence[int]) -> Mapping[int, GiftCardOffer]:
    """The gift card offers of partners, with amounts in the currency of the marketplace."""
    query = select(PartnerRow, MarketplaceRow.currency).join(
        MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id)
    )
    async with context.db.read_sessions() as db:
        rows = (await db.exec(query.where(is_any_of(col(PartnerRow.id), ids)))).all()
        return {partner.id: _offer_of(partner, currency) for partner, currency in rows}


def _offer_of(partner: PartnerRow, currency: str) -> GiftCardOffer:
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
    """Update the gift card offer of a partner: whether its shop sells gift cards, their values, and their validity.

    The new offer applies to baskets whose payment has not started. A payment that has started is completed on the old
    terms.
    """
    partner = await owner_of(call, input.partner_uuid)
    row = await find_visible(call.db, call.caller, PartnerRow, "partner", lock=True, id=partner.id)
    currency = await currency_of(call, row)  # before the row has values that no constraint would take
    for name in GiftCardOffer.model_fields:
        if (change := change_of(input, name)) is not None:
            setattr(row, COLUMN_PREFIX + name, change.value)
    check_gift_card_offer(row, currency)
    await call.db.flush()
    return row

"""Gift cards that pay in checkouts and in payments: those of partners, and those of networks.

Both are held and released alike. What is captured of a network's card is a usage of the payment. The cards must be locked.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from decimal import Decimal

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import Conflict, InsufficientBalance
from store.gift_card.gift_cards import GiftCardRow, UsableCard
from store.gift_card.modes import check_in_mode, check_spendable
from store.gift_card.movements import Holder, finalize_hold, hold_id, restore_to_card, return_spent
from store.gift_card.states import is_spendable
from store.ledger.posting import Journal, post
from store.network.events import emit_card_usage
from store.network.fees import part_to_return
from store.network.gift_card_usages import NewUsage, check_accepted, check_use, record_usage
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.issuing import network_gift_cards
from store.network.postings import part_return_journal, void_journal
from store.network.states import CANCELLED
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payment.payments import PaymentRow
from store.payout.contents import ids_in_payouts

CardPart = tuple[GiftCardRow, Decimal]
"""A gift card, and what it pays."""


def is_of_network(card: GiftCardRow) -> bool:
    return card.partner_id is None


def usable_card(card: GiftCardRow, partner: PartnerRow | None, now: dt.datetime, *, held: Decimal) -> UsableCard | None:
    """What a gift card can pay now at a partner, with the amount that the customer holds of it already; None if nothing.
    `partner` is read for cards of networks.
    """
    remaining = card.remaining_amount + held
    if remaining <= 0:
        return None
    if not is_of_network(card):
        return UsableCard(card.id, card.code, remaining) if is_spendable(card, now, held=held > 0) else None
    assert partner is not None, "a network's card is used at a partner"
    try:
        check_accepted(card, partner, now, held=held > 0)
    except Conflict:
        return None
    return UsableCard(card.id, card.code, remaining, is_of_network=True, is_whole=not card.is_splittable)


def can_pay(card: GiftCardRow, partner: PartnerRow, amount: Decimal, now: dt.datetime) -> bool:
    """True if a card can pay this amount at a partner now, but for its mode."""
    if not is_of_network(card):
        return is_spendable(card, now) and card.remaining_amount >= amount
    try:
        check_use(card, partner, amount, now)
    except Conflict:
        return False
    return True


async def check_can_pay(
    db: AsyncSession, card: GiftCardRow, partner: PartnerRow, amount: Decimal, now: dt.datetime, *, amount_at: str
) -> None:
    """Raise what keeps a card from paying this amount at a partner: of a partner's own what `check_spendable` raises, of a
    network's what its usage would raise; InsufficientBalance at `amount_at`.
    """
    if is_of_network(card):
        check_use(card, partner, amount, now, value_at=amount_at)
        return await check_in_mode(db, card, partner.id)
    await check_spendable(db, card, now)
    if card.remaining_amount < amount:
        raise InsufficientBalance(amount_at)
    return None


async def release(db: AsyncSession, holder: Holder, parts: Sequence[CardPart]) -> None:
    """Release what a checkout or payment holds. What comes back to a network's card that was cancelled meanwhile is owed no
    more; nor is what comes back to an expired one, if its network books breakage.
    """
    await post(db, [restore_to_card(card, holder, amount) for card, amount in parts])
    for card, amount in parts:
        if is_of_network(card) and card.status is CANCELLED:
            card.unowed_amount += amount
            await post(db, [await void_journal(db, network_gift_cards.liability_of(card), amount, hold_id(holder))])
        elif is_of_network(card):
            await post(db, await network_gift_cards.take_back(db, card, amount, hold_id(holder)))


async def capture_own(db: AsyncSession, holder: Holder, parts: Iterable[CardPart]) -> None:
    """Spend what is held of partners' own cards; those of networks wait for `capture_of_networks`."""
    own = [(card, amount) for card, amount in parts if not is_of_network(card)]
    await post(db, [each for card, amount in own for each in finalize_hold(card, holder, amount, amount)])


async def capture_of_networks(
    db: AsyncSession, holder: Holder, payment: PaymentRow, parts: Iterable[CardPart], now: dt.datetime
) -> None:
    """Spend what is held of networks' cards for a stored payment: each is a usage at its partner, with its fees.

    Call it after the pay-in was posted: a partner's earnings are locked before those in its network.
    """
    for card, amount in parts:
        if is_of_network(card):
            network = await db.get_one(MarketplaceRow, card.network_id)
            await post(db, [restore_to_card(card, holder, amount)])
            new = NewUsage(
                value=amount, used_on=now, freeze_payout_date=payment.freeze_payout_date, payment_id=payment.id
            )
            await record_usage(db, network, card, payment.partner_id, new, now)


async def return_to_card(
    db: AsyncSession, card: GiftCardRow, payment: PaymentRow, amount: Decimal, source_id: str, now: dt.datetime
) -> Sequence[Journal]:
    """Give back to a card what a refund returns of what it has paid. `source_id` names the part of the refund."""
    if not is_of_network(card):
        return [return_spent(card, amount, "refund", source_id, now)]
    table = NetworkGiftCardUsageRow
    query = select(table).where(col(table.payment_id) == payment.id, col(table.gift_card_id) == card.id)
    usage = (await db.exec(query.with_for_update().execution_options(populate_existing=True))).one()
    part = part_to_return(usage, amount)
    usage.returned_amount += part.value_amount
    usage.returned_net_amount += part.net_amount
    if usage.returned_amount == usage.value_amount and not await ids_in_payouts(db, table.__tablename__, [usage.id]):
        usage.is_active, usage.cancelled_on = False, now
    card.remaining_amount += amount
    more = await network_gift_cards.take_back(db, card, amount, source_id)
    await emit_card_usage(db, "usage_returned", card, usage)
    journal = await part_return_journal(db, network_gift_cards.liability_of(card), part, source_id)
    return [journal, *more]

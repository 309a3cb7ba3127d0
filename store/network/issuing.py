"""Network gift cards from their issue to their end: issued, paid, extended, expired, cancelled."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import NotExtendable
from schema.event import EventType
from store.database.unique_codes import add_with_unique_code
from store.event.data import datetime_data
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.issuing import open_accounts_in
from store.ledger.accounts import card_account
from store.ledger.posting import Journal, post
from store.network.events import emit_network_card_event
from store.network.postings import (
    NetworkLiability,
    breakage_journal,
    breakage_reversal_journal,
    issue_journal,
    issue_journals,
    void_journal,
)
from store.network.states import (
    CANCELLED,
    DRAFT,
    EXPIRED,
    PAID,
    TRANSITIONS,
    USABLE,
    check_activatable,
    check_not_over,
    status_by_balance,
    transition,
)
from store.partner.partners import MarketplaceRow

EXTENDABLE = (DRAFT, *USABLE, EXPIRED)
NOTHING = Decimal("0.00")


def liability_of(card: GiftCardRow) -> NetworkLiability:
    """What a network owes for one of its gift cards."""
    return NetworkLiability(card_account(card.id), card.book_id, card.currency, "gift_card", card.id)


async def issue_network_gift_card(db: AsyncSession, card: GiftCardRow, book_id: int) -> None:
    """Store a new card of a network, and post its value unless it is a draft or cancelled. Without a code of its own it
    gets a random one.
    """
    await issue_network_gift_cards(db, [card], book_id)


async def issue_network_gift_cards(db: AsyncSession, cards: Sequence[GiftCardRow], book_id: int) -> None:
    """The same for several cards of one network."""
    if not cards:
        return
    await open_accounts_in(db, book_id, cards)
    for card in cards:
        card.used_elsewhere_amount = card.value_amount - card.remaining_amount
        if card.status in (DRAFT, CANCELLED):
            card.unowed_amount = card.remaining_amount
        if card.code:
            db.add(card)
            await db.flush()
        else:
            await add_with_unique_code(db, card, "gift_card_code_key")
    owed = [(liability_of(card), card.remaining_amount) for card in cards if not card.unowed_amount]
    await post(db, await issue_journals(db, owed))
    for card in cards:
        await emit_network_card_event(db, EventType.NETWORK_GIFT_CARD_ISSUED, card)


async def activate(db: AsyncSession, card: GiftCardRow, now: dt.datetime) -> bool:
    """Let a locked draft be used, since it is paid; returns False if it is paid already. Raises InvalidTransition for other
    statuses, Expired for a draft whose end is past.
    """
    if card.status in USABLE:
        return False
    check_activatable(TRANSITIONS, card.status, DRAFT, PAID)
    check_not_over(card.expires_on, now)
    transition(card, PAID)
    card.unowed_amount = NOTHING
    await post(db, [await issue_journal(db, liability_of(card), card.remaining_amount)])
    await emit_network_card_event(db, EventType.NETWORK_GIFT_CARD_ACTIVATED, card)
    return True


async def cancel(db: AsyncSession, card: GiftCardRow, refunded: Decimal = NOTHING) -> bool:
    """Cancel a locked card; returns False if it is cancelled already. What is left of it is owed no more. `refunded` is what
    goes back to its buyer next.
    """
    owed = card.remaining_amount - card.unowed_amount
    if not transition(card, CANCELLED):
        return False
    card.unowed_amount = card.remaining_amount
    await post(db, [await void_journal(db, liability_of(card), owed, refunded=refunded)])
    await emit_network_card_event(db, EventType.NETWORK_GIFT_CARD_CANCELLED, card)
    return True


async def extend(db: AsyncSession, card: GiftCardRow, expires_on: dt.datetime) -> None:
    """Extend the validity of a locked card. An expired one can be used again; what was booked as breakage is owed again.

    Raises NotExtendable for a card that never expires, is used up or cancelled.
    """
    old = card.expires_on
    if old is None or card.status not in EXTENDABLE:
        raise NotExtendable
    card.expires_on = expires_on
    if card.status is EXPIRED:
        transition(card, status_by_balance(card.remaining_amount, card.value_amount))
        booked, card.unowed_amount = card.unowed_amount, NOTHING
        await post(db, [breakage_reversal_journal(liability_of(card), booked, old)])
    more: dict[str, Any] = {"old_expires_on": datetime_data(old)}
    await emit_network_card_event(db, EventType.NETWORK_GIFT_CARD_EXTENDED, card, **more)


async def returned_breakage(
    db: AsyncSession, card: GiftCardRow, amount: Decimal, returned_by: str
) -> Sequence[Journal]:
    """What has come back to a locked card is not owed if the card has expired and its network books breakage; returns the
    journal then. `returned_by` names what has brought it back.
    """
    if card.status is not EXPIRED or card.expires_on is None:
        return ()
    network = await db.get_one(MarketplaceRow, card.network_id)
    if not network.network_gift_card_books_breakage:
        return ()
    card.unowed_amount += amount
    return [breakage_journal(liability_of(card), amount, card.expires_on, returned_by)]


async def expire_network_cards(db: AsyncSession, now: dt.datetime, most: int) -> int:
    """Expire at most `most` cards of networks that are due, oldest first; returns their number. Locked cards are skipped.

    What they have left stays owed, unless the network books it as breakage.
    """
    due = (
        select(GiftCardRow, MarketplaceRow.network_gift_card_books_breakage)
        .join(MarketplaceRow, col(MarketplaceRow.id) == col(GiftCardRow.network_id))
        .where(col(GiftCardRow.status).in_(USABLE), col(GiftCardRow.expires_on) <= now)
        .order_by(col(GiftCardRow.expires_on), col(GiftCardRow.id))
        .limit(most)
        .with_for_update(skip_locked=True, of=GiftCardRow)
    )
    rows = (await db.exec(due)).all()
    for card, books_breakage in rows:
        transition(card, EXPIRED)
        if books_breakage and card.expires_on is not None:
            card.unowed_amount = card.remaining_amount
            await post(db, [breakage_journal(liability_of(card), card.remaining_amount, card.expires_on)])
        await emit_network_card_event(db, EventType.NETWORK_GIFT_CARD_EXPIRED, card)
    return len(rows)

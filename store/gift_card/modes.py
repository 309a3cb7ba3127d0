"""Test and live gift cards: a card pays while its partner is in the mode in which it was issued, and in no other."""

import datetime as dt
from collections.abc import Iterable

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import GiftCardNotSpendable
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.states import check_not_frozen, is_capturable, is_spendable
from store.ledger.books import is_current_book

IN_MODE = is_current_book(col(GiftCardRow.book_id), col(GiftCardRow.partner_id))
"""The condition that a gift card is of its partner's present mode: a test card pays nothing live."""


async def are_in_mode(db: AsyncSession, card_ids: Iterable[int]) -> bool:
    """True if all these gift cards are of their partner's present mode."""
    ids = set(card_ids)
    if not ids:
        return True
    others = select(GiftCardRow.id).where(col(GiftCardRow.id).in_(ids), ~IN_MODE)
    return (await db.exec(others)).first() is None


async def check_spendable(db: AsyncSession, card: GiftCardRow, now: dt.datetime) -> None:
    """Raise FrozenByDispute or GiftCardNotSpendable unless a locked card can be debited now."""
    check_not_frozen(card)
    if not is_spendable(card, now) or not await are_in_mode(db, [card.id]):
        raise GiftCardNotSpendable


async def check_capturable(db: AsyncSession, card: GiftCardRow) -> None:
    """Raise FrozenByDispute or GiftCardNotSpendable unless a hold on a locked card can be captured."""
    check_not_frozen(card)
    if not is_capturable(card) or not await are_in_mode(db, [card.id]):
        raise GiftCardNotSpendable

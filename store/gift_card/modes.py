"""Test and live gift cards: a card pays at a partner that is in the mode in which the card was issued, and at no other."""

import datetime as dt
from collections.abc import Iterable

from sqlalchemy import ColumnElement
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import GiftCardNotSpendable
from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.states import check_not_frozen, is_capturable, is_spendable
from store.ledger.books import is_current_book


def is_in_mode_of(partner_id: int) -> ColumnElement[bool]:
    """The condition that a gift card is of the present mode of a partner: a test card pays nothing live."""
    return is_current_book(col(GiftCardRow.book_id), partner_id)


async def are_in_mode(db: AsyncSession, card_ids: Iterable[int], partner_id: int) -> bool:
    """True if all these gift cards are of the present mode of the partner where they pay."""
    ids = set(card_ids)
    if not ids:
        return True
    others = select(GiftCardRow.id).where(col(GiftCardRow.id).in_(ids), ~is_in_mode_of(partner_id))
    return (await db.exec(others)).first() is None


async def check_in_mode(db: AsyncSession, card: GiftCardRow, partner_id: int) -> None:
    """Raise GiftCardNotSpendable for a card of another mode than the partner where it is to pay."""
    if not await are_in_mode(db, [card.id], partner_id):
        raise GiftCardNotSpendable


async def check_spendable(db: AsyncSession, card: GiftCardRow, now: dt.datetime) -> None:
    """Raise FrozenByDispute or GiftCardNotSpendable unless a partner's own, locked card can be debited now."""
    check_not_frozen(card)
    if not is_spendable(card, now):
        raise GiftCardNotSpendable
    await check_in_mode(db, card, card.issuing_partner_id)


async def check_capturable(db: AsyncSession, card: GiftCardRow) -> None:
    """Raise FrozenByDispute or GiftCardNotSpendable unless a hold on a partner's own, locked card can be captured."""
    check_not_frozen(card)
    if not is_capturable(card):
        raise GiftCardNotSpendable
    await check_in_mode(db, card, card.issuing_partner_id)

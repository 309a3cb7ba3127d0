"""Locks of payments, with their sources and the gift cards that have paid."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from sqlmodel.ext.asyncio.session import AsyncSession

from store.gift_card.gift_cards import GiftCardRow
from store.gift_card.locks import lock_cards
from store.payment.payments import PaymentRow, PaymentSourceRow
from store.payment.recording import lock_payment, sources_of


@dataclass(frozen=True, slots=True)
class LockedPayment:
    """A payment and its sources, locked together with the gift cards that have paid."""

    payment: PaymentRow
    sources: Sequence[PaymentSourceRow]
    cards: Mapping[int, GiftCardRow]


async def lock_with_sources(db: AsyncSession, payment: PaymentRow) -> LockedPayment:
    """Lock gift cards by ascending id, then the payment: the order in which all lock them."""
    return await lock_after_cards(db, payment, await lock_cards(db, await paying_card_ids(db, payment)))


async def paying_card_ids(db: AsyncSession, payment: PaymentRow) -> set[int]:
    """The ids of the gift cards that are sources of a payment."""
    return {source.gift_card_id for source in await sources_of(db, payment) if source.gift_card_id is not None}


async def lock_after_cards(db: AsyncSession, payment: PaymentRow, cards: Mapping[int, GiftCardRow]) -> LockedPayment:
    """Lock a payment whose gift cards are locked."""
    locked = await lock_payment(db, payment)
    return LockedPayment(locked, await sources_of(db, locked), cards)

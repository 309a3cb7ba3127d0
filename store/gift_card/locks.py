"""Locks of gift cards: by ascending id, before the payment that they pay."""

from collections.abc import Iterable, Mapping, Sequence
from uuid import UUID

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.gift_card.acceptance import is_accepted_at
from store.gift_card.gift_cards import GiftCardRow
from store.ledger.wallets import WalletRow


async def lock_cards(db: AsyncSession, ids: Iterable[int]) -> Mapping[int, GiftCardRow]:
    """Lock and reload gift cards, by ascending id."""
    unique_ids = set(ids)
    if not unique_ids:
        return {}
    query = select(GiftCardRow).where(col(GiftCardRow.id).in_(unique_ids)).order_by(col(GiftCardRow.id))
    rows = await db.exec(query.with_for_update().execution_options(populate_existing=True))
    return {row.id: row for row in rows}


async def lock_card_of_wallet(db: AsyncSession, partner_id: int, wallet_uuid: UUID) -> GiftCardRow | None:
    """Lock the gift card of a wallet; None if the partner accepts no such card."""
    query = select(GiftCardRow).join(WalletRow, col(WalletRow.id) == col(GiftCardRow.wallet_id))
    query = query.where(col(WalletRow.uuid) == wallet_uuid, is_accepted_at(partner_id))
    locked = query.with_for_update(of=GiftCardRow).execution_options(populate_existing=True)
    return (await db.exec(locked)).one_or_none()


async def card_ids_of_order(db: AsyncSession, order_id: int) -> Sequence[int]:
    """The ids of the gift cards that were sold with an order, ascending."""
    query = select(GiftCardRow.id).where(col(GiftCardRow.order_id) == order_id)
    return (await db.exec(query.order_by(col(GiftCardRow.id)))).all()

"""The life of network gift cards, and what their network owes for them."""

from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.gift_card.gift_card import GiftCardStatus
from store.event.data import datetime_data, money_data
from store.gift_card.gift_cards import CODE_KEY, GiftCardRow
from store.gift_card.issuing import open_accounts_in
from store.ledger.accounts import card_account
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.life_cycle import LifeCycle
from store.network.postings import NetworkLiability
from store.network.states import TRANSITIONS, USABLE, shown_status, status_by_balance


class GiftCardLifeCycle(LifeCycle[GiftCardRow]):
    row = GiftCardRow
    name = "network_gift_card"
    states = TRANSITIONS
    status = GiftCardStatus
    usable = USABLE
    code_key = CODE_KEY
    network_id = "network_id"
    books_breakage = "network_gift_card_books_breakage"

    def liability_of(self, good: GiftCardRow) -> NetworkLiability:
        return NetworkLiability(card_account(good.id), good.book_id, good.currency, "gift_card", good.id)

    def is_issued_as_test(self, good: GiftCardRow) -> bool:
        return good.is_test

    def left(self, good: GiftCardRow) -> Decimal:
        return good.remaining_amount

    async def status_by_rest(self, db: AsyncSession, good: GiftCardRow) -> GiftCardStatus:
        """What is held is not left, but not used either."""
        status = status_by_balance(good.remaining_amount, good.value_amount)
        return GiftCardStatus.PAID if status is GiftCardStatus.USING and not await _is_used(db, good) else status

    async def open(self, db: AsyncSession, book_id: int, goods: Sequence[GiftCardRow]) -> None:
        await open_accounts_in(db, book_id, goods)
        for card in goods:
            card.used_elsewhere_amount = card.value_amount - card.remaining_amount

    def event_data(self, good: GiftCardRow) -> Mapping[str, Any]:
        return {
            "id": good.id,
            "uuid": str(good.uuid),
            "status": shown_status(good).value,
            "value": money_data(good.value_amount, good.currency),
            "remaining_value": money_data(good.remaining_amount, good.currency),
            "expires_on": datetime_data(good.expires_on),
        }


async def _is_used(db: AsyncSession, card: GiftCardRow) -> bool:
    """Whether a part of a card was used and not given back, here or in the system that it comes from."""
    usage = NetworkGiftCardUsageRow
    counts = col(usage.is_active), col(usage.returned_amount) < col(usage.value_amount)
    query = select(usage.id).where(col(usage.gift_card_id) == card.id, *counts).limit(1)
    return bool(card.used_elsewhere_amount) or (await db.exec(query)).first() is not None


network_gift_cards = GiftCardLifeCycle()

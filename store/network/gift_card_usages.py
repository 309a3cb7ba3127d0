"""Usages of network gift cards: what is taken of a card, and given back when a usage is cancelled."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import InsufficientBalance, InvalidInput
from schema.event import EventType
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.errors import NotSplittable, NotUsable, UsageInPayout
from store.gift_card.gift_cards import GiftCardRow
from store.ledger.posting import post
from store.network.events import emit_usage_event
from store.network.fees import GIFT_CARD_USAGE, apply_fees, fee_terms
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.issuing import liability_of
from store.network.postings import breakage_journal, usage_journal, usage_reversal_journal
from store.network.states import (
    EXPIRED,
    check_accepts,
    check_usable,
    shown_status,
    status_by_balance,
    transition,
)
from store.partner.partners import MarketplaceRow, PartnerRow


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUsage:
    """What is used of a card, where, and when."""

    value: Decimal
    used_on: dt.datetime
    comment: str = ""
    reservation_id: str = ""
    freeze_payout_date: dt.datetime | None = None


def check_value(value: Decimal) -> None:
    """Raise InvalidInput for a value that nothing can have."""
    if value <= 0:
        raise InvalidInput.at("value", "Send more than 0.00.", "OUT_OF_RANGE")


def check_use(card: GiftCardRow, partner: PartnerRow, value: Decimal, now: dt.datetime) -> None:
    """Raise what prevents a usage of a locked card at a partner of its network.

    That is what `check_usable` and `check_accepts` raise, InsufficientBalance at `value`, or NotSplittable.
    """
    check_usable(card, now)
    check_accepts(partner, is_linked=partner.linked_to_ngc_settings, is_test=card.is_test)
    if value > card.remaining_amount:
        raise InsufficientBalance("value")
    if not card.is_splittable and value != card.remaining_amount:
        raise NotSplittable


async def use_card(
    db: AsyncSession, network: MarketplaceRow, card: GiftCardRow, partner: PartnerRow, new: NewUsage, now: dt.datetime
) -> NetworkGiftCardUsageRow:
    """Take a value of a locked card for a partner, which earns it less the fees. Raises what `check_use` raises."""
    check_use(card, partner, new.value, now)
    usage = NetworkGiftCardUsageRow(
        gift_card_id=card.id,
        partner_id=partner.id,
        currency=card.currency,
        value_amount=new.value,
        net_amount=new.value,
        used_on=new.used_on,
        recorded_on=now,
        comment=new.comment,
        reservation_id=new.reservation_id,
        freeze_payout_date=new.freeze_payout_date,
    )
    apply_fees(usage, await fee_terms(db, network, partner.id, GIFT_CARD_USAGE), card.currency)
    card.remaining_amount -= new.value
    transition(card, status_by_balance(card.remaining_amount, card.value_amount))
    db.add(usage)
    await db.flush()
    await post(db, [usage_journal(liability_of(card), usage)])
    await emit_usage_event(db, EventType.NETWORK_GIFT_CARD_USED, card, usage)
    return usage


async def lock_usage(db: AsyncSession, id: int) -> tuple[GiftCardRow, NetworkGiftCardUsageRow]:
    """A usage and its card, both locked and read again: first the card, as everywhere."""
    table = NetworkGiftCardUsageRow
    of_usage = select(table.gift_card_id).where(col(table.id) == id).scalar_subquery()
    card = select(GiftCardRow).where(col(GiftCardRow.id) == of_usage).with_for_update()
    locked = (await db.exec(card.execution_options(populate_existing=True))).one()
    usage = select(table).where(col(table.id) == id).with_for_update()
    return locked, (await db.exec(usage.execution_options(populate_existing=True))).one()


async def cancel_usage(
    db: AsyncSession,
    network: MarketplaceRow,
    card: GiftCardRow,
    usage: NetworkGiftCardUsageRow,
    comment: str,
    now: dt.datetime,
) -> bool:
    """Cancel a locked usage: its value is on the card again. Returns False, without change, if it is cancelled already.

    An expired card stays expired; if its network books breakage, the value is booked too. Raises UsageInPayout, or NotUsable
    if the card was cancelled.
    """
    if not usage.is_active:
        return False
    if usage.payout_request_id is not None:
        raise UsageInPayout
    if card.status is GiftCardStatus.CANCELLED:
        raise NotUsable(status=shown_status(card))
    usage.is_active, usage.cancelled_on, usage.comment = False, now, comment or usage.comment
    card.remaining_amount += usage.value_amount
    journals = [await usage_reversal_journal(db, liability_of(card), usage)]
    if card.status is not EXPIRED:
        transition(card, status_by_balance(card.remaining_amount, card.value_amount))
    elif network.network_gift_card_books_breakage and card.expires_on is not None:
        card.unowed_amount += usage.value_amount
        journals.append(breakage_journal(liability_of(card), usage.value_amount, card.expires_on, usage))
    await post(db, journals)
    await emit_usage_event(db, EventType.NETWORK_GIFT_CARD_USAGE_CANCELLED, card, usage)
    return True

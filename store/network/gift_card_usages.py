"""Usages of network gift cards: what is taken of a card, and given back when a usage is cancelled."""

import datetime as dt
from dataclasses import dataclass
from decimal import Decimal
from uuid import UUID

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import InsufficientBalance, InvalidInput
from schema.gift_card.gift_card import GiftCardStatus
from schema.network.errors import NotSplittable, NotUsable, UsageOfPayment
from store.gift_card.gift_cards import GiftCardRow
from store.ledger.posting import post
from store.network.events import emit_card_usage
from store.network.fees import GIFT_CARD_USAGE, apply_fees, fee_terms
from store.network.gift_cards import NetworkGiftCardUsageRow
from store.network.issuing import network_gift_cards
from store.network.locking import lock_usage_of
from store.network.payouts import lock_open_payouts
from store.network.postings import usage_journal, usage_reversal_journal
from store.network.states import (
    EXPIRED,
    check_accepts,
    check_usable,
    shown_status,
    status_by_balance,
    transition,
)
from store.partner.partners import MarketplaceRow, PartnerRow
from store.payout.gathering import refresh


@dataclass(frozen=True, slots=True, kw_only=True)
class NewUsage:
    """What is used of a card, where, and when."""

    value: Decimal
    used_on: dt.datetime
    comment: str = ""
    reservation_id: str = ""
    freeze_payout_date: dt.datetime | None = None
    payment_id: UUID | None = None
    """The payment that it is a part of; None for a usage over the API."""


def check_value(value: Decimal) -> None:
    """Raise InvalidInput for a value that nothing can have."""
    if value <= 0:
        raise InvalidInput.at("value", "Send more than 0.00.", "OUT_OF_RANGE")


def check_accepted(card: GiftCardRow, partner: PartnerRow, now: dt.datetime, *, held: bool = False) -> None:
    """Raise what prevents any usage of a card at a partner of its network: what `check_usable` and `check_accepts` raise."""
    check_usable(card, now, held=held)
    check_accepts(partner, is_linked=partner.linked_to_ngc_settings, is_test=card.is_test)


def check_use(
    card: GiftCardRow, partner: PartnerRow, value: Decimal, now: dt.datetime, *, value_at: str = "value"
) -> None:
    """Raise what prevents a usage of a locked card at a partner of its network.

    That is what `check_accepted` raises, InsufficientBalance at `value_at`, or NotSplittable.
    """
    check_accepted(card, partner, now)
    if value > card.remaining_amount:
        raise InsufficientBalance(value_at)
    if not card.is_splittable and value != card.remaining_amount:
        raise NotSplittable


async def use_card(
    db: AsyncSession, network: MarketplaceRow, card: GiftCardRow, partner: PartnerRow, new: NewUsage, now: dt.datetime
) -> NetworkGiftCardUsageRow:
    """Take a value of a locked card for a partner, which earns it less the fees. Raises what `check_use` raises."""
    check_use(card, partner, new.value, now)
    return await record_usage(db, network, card, partner.id, new, now)


async def record_usage(
    db: AsyncSession, network: MarketplaceRow, card: GiftCardRow, partner_id: int, new: NewUsage, now: dt.datetime
) -> NetworkGiftCardUsageRow:
    """Record a usage of a locked card that has this value left. An expired card keeps its status while it has a balance."""
    usage = NetworkGiftCardUsageRow(
        gift_card_id=card.id,
        partner_id=partner_id,
        currency=card.currency,
        value_amount=new.value,
        net_amount=new.value,
        used_on=new.used_on,
        recorded_on=now,
        comment=new.comment,
        reservation_id=new.reservation_id,
        freeze_payout_date=new.freeze_payout_date,
        payment_id=new.payment_id,
    )
    apply_fees(usage, await fee_terms(db, network, partner_id, GIFT_CARD_USAGE), card.currency)
    card.remaining_amount -= new.value
    if card.status is not EXPIRED or not card.remaining_amount:
        transition(card, status_by_balance(card.remaining_amount, card.value_amount))
    db.add(usage)
    await db.flush()
    await post(db, [usage_journal(network_gift_cards.liability_of(card), usage)])
    await emit_card_usage(db, "used", card, usage)
    return usage


async def lock_usage(db: AsyncSession, id: int) -> tuple[GiftCardRow, NetworkGiftCardUsageRow]:
    return await lock_usage_of(db, GiftCardRow, NetworkGiftCardUsageRow, NetworkGiftCardUsageRow.gift_card_id, id)


async def cancel_usage(
    db: AsyncSession,
    card: GiftCardRow,
    usage: NetworkGiftCardUsageRow,
    comment: str,
    now: dt.datetime,
) -> bool:
    """Cancel a locked usage: its value is on the card again. Returns False, without change, if it is cancelled already.

    An expired card stays expired; if its network books breakage, the value is booked too. Raises UsageOfPayment for a part
    of a payment, UsageInPayout, or NotUsable if the card was cancelled.
    """
    if not usage.is_active:
        return False
    if usage.payment_id is not None:
        raise UsageOfPayment
    if card.status is GiftCardStatus.CANCELLED:
        raise NotUsable(status=shown_status(card))
    payouts = await lock_open_payouts(db, usage)
    usage.is_active, usage.cancelled_on, usage.comment = False, now, comment or usage.comment
    card.remaining_amount += usage.value_amount
    reversal = await usage_reversal_journal(db, network_gift_cards.liability_of(card), usage)
    await post(db, [reversal, *await network_gift_cards.take_back(db, card, usage.value_amount, str(usage.id))])
    for payout in payouts:
        await refresh(db, payout)
    await emit_card_usage(db, "usage_cancelled", card, usage)
    return True

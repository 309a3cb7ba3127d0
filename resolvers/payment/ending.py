"""How payments over the API end: paid, with what their gift cards hold, or cancelled."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal

import structlog
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.payment.events import emit_payment_event
from resolvers.payment.locking import LockedPayment, lock_with_sources
from resolvers.payment.refunds.recording import promise_refund
from resolvers.payment.requests.states import claim_request
from schema.event import EventType
from schema.payment.payment import PaymentSourceKind, PaymentStatus, RefundOrigin
from store.gift_card.movements import debit_card
from store.gift_card.states import is_capturable
from store.ledger.posting import post
from store.network.card_payments import CardPart, can_pay, capture_of_networks, capture_own, release
from store.partner.partners import PartnerRow
from store.payment.payments import PAYABLE, PAYMENT_STATES, PaymentRow, PaymentTransactionRow
from store.payment.recording import has_open_payin, record_gift_card_payins, record_success
from store.providers.money import MinorAmount
from store.providers.transactions import Transaction

log = structlog.get_logger(__name__)


async def hold_gift_cards(db: AsyncSession, locked: LockedPayment) -> None:
    """Hold what the gift cards of a new payment pay. They must be spendable and have that balance."""
    locked.payment.round += 1
    await post(db, [debit_card(card, locked.payment, amount) for card, amount in _held(locked)])


async def capture_gift_cards(db: AsyncSession, locked: LockedPayment, now: dt.datetime) -> None:
    """Spend what the gift cards of a payment hold."""
    payment, held = locked.payment, _held(locked)
    await capture_own(db, payment, held)
    await record_gift_card_payins(db, payment, locked.sources, now)
    await capture_of_networks(db, payment, payment, held, now)


async def complete_payment(
    db: AsyncSession, payment: PaymentRow, payin: PaymentTransactionRow, transaction: Transaction, now: dt.datetime
) -> None:
    """Complete a payment whose pay-in has succeeded. What can no longer be completed is refunded in full."""
    was_payable = payment.status in PAYABLE
    locked = await lock_with_sources(db, payment)
    payment = locked.payment
    payment.status = PAYMENT_STATES.require(payment.status, PaymentStatus.OK)
    is_held = was_payable or await _can_hold_again(db, locked, now)
    if is_held and not was_payable:
        await hold_gift_cards(db, locked)
    usable = is_held and all(is_capturable(card) for card, _ in _held(locked))
    matches = transaction.amount == MinorAmount.of(payin.transaction_amount, payin.currency)
    if not matches:
        _take_actual_amount(locked, payin, transaction)
    await record_success(db, payment, payin, transaction, now)
    usable = usable and matches and transaction.reference == str(payment.id)
    if usable and await claim_request(db, payment):
        await capture_gift_cards(db, locked, now)
        return await emit_payment_event(db, EventType.PAYMENT_SUCCEEDED, payment)
    log.error("a payment cannot be completed, and is refunded", payment=str(payment.id), payin=transaction.id)
    if is_held:
        await release(db, payment, _held(locked))
    await _forget_gift_cards(db, locked)
    by_card = await lock_with_sources(db, payment)
    amounts = {row.id: row.source_amount for row in by_card.sources}
    await promise_refund(db, by_card, amounts, origin=RefundOrigin.SHOP, now=now)
    return None


async def _forget_gift_cards(db: AsyncSession, locked: LockedPayment) -> None:
    """The gift cards of a payment have paid nothing of it: nothing of it can go back to them."""
    payment = locked.payment
    payment.extra_amount, payment.extra_wallet_id, payment.payment_amount = Decimal(0), None, payment.card_amount
    payment.net_amount = payment.card_amount - payment.commission_amount
    for row in locked.sources:
        if row.kind is not PaymentSourceKind.CREDIT_CARD:
            await db.delete(row)
    await db.flush()


async def cancel_locked(db: AsyncSession, payment: PaymentRow, now: dt.datetime) -> PaymentRow:
    """Lock a payment and cancel it, unless it has ended or its pay-in is still open. Releases its gift cards."""
    locked = await lock_with_sources(db, payment)
    payment = locked.payment
    if payment.status not in PAYABLE:
        return payment
    if await has_open_payin(db, payment):
        payment.check_on = now + dt.timedelta(minutes=15)
        return payment
    await release(db, payment, _held(locked))
    payment.status, payment.check_on = PAYMENT_STATES.require(payment.status, PaymentStatus.CANCELLED), None
    await emit_payment_event(db, EventType.PAYMENT_CANCELLED, payment)
    return payment


def _take_actual_amount(locked: LockedPayment, payin: PaymentTransactionRow, transaction: Transaction) -> None:
    """The provider has charged another amount than it was asked to: the books say what has happened."""
    payment, charged, fee = locked.payment, transaction.amount.decimal, transaction.fee.decimal
    payment.card_amount, payment.payment_amount = charged, charged + payment.extra_amount
    payment.commission_amount = payin.commission_amount = fee
    payment.commission_vat_amount = payin.commission_vat_amount = min(payment.commission_vat_amount, fee)
    payment.net_amount = payment.payment_amount - fee
    payin.transaction_amount, payin.net_amount = charged, charged - fee
    for row in locked.sources:
        if row.kind is PaymentSourceKind.CREDIT_CARD:
            row.source_amount = charged


async def _can_hold_again(db: AsyncSession, locked: LockedPayment, now: dt.datetime) -> bool:
    partner = await db.get_one(PartnerRow, locked.payment.partner_id)
    return all(can_pay(card, partner, amount, now) for card, amount in _held(locked))


def _held(locked: LockedPayment) -> Sequence[CardPart]:
    return [(locked.cards[row.gift_card_id], row.source_amount) for row in locked.sources if row.gift_card_id]

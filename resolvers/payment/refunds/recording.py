"""Refunds in the database: promised, done, failed. The provider is called elsewhere, between these steps."""

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.order.fulfilment import cancel_if_refunded
from resolvers.payment.events import emit_payment_event, emit_refund_event
from resolvers.payment.locking import LockedPayment
from schema.event import EventType
from schema.order.order import OrderStatus
from schema.payment.payment import (
    PaymentSourceKind,
    PaymentTransactionStatus,
    PaymentTransactionType,
    RefundOrigin,
    RefundState,
)
from schema.payment.transfer import TransferType
from store.job.jobs import JobKind, enqueue_job
from store.ledger.balances import lock_balance
from store.ledger.posting import Journal, post
from store.network.card_payments import return_to_card
from store.order.orders import lock_order
from store.order.refund_answers import approve_refunded_requests
from store.order.refunds import OrderRefund, record_order_refund
from store.payment.attempts import AttemptRow, AttemptState
from store.payment.attempts import transition as move_attempt
from store.payment.payments import REFUND_STATES, PaymentRow, PaymentSourceRow, PaymentTransactionRow, RefundRow
from store.payment.postings import owner_accounts, refund_failed_journal, refund_journal, refund_paid_journal
from store.payment.recording import sources_of, transfer_of, was_refunded_today
from store.payment.refund_amounts import commission_to_refund, part_of_share

CARD = PaymentSourceKind.CREDIT_CARD
NOTHING = Decimal("0.00")
IN_PROGRESS, OK = PaymentTransactionStatus.IN_PROGRESS, PaymentTransactionStatus.OK
ERROR = PaymentTransactionStatus.ERROR
SAME_AMOUNT_TODAY = "The payment provider takes the same amount once a day: it is sent tomorrow."
OPEN_REFUNDS = (RefundState.PENDING, RefundState.NEEDS_ACTION)


async def promise_refund(
    db: AsyncSession,
    locked: LockedPayment,
    amounts: Mapping[int, Decimal],
    *,
    origin: RefundOrigin,
    now: dt.datetime,
    reason: str = "",
    of_order: OrderRefund | None = None,
    of_network: Decimal | None = None,
) -> RefundRow:
    """Write a refund of these amounts, by source id. Gift cards have their money at once; the bank card's part is
    promised, and sent by the worker. `of_order` tells which lines of the order it is for. Of a payment of two owners,
    `of_network` is what of the bank card's part is the marketplace's; None: in proportion to what is left of both. The owners
    must be locked.

    Raises InsufficientFunds if the owner's earnings do not suffice: the partner's; of a refill and of what a network
    sells, the marketplace's funds.
    Raises CommissionOnly if nothing of the bank card's part would be the partner's.
    """
    payment, total = locked.payment, sum(amounts.values(), Decimal("0.00"))
    of: dict[str, Any] = {"partner_id": payment.partner_id, "payment_id": payment.id, "currency": payment.currency}
    refund = RefundRow(**of, created_on=now, origin=origin, refund_amount=total, reason=reason)
    db.add(refund)
    await db.flush()
    if of_order is not None:
        await record_order_refund(db, refund, of_order)
    parts = [(source, amount) for source in locked.sources if (amount := amounts.get(source.id))]
    if any(source.kind is CARD for source, _ in parts):  # before what is earned in the network, as everywhere
        await lock_balance(db, payment.book_id, owner_accounts(payment).earnings)
    for source, amount in parts:  # one by one: what one takes of the partner's earnings, the next has no more
        share = part_of_share(payment, source, amount, of_network) if source.kind is CARD else NOTHING
        await post(db, await _refund_part(db, locked, source, refund, amount, share, now))
    await emit_refund_event(db, EventType.REFUND_CREATED, refund, is_of_amount=of_order is None)
    if all(source.kind is not CARD for source, _ in parts):  # the bank card's part is never done at once
        await finish_if_done(db, payment, refund, now)
    await cancel_if_refunded(db, payment.order_id, now, tells=of_order is None)  # refunds of lines have a mail
    await approve_refunded_requests(db, payment.order_id, refund, now, of_order.answers if of_order else None)
    return refund


async def _refund_part(
    db: AsyncSession,
    locked: LockedPayment,
    source: PaymentSourceRow,
    refund: RefundRow,
    amount: Decimal,
    share: Decimal,
    now: dt.datetime,
) -> Sequence[Journal]:
    payment, by_card = locked.payment, source.kind is CARD
    if by_card and await was_refunded_today(db, source, amount, now):
        refund.detail = SAME_AMOUNT_TODAY
    commission, vat = commission_to_refund(payment, source, amount, share)
    of: dict[str, Any] = {"partner_id": payment.partner_id, "payment_id": payment.id, "currency": payment.currency}
    of |= dict.fromkeys(("created_on", "sent_at"), now)
    part = PaymentTransactionRow(
        **of,
        refund_id=refund.id,
        source_id=source.id,
        type=PaymentTransactionType.REFUND,
        status=IN_PROGRESS if by_card else OK,
        payment_method=source.kind,
        transaction_amount=amount,
        commission_amount=commission,
        commission_vat_amount=vat,
        partner_share_amount=share,
        net_amount=amount - commission,
        executed_on=None if by_card else now,
        check_on=now if by_card else None,
    )
    db.add(part)
    take_back(payment, source, part)
    await db.flush()
    if by_card:
        await enqueue_job(db, JobKind.SEND_REFUND, {"id": part.id}, unique_key=str(part.id))
        return [refund_journal(payment, part)]
    assert source.gift_card_id is not None
    db.add(await transfer_of(db, payment, source, amount, TransferType.REVERSAL, now))
    card = locked.cards[source.gift_card_id]
    return await return_to_card(db, card, payment, amount, f"{refund.id}:{part.id}", now)


def take_back(payment: PaymentRow, source: PaymentSourceRow, part: PaymentTransactionRow, *, sign: int = 1) -> None:
    """Count a part of a refund at its payment and its source; with a `sign` of -1, one that failed."""
    payment.refunded_amount += sign * part.transaction_amount
    source.refunded_amount += sign * part.transaction_amount
    source.commission_back_amount += sign * part.commission_amount
    source.commission_vat_back_amount += sign * part.commission_vat_amount
    source.partner_share_back_amount += sign * part.partner_share_amount


async def record_refund_paid(
    db: AsyncSession,
    payment: PaymentRow,
    part: PaymentTransactionRow,
    now: dt.datetime,
    executed_on: dt.datetime | None,
) -> None:
    """A part of a locked payment's refund has left the wallet."""
    part.status, part.check_on, part.executed_on = OK, None, executed_on or now
    part.result_code = part.result_message = ""
    await post(db, [refund_paid_journal(payment, part)])
    await finish_if_done(db, payment, await refund_of(db, part), now)


async def record_refund_failed(db: AsyncSession, payment: PaymentRow, part: PaymentTransactionRow, detail: str) -> None:
    """A part of a locked payment's refund will never be made: its money is the owner's again."""
    source = next(row for row in await sources_of(db, payment) if row.id == part.source_id)
    part.status, part.check_on, part.executed_on = ERROR, None, None
    take_back(payment, source, part, sign=-1)
    refund = await refund_of(db, part)
    refund.state, refund.detail = REFUND_STATES.require(refund.state, RefundState.FAILED), detail
    await post(db, [refund_failed_journal(payment, part)])
    await emit_refund_event(db, EventType.REFUND_FAILED, refund)


async def finish_if_done(db: AsyncSession, payment: PaymentRow, refund: RefundRow, now: dt.datetime) -> None:
    """Close a refund whose money has all gone back, and the order of a payment that is refunded in full."""
    parts = await parts_of(db, refund)
    if refund.state not in OPEN_REFUNDS or any(part.status is not OK for part in parts):
        return
    refund.state, refund.detail = REFUND_STATES.require(refund.state, RefundState.DONE), ""
    await emit_refund_event(db, EventType.REFUND_SUCCEEDED, refund)
    open_refunds = select(RefundRow.id).where(
        col(RefundRow.payment_id) == payment.id, col(RefundRow.state).in_(OPEN_REFUNDS), col(RefundRow.id) != refund.id
    )
    if payment.refunded_amount == payment.payment_amount and (await db.exec(open_refunds)).first() is None:
        await _close(db, payment, now)


async def _close(db: AsyncSession, payment: PaymentRow, now: dt.datetime) -> None:
    """The payment is refunded in full: so is its order."""
    payment.modified_on = now
    await emit_payment_event(db, EventType.PAYMENT_REFUNDED, payment)
    if payment.order_id is not None:
        (await lock_order(db, payment.order_id)).status = OrderStatus.REFUNDED
    if payment.attempt_id is not None:
        attempt = await db.get_one(AttemptRow, payment.attempt_id)
        if attempt.state is AttemptState.REFUNDING:
            move_attempt(attempt, AttemptState.REFUNDED)


async def refund_of(db: AsyncSession, part: PaymentTransactionRow) -> RefundRow:
    """The refund of a part, under the lock of its payment."""
    query = select(RefundRow).where(col(RefundRow.id) == part.refund_id)
    return (await db.exec(query.execution_options(populate_existing=True))).one()


async def parts_of(db: AsyncSession, refund: RefundRow) -> Sequence[PaymentTransactionRow]:
    """The parts of a refund, one for each source."""
    await db.flush()
    return (await db.exec(select(PaymentTransactionRow).where(col(PaymentTransactionRow.refund_id) == refund.id))).all()

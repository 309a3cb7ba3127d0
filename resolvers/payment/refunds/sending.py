"""Refunds to bank cards at the provider. A part of a refund is promised in the database first, and sent by the worker."""

import datetime as dt
import uuid
from dataclasses import dataclass

import structlog
from prometheus_client import Counter
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession
from sqlmodel.sql.expression import SelectOfScalar

from resolvers.core.provider.process import ProviderCall, ProviderChecks, Recording, RefusedCall
from resolvers.core.services import Services
from resolvers.payment.events import emit_refund_event
from resolvers.payment.refunds.goods import lock_goods, release_vouchers, reopen_lines
from resolvers.payment.refunds.provider_refunds import record_provider_refund, refund_with
from resolvers.payment.refunds.recording import SAME_AMOUNT_TODAY, record_refund_failed, record_refund_paid, refund_of
from schema.core.errors import NotFound
from schema.event import EventType
from schema.payment.payment import PaymentTransactionStatus, PaymentTransactionType, RefundState
from store.core.provider_process import CheckIntervals
from store.job.jobs import JobKind
from store.payment.payments import REFUND_STATES, PaymentRow, PaymentTransactionRow
from store.payment.postings import lock_owners
from store.payment.recording import lock_card_part, lock_payment
from store.providers.errors import Declined, UnknownOutcome
from store.providers.keys import IdempotencyKey
from store.providers.money import MinorAmount
from store.providers.transactions import (
    CardRefundRequest,
    Failure,
    FailureReason,
    Transaction,
    TransactionKind,
    TransactionStatus,
)

log = structlog.get_logger(__name__)
INTERVALS = CheckIntervals(
    by_age=((dt.timedelta(minutes=10), dt.timedelta(minutes=1)), (dt.timedelta(days=1), dt.timedelta(minutes=15))),
    longest=dt.timedelta(hours=6),
)
FINAL = frozenset(
    {
        FailureReason.ALREADY_REFUNDED,
        FailureReason.REFUND_TOO_LATE,
        FailureReason.REFUND_OVER_AMOUNT,
        FailureReason.AMOUNT,
        FailureReason.DISPUTED,
    }
)
"""Failures that no repetition can change."""
PAUSES = tuple(dt.timedelta(hours=hours) for hours in (1, 6, 24, 24, 24, 24))
"""How long to wait before a refund that failed is sent again; after the last of them a person has to see to it."""
DETAILS = {
    FailureReason.INSUFFICIENT_WALLET: "The wallet at the payment provider does not hold enough money.",
    FailureReason.FEE_WALLET_EMPTY: "The platform's wallet of fees does not hold enough money.",
    FailureReason.REFUND_REPEATED: SAME_AMOUNT_TODAY,
    FailureReason.ALREADY_REFUNDED: "The payment provider has refunded it already.",
    FailureReason.REFUND_TOO_LATE: "The payment is too old to be refunded to its card.",
    FailureReason.DISPUTED: "The payment is disputed: its bank has taken the money back, or may do so.",
    FailureReason.REFUND_OVER_AMOUNT: "The payment provider has less left to refund of this payment.",
}
OTHER_DETAIL = "The payment provider has refused it"
NEEDS_ACTION = Counter(
    "coffret_refunds_given_up", "Refunds that could not be made for days, so that a person has to see to them."
)


@dataclass(frozen=True, slots=True)
class RefundAnswer:
    """A refund as the provider tells it, and the key that it was sent with. None: the provider has none."""

    key: uuid.UUID
    transaction: Transaction | None


async def send_refund(services: Services, id: int) -> PaymentTransactionRow:
    """Send a part of a refund if it is time to, or ask for the status of one that the provider has. One that needs a
    person is sent only after `retryRefund`.

    Raises ProviderError if the provider cannot tell now.
    """
    async with services.db.sessions() as db:
        part = await db.get(PaymentTransactionRow, id)
        if part is None:
            raise NotFound(thing="refund")
        refund, payin = await refund_of(db, part), (await db.exec(_payin_of(part))).one()
    if part.status is not PaymentTransactionStatus.IN_PROGRESS:
        return part
    may_be_sent = refund.state is RefundState.PENDING and part.sent_at <= services.clock.now()
    if not part.provider_id and not may_be_sent:
        return part
    return await REFUND.send(services, part, _refund(services, part, payin))


async def _earlier_refund(
    services: Services, part: PaymentTransactionRow, payin: PaymentTransactionRow
) -> Transaction | None:
    """This refund, if the provider has it already and its answer was lost. Records those made at the provider."""
    for refund in await services.provider.list_children(TransactionKind.PAYIN, payin.provider_id):
        if refund.status is TransactionStatus.FAILED:
            continue
        if refund.reference == str(part.refund_id):
            return refund
        if refund.status is TransactionStatus.SUCCEEDED and not await _is_ours(services, refund):
            await record_provider_refund(services, refund)
    return None


async def _refund(services: Services, part: PaymentTransactionRow, payin: PaymentTransactionRow) -> RefundAnswer:
    if part.provider_id:
        return RefundAnswer(part.key, await services.provider.get_transaction(TransactionKind.REFUND, part.provider_id))
    if (earlier := await _earlier_refund(services, part, payin)) is not None:
        return RefundAnswer(part.key, earlier)
    async with services.db.sessions() as db:
        current = await _reload(db, part)
        if current.status is not PaymentTransactionStatus.IN_PROGRESS or current.key != part.key:
            return RefundAnswer(part.key, None)  # another call has had its answer
    amount, fee = (MinorAmount.of(each, part.currency) for each in (part.transaction_amount, part.commission_amount))
    request = CardRefundRequest(str(part.refund_id), payin.provider_id, payin.payer_id, amount, fee)
    try:
        sent = await services.provider.refund(request, key=IdempotencyKey(str(part.key)), sent_at=part.sent_at)
    except Declined as declined:
        sent = declined.transaction
    except UnknownOutcome:
        return RefundAnswer(part.key, None)
    return RefundAnswer(part.key, sent)


async def _record(tx: Recording, part: PaymentTransactionRow, answer: RefundAnswer) -> PaymentTransactionRow:
    if part.status is not PaymentTransactionStatus.IN_PROGRESS or part.key != answer.key:
        return part
    refund = answer.transaction
    if refund is None:  # its key is forgotten, and nothing was done with it
        _renew_key(part, tx.now, tx.now)
    elif refund.status is TransactionStatus.FAILED:
        await _record_failure(tx, part, refund.failure)
    else:
        part.provider_id, part.check_on = refund.id, next_check(part, tx.now)
        if refund.status is TransactionStatus.SUCCEEDED:
            await record_refund_paid(tx.db, await _payment_of(tx.db, part), part, tx.now, refund.executed_at)
    return part


async def _record_refused(
    tx: Recording, part: PaymentTransactionRow, refused: RefusedCall[PaymentTransactionRow]
) -> None:
    if part.status is PaymentTransactionStatus.IN_PROGRESS and part.key == refused.row.key:
        error = refused.error
        await _record_failure(tx, part, Failure(error.code, str(error), FailureReason.UNKNOWN))


async def _record_failure(tx: Recording, part: PaymentTransactionRow, failure: Failure | None) -> None:
    """Nothing was refunded: send it again later, give it to a person, or give it up."""
    reason = failure.reason if failure else FailureReason.UNKNOWN
    code, message = (failure.code, failure.message) if failure else ("", "")
    part.result_code, part.result_message = code[:20], message[:200]
    detail = DETAILS.get(reason, f"{OTHER_DETAIL}: {message} ({code})")[:300]
    log.error("a refund failed", refund=str(part.refund_id), code=code, reason=reason, tries=part.tries)
    refund = await refund_of(tx.db, part)
    if reason in FINAL:
        payment = await _payment_of(tx.db, part)
        await lock_owners(tx.db, payment)
        await record_refund_failed(tx.db, payment, part, detail)
        return await release_vouchers(tx.db, await reopen_lines(tx.db, payment, refund, part.transaction_amount))
    refund.detail = detail
    if part.tries < len(PAUSES):
        pause = max(PAUSES[part.tries], dt.timedelta(days=1) if reason is FailureReason.REFUND_REPEATED else PAUSES[0])
        return _renew_key(part, tx.now, tx.now + pause)
    _renew_key(part, tx.now, None)
    if refund.state is RefundState.NEEDS_ACTION:
        return None
    refund.state = REFUND_STATES.require(refund.state, RefundState.NEEDS_ACTION)
    NEEDS_ACTION.inc()
    return await emit_refund_event(tx.db, EventType.REFUND_NEEDS_ACTION, refund)


def _renew_key(part: PaymentTransactionRow, now: dt.datetime, check_on: dt.datetime | None) -> None:
    part.key, part.sent_at, part.provider_id = uuid.uuid4(), check_on or now, ""
    part.tries, part.check_on = part.tries + 1, check_on


def next_check(part: PaymentTransactionRow, now: dt.datetime) -> dt.datetime:
    return INTERVALS.after(part.sent_at, now)


async def _lock_part(db: AsyncSession, part: PaymentTransactionRow) -> PaymentTransactionRow:
    """Lock the payment of a part with what was sold, and reload the part: it changes only under that lock."""
    await lock_goods(db, await _unlocked_payment_of(db, part))
    return await _reload(db, part)


async def _reload(db: AsyncSession, part: PaymentTransactionRow) -> PaymentTransactionRow:
    query = select(PaymentTransactionRow).where(col(PaymentTransactionRow.id) == part.id)
    return (await db.exec(query.execution_options(populate_existing=True))).one()


async def _is_ours(services: Services, refund: Transaction) -> bool:
    """True if one of our refunds has the transaction's id or is named by its reference."""
    async with services.db.sessions() as db:
        if (await db.exec(refund_with(refund.id))).first() is not None:
            return True
    return await claim_by_reference(services, refund) is not None


async def _payment_of(db: AsyncSession, part: PaymentTransactionRow) -> PaymentRow:
    return await lock_payment(db, await _unlocked_payment_of(db, part))


async def _unlocked_payment_of(db: AsyncSession, part: PaymentTransactionRow) -> PaymentRow:
    return (await db.exec(select(PaymentRow).where(col(PaymentRow.id) == part.payment_id))).one()


def _payin_of(part: PaymentTransactionRow) -> SelectOfScalar[PaymentTransactionRow]:
    table = PaymentTransactionRow
    return select(table).where(
        col(table.payment_id) == part.payment_id,
        col(table.source_id) == part.source_id,
        col(table.type) == PaymentTransactionType.PAYIN,
        col(table.status) == PaymentTransactionStatus.OK,
    )


REFUND = ProviderCall(lock=_lock_part, record=_record, refuse=_record_refused)
CHECKS = ProviderChecks(
    row=PaymentTransactionRow,
    job=JobKind.SEND_REFUND,
    next_check=next_check,
    check=send_refund,
    conditions=(
        col(PaymentTransactionRow.type) == PaymentTransactionType.REFUND,
        col(PaymentTransactionRow.status) == PaymentTransactionStatus.IN_PROGRESS,
    ),
)


async def claim_by_reference(services: Services, refund: Transaction) -> int | None:
    """The part of our refund that the transaction's reference names; from now on it has the transaction's id.

    None for a try that failed: its answer is recorded where it was sent, and the next one has its own time.
    """
    if refund.status is TransactionStatus.FAILED:
        return None
    async with services.db.sessions() as db, db.begin():
        part = await lock_card_part(db, refund.reference)
        if part is None:
            return None
        is_other = part.status is PaymentTransactionStatus.ERROR or part.provider_id not in ("", refund.id)
        if is_other and refund.status is TransactionStatus.SUCCEEDED:
            return None  # it was given up and made all the same, or made twice: it is recorded as what has happened
        if part.status is PaymentTransactionStatus.IN_PROGRESS and not part.provider_id:
            part.provider_id, part.check_on = refund.id, services.clock.now()
        return part.id

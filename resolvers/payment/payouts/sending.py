"""Payouts at the provider: validated payout requests are sent by the worker, each once, and followed to their end."""

import datetime as dt
import uuid
from dataclasses import dataclass

import structlog
from prometheus_client import Counter
from sqlmodel import col
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.provider.process import ProviderCall, ProviderChecks, Recording, RefusedCall
from resolvers.core.services import Services
from resolvers.core.transaction import count_if_committed
from resolvers.mail.payouts import queue_payout_mail
from resolvers.payment.payouts.settling import settle
from schema.core.errors import NotFound
from schema.event import EventType
from schema.mail import MailKind
from store.bank_account import BankAccountRow
from store.core.provider_process import CheckIntervals
from store.job.jobs import JobKind
from store.ledger.posting import post
from store.ledger.wallets import WalletRow
from store.payout.events import emit_payout_events
from store.payout.gathering import free_items
from store.payout.postings import failed_journal, lock_balances, paid_journal
from store.payout.requests import FAILED, PAID, PAYOUT_STATES, VALIDATED, PayoutRequestRow, lock_payout
from store.providers.errors import Declined, UnknownOutcome
from store.providers.keys import IdempotencyKey
from store.providers.money import MinorAmount
from store.providers.transactions import (
    Failure,
    FailureReason,
    PayoutInstruction,
    Transaction,
    TransactionKind,
    TransactionStatus,
)

log = structlog.get_logger(__name__)
INTERVALS = CheckIntervals(
    by_age=((dt.timedelta(hours=1), dt.timedelta(minutes=10)), (dt.timedelta(days=2), dt.timedelta(hours=1))),
    longest=dt.timedelta(hours=6),
)
REPEATED = frozenset({FailureReason.INSUFFICIENT_WALLET, FailureReason.PROVIDER_TECHNICAL})
"""Failures after which the same payout may succeed later."""
PAUSES = tuple(dt.timedelta(hours=hours) for hours in (1, 6, 24))
"""How long to wait before it is sent again; after the last of them it has failed."""
UNKNOWN_PAUSE = dt.timedelta(days=1)
UNKNOWN = "It is not known whether the payout was made: look it up at the payment provider."
DETAILS = {
    FailureReason.INSUFFICIENT_WALLET: "The partner's wallet at the payment provider does not hold enough money.",
    FailureReason.BANK_ACCOUNT: "The bank account is wrong, closed or somebody else's: register another one.",
    FailureReason.KYC_REQUIRED: "The payment provider has to identify the partner first.",
    FailureReason.EXPIRED: "The payment provider has not processed it in time.",
}
OUTCOMES = Counter("coffret_payouts", "Payouts that have ended, by how.", ["outcome"])


@dataclass(frozen=True, slots=True)
class PayoutAnswer:
    """A payout as the provider tells it, and the key that it was sent with. None: the outcome is not known."""

    key: uuid.UUID
    transaction: Transaction | None


async def send_payout(services: Services, id: int) -> PayoutRequestRow:
    """Send a validated payout request, or ask for the status of one that the provider has. Raises ProviderError."""
    payout = await _read(services, id)
    if payout.status is VALIDATED and payout.settled_on is None:
        payout = await settle(services, payout)
    if payout.status is not VALIDATED or payout.settled_on is None:
        return payout
    async with services.db.sessions() as db, db.begin():
        payout = await lock_payout(db, id)
        if payout.status is not VALIDATED or not _begin(payout, services.clock.now()):
            return payout
        instruction = await _instruction(db, payout)
    return await PAYOUT.send(services, payout, _pay_out(services, payout, instruction))


async def _read(services: Services, id: int) -> PayoutRequestRow:
    async with services.db.sessions() as db:
        payout = await db.get(PayoutRequestRow, id)
    if payout is None:
        raise NotFound(thing="payout request")
    return payout


def _begin(payout: PayoutRequestRow, now: dt.datetime) -> bool:
    """Store when the payout is sent. False while it has to wait after a failure."""
    if payout.sent_at is None:
        payout.sent_at = now
    return payout.sent_at <= now


async def _instruction(db: AsyncSession, payout: PayoutRequestRow) -> PayoutInstruction:
    account = await db.get_one(BankAccountRow, payout.bank_account_id)
    wallet = await db.get_one(WalletRow, payout.wallet_id)
    fee = MinorAmount.of(payout.recovered_amount, payout.currency)
    return PayoutInstruction(
        reference=str(payout.id),
        author_id=account.account_id,
        wallet_id=wallet.provider_wallet_id or "",
        destination_id=account.provider_id,
        amount=MinorAmount.of(payout.payout_amount, payout.currency) + fee,
        fee=fee,
        statement=f"PAYOUT {payout.id}",
    )


async def _pay_out(services: Services, payout: PayoutRequestRow, instruction: PayoutInstruction) -> PayoutAnswer:
    if payout.provider_id:
        found = await services.provider.get_transaction(TransactionKind.PAYOUT, payout.provider_id)
        return PayoutAnswer(payout.key, found)
    assert payout.sent_at is not None, "the key is stored before it is sent"
    try:
        key = IdempotencyKey(str(payout.key))
        sent = await services.provider.pay_out(instruction, key=key, sent_at=payout.sent_at)
    except Declined as declined:
        sent = declined.transaction
    except UnknownOutcome:
        return PayoutAnswer(payout.key, None)
    return PayoutAnswer(payout.key, sent)


async def _lock(db: AsyncSession, payout: PayoutRequestRow) -> PayoutRequestRow:
    return await lock_payout(db, payout.id)


async def _record(tx: Recording, payout: PayoutRequestRow, answer: PayoutAnswer) -> PayoutRequestRow:
    if payout.status is not VALIDATED or payout.key != answer.key:
        return payout
    sent = answer.transaction
    if sent is None:
        payout.detail, payout.check_on = UNKNOWN, tx.now + UNKNOWN_PAUSE
        log.error("the outcome of a payout is unknown", payout_request=payout.id)
    elif sent.status is TransactionStatus.FAILED:
        await _record_failure(tx, payout, sent.failure)
    else:
        payout.provider_id, payout.detail, payout.check_on = sent.id, "", next_check(payout, tx.now)
        if sent.status is TransactionStatus.SUCCEEDED:
            await _record_paid(tx, payout, sent)
    return payout


async def _record_paid(tx: Recording, payout: PayoutRequestRow, transaction: Transaction) -> None:
    assert payout.wallet_id is not None, "a validated payout has a wallet"
    at = transaction.executed_at or tx.now
    payout.status, payout.paid_on, payout.check_on = PAYOUT_STATES.require(payout.status, PAID), at, None
    await post(tx.db, [await paid_journal(tx.db, payout, payout.wallet_id, at)])
    count_if_committed(tx.db, OUTCOMES.labels("paid"))
    await emit_payout_events(tx.db, EventType.PAYOUT_REQUEST_PAID, [payout])
    await queue_payout_mail(tx.db, MailKind.PAYOUT_PAID, payout)


async def _record_refused(tx: Recording, payout: PayoutRequestRow, refused: RefusedCall[PayoutRequestRow]) -> None:
    if payout.status is VALIDATED and payout.key == refused.row.key:
        error = refused.error
        await _record_failure(tx, payout, Failure(error.code, str(error), FailureReason.UNKNOWN))


async def _record_failure(tx: Recording, payout: PayoutRequestRow, failure: Failure | None) -> None:
    """Nothing was paid out: send it again later, or give it up. Then its content goes into the next one."""
    reason = failure.reason if failure else FailureReason.UNKNOWN
    code, message = (failure.code, failure.message) if failure else ("", "")
    payout.failure_code = code[:20]
    payout.detail = DETAILS.get(reason, f"The payment provider has refused it: {message} ({code})")[:300]
    log.error("a payout failed", payout_request=payout.id, code=code, reason=reason, tries=payout.tries)
    if reason in REPEATED and payout.tries < len(PAUSES):
        payout.key, payout.provider_id = uuid.uuid4(), ""
        payout.sent_at = payout.check_on = tx.now + PAUSES[payout.tries]
        payout.tries += 1
        return
    await lock_balances(tx.db, payout.book_id, payout.partner_id)
    await post(tx.db, [failed_journal(payout)])
    payout.status, payout.check_on = PAYOUT_STATES.require(payout.status, FAILED), None
    await free_items(tx.db, payout)
    count_if_committed(tx.db, OUTCOMES.labels("failed"))
    await emit_payout_events(tx.db, EventType.PAYOUT_REQUEST_FAILED, [payout])
    await queue_payout_mail(tx.db, MailKind.PAYOUT_FAILED, payout, cause=reason, reason=message)


def next_check(payout: PayoutRequestRow, now: dt.datetime) -> dt.datetime:
    return INTERVALS.after(payout.sent_at or now, now)


PAYOUT = ProviderCall(lock=_lock, record=_record, refuse=_record_refused)
CHECKS = ProviderChecks(
    row=PayoutRequestRow,
    job=JobKind.SEND_PAYOUT,
    next_check=next_check,
    check=send_payout,
    conditions=(col(PayoutRequestRow.status) == VALIDATED,),
)

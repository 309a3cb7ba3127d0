"""Notifications about payouts, about the transfers before them, and about payouts that a bank sent back."""

from collections.abc import Callable
from typing import Any

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.services import Services
from resolvers.core.transaction import count_if_committed
from resolvers.mail.payouts import queue_payout_mail
from resolvers.payment.payouts.sending import CHECKS, OUTCOMES
from resolvers.payment.payouts.settling import transfer_of_payout, transfer_reference
from schema.event import EventType
from schema.mail import MailKind
from store.ledger.posting import post
from store.payment.transfers import TransferRow
from store.payout.events import emit_payout_events
from store.payout.postings import ReturnedPayout, returned_journal
from store.payout.requests import FAILED, PAID, PAYOUT_STATES, VALIDATED, PayoutRequestRow, lock_payout
from store.providers.errors import ProviderNotFound
from store.providers.transactions import Transaction, TransactionKind, TransactionStatus

log = structlog.get_logger(__name__)


async def handle_payout_notification(services: Services, payout_id: str) -> None:
    """Handle a notification about a payout: check the request that it is of. One that is not ours is ignored."""
    known = select(PayoutRequestRow.id).where(col(PayoutRequestRow.provider_id) == payout_id)
    await _handle(services, TransactionKind.PAYOUT, payout_id, known, _claim_payout)


async def handle_transfer_notification(services: Services, transfer_id: str) -> None:
    """Handle a notification about a transfer: check the payout request that it is for. One that is not ours is ignored."""
    known = select(TransferRow.payout_request_id).where(col(TransferRow.provider_id) == transfer_id)
    await _handle(services, TransactionKind.TRANSFER, transfer_id, known, _claim_transfer)


async def _handle(services: Services, kind: TransactionKind, id: str, known: Any, claim: Callable[..., Any]) -> None:
    async with services.db.sessions() as db:
        request_id = (await db.exec(known)).first()
    if request_id is None:
        try:
            transaction = await services.provider.get_transaction(kind, id)
        except ProviderNotFound:
            return
        if transaction.status is TransactionStatus.FAILED:
            return  # its answer is recorded where it was sent
        async with services.db.sessions() as db, db.begin():
            request_id = await claim(db, transaction)
    if request_id is not None:
        await CHECKS.poll(services, request_id)


async def _claim_payout(db: AsyncSession, transaction: Transaction) -> int | None:
    """The request that the payout's reference names; from now on it has the payout's id. None if it is not ours."""
    payout = await _locked(db, transaction.reference)
    if payout is None:
        return None
    if payout.status is not VALIDATED or payout.provider_id:
        log.critical("a payout was made twice", payout_request=payout.id, payout=transaction.id)
        return None
    payout.provider_id = transaction.id
    return payout.id


async def _claim_transfer(db: AsyncSession, transaction: Transaction) -> int | None:
    """The same for a transfer."""
    payout = await _locked(db, transaction.reference.removeprefix(transfer_reference("")))
    if payout is None or not transaction.reference.startswith(transfer_reference("")):
        return None
    transfer = await transfer_of_payout(db, payout)
    if payout.settled_on is not None or transfer.provider_id:
        log.critical("a transfer was made twice", payout_request=payout.id, transfer=transaction.id)
        return None
    transfer.provider_id, payout.settlement_sent_at = (
        transaction.id,
        payout.settlement_sent_at or transaction.created_at,
    )
    return payout.id


async def _locked(db: AsyncSession, reference: str) -> PayoutRequestRow | None:
    if not (reference.isascii() and reference.isdecimal()):
        return None
    known = select(PayoutRequestRow.id).where(col(PayoutRequestRow.id) == int(reference))
    id = (await db.exec(known)).first()
    return None if id is None else await lock_payout(db, id)


async def record_return(services: Services, back: Transaction) -> None:
    """The bank sent a payout back: its money is earned again, and goes into the next one. Repeating it changes nothing."""
    async with services.db.sessions() as db:
        query = select(PayoutRequestRow).where(col(PayoutRequestRow.provider_id) == back.parent_id)
        payout = (await db.exec(query)).first()
    if payout is None or not back.parent_id:
        log.error("an unknown payout came back", payout=back.parent_id, refund=back.id)
        return
    if payout.status is VALIDATED:  # what has told of its success was late or lost
        await CHECKS.poll(services, payout.id)
    async with services.db.sessions() as db, db.begin():
        payout = await lock_payout(db, payout.id)
        if payout.paid_on is None or payout.wallet_id is None:
            log.error("a payout came back that has not succeeded", payout_request=payout.id, refund=back.id)
            return
        at = back.executed_at or services.clock.now()
        returned = ReturnedPayout(back.id, back.amount.decimal, back.fee.decimal, at)
        await post(db, [returned_journal(payout, payout.wallet_id, returned)])
        if payout.status is PAID:
            payout.status, payout.returned_on = PAYOUT_STATES.require(payout.status, FAILED), at
            reason = back.return_reason
            payout.detail = f"The bank sent it back: {reason.message} ({reason.code})"[:300] if reason else ""
            count_if_committed(db, OUTCOMES.labels("returned"))
            await emit_payout_events(db, EventType.PAYOUT_REQUEST_FAILED, [payout])
            told = (reason.reason, reason.message) if reason else ("", "")
            await queue_payout_mail(db, MailKind.PAYOUT_FAILED, payout, cause=told[0], reason=told[1])

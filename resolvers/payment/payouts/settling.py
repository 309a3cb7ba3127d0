"""What a partner has earned in its network goes from the marketplace's wallet to its own, before it is paid out."""

import datetime as dt
import uuid
from dataclasses import dataclass
from decimal import Decimal

import structlog
from prometheus_client import Counter
from sqlalchemy import func
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.provider.process import ProviderCall, Recording, RefusedCall
from resolvers.core.services import Services
from resolvers.core.transaction import count_if_committed
from resolvers.mail.payouts import queue_payout_mail
from schema.event import EventType
from schema.mail import MailKind
from schema.payment.transfer import TransferStatus
from store.ledger.balances import wallet_balances
from store.ledger.posting import post
from store.ledger.wallet_openings import opening_of_book
from store.ledger.wallets import WalletRow, lock_wallet
from store.payment.transfers import TransferRow
from store.payout.events import emit_payout_events
from store.payout.postings import settled_journal
from store.payout.requests import VALIDATED, PayoutRequestRow, lock_payout
from store.providers.errors import Declined, UnknownOutcome
from store.providers.keys import IdempotencyKey
from store.providers.money import MinorAmount
from store.providers.transactions import (
    FailureReason,
    Transaction,
    TransactionKind,
    TransactionStatus,
    TransferRequest,
)

log = structlog.get_logger(__name__)
PAUSE = dt.timedelta(hours=1)
"""How long to wait before a transfer that could not be made is sent again."""
REMINDER = dt.timedelta(days=7)
"""How often people are told that a payout still waits."""
REFUSED_PAUSES = tuple(dt.timedelta(hours=hours) for hours in (1, 6, 24))
"""How long to wait after the provider has refused it; after the last of them it is tried every day, and people are told."""
UNKNOWN_PAUSE = dt.timedelta(days=1)
UNKNOWN = "It is not known whether the transfer was made: look it up at the payment provider."
UNCONFIRMED = "The marketplace's legal representative has to confirm the transfer: see `confirmationUrl`."
WAITING = Counter("coffret_payouts_waiting", "Payouts that had to wait for a refill of the marketplace's wallet.")
NOTHING = Decimal("0.00")


@dataclass(frozen=True, slots=True)
class TransferAnswer:
    """A transfer as the provider tells it, and the key that it was sent with. None: the outcome is not known."""

    key: uuid.UUID
    transaction: Transaction | None


async def settle(services: Services, payout: PayoutRequestRow) -> PayoutRequestRow:
    """Transfer the network's part of a validated payout, or ask for the status of the transfer.

    It waits while the marketplace's wallet does not hold enough. Raises ProviderError.
    """
    async with services.db.sessions() as db, db.begin():
        payout = await lock_payout(db, payout.id)
        if not await _begin(db, payout, services.clock.now()):
            return payout
        transfer = await transfer_of_payout(db, payout)
        source, target = await _wallets(db, transfer)
        opening = await opening_of_book(db, payout.book_id)
    assert opening is not None, "a marketplace's wallet was opened"
    request = TransferRequest(
        reference=transfer_reference(payout.id),
        author_id=opening.provider_user_id,
        from_wallet_id=source.provider_wallet_id or "",
        to_wallet_id=target.provider_wallet_id or "",
        amount=MinorAmount.of(payout.network_amount, payout.currency),
        fee=MinorAmount(payout.currency, 0),
    )
    return await SETTLEMENT.send(services, payout, _transfer(services, payout, transfer, request))


def transfer_reference(payout_id: int | str) -> str:
    """Our name for the transfer of a payout."""
    return f"payout_request:{payout_id}"


async def transfer_of_payout(db: AsyncSession, payout: PayoutRequestRow) -> TransferRow:
    """The transfer of a payout's network part. It changes under the payout's lock."""
    query = select(TransferRow).where(col(TransferRow.payout_request_id) == payout.id)
    return (await db.exec(query.execution_options(populate_existing=True))).one()


async def _wallets(db: AsyncSession, transfer: TransferRow) -> tuple[WalletRow, WalletRow]:
    return (
        await db.get_one(WalletRow, transfer.debited_wallet_id),
        await db.get_one(WalletRow, transfer.credited_wallet_id),
    )


async def _begin(db: AsyncSession, payout: PayoutRequestRow, now: dt.datetime) -> bool:
    """Store when the transfer is sent. False if there is none to send, or it has to wait for a refill."""
    if payout.status is not VALIDATED or payout.settled_on is not None:
        return False
    if payout.settlement_sent_at is not None:
        return True
    transfer = await transfer_of_payout(db, payout)
    held = await _free_money(db, payout, transfer)
    if held < payout.network_amount:
        await _wait(db, payout, transfer, held, now)
        return False
    payout.settlement_sent_at, payout.waiting_since, payout.detail, transfer.detail = now, None, "", ""
    return True


async def _free_money(db: AsyncSession, payout: PayoutRequestRow, transfer: TransferRow) -> Decimal:
    """What the marketplace's wallet holds, without the transfers that are on their way. Locks the wallet."""
    assert transfer.debited_wallet_id is not None
    await lock_wallet(db, transfer.debited_wallet_id)
    sent = select(func.coalesce(func.sum(PayoutRequestRow.network_amount), NOTHING)).where(
        col(PayoutRequestRow.book_id) == payout.book_id,
        col(PayoutRequestRow.status) == VALIDATED,
        col(PayoutRequestRow.settlement_sent_at).is_not(None),
        col(PayoutRequestRow.settled_on).is_(None),
    )
    balance = (await wallet_balances(db, [transfer.debited_wallet_id]))[transfer.debited_wallet_id].decimal
    return max(balance - Decimal((await db.exec(sent)).one()), NOTHING)


async def _wait(
    db: AsyncSession, payout: PayoutRequestRow, transfer: TransferRow, held: Decimal, now: dt.datetime
) -> None:
    """The transfer waits: say which refill releases it. It is told when it begins, and by mail every week."""
    missing, currency = payout.network_amount - held, payout.currency
    detail = (
        f"The marketplace's wallet holds {held:f} of {payout.network_amount:f} {currency}: a refill of {missing:f} "
        f"{currency} releases it."
    )
    is_new = payout.waiting_since is None
    since = payout.waiting_since = payout.waiting_since or now
    payout.detail = transfer.detail = detail
    payout.check_on = now + PAUSE
    matter = f"{since:%Y%m%dT%H%M%S}:{(now - since) // REMINDER}"
    await queue_payout_mail(db, MailKind.PAYOUT_WAITING, payout, missing=missing, matter=matter)
    if is_new:
        count_if_committed(db, WAITING)
        await emit_payout_events(db, EventType.PAYOUT_REQUEST_WAITING, [payout])


async def _transfer(
    services: Services, payout: PayoutRequestRow, transfer: TransferRow, request: TransferRequest
) -> TransferAnswer:
    key = payout.settlement_key
    if transfer.provider_id:
        found = await services.provider.get_transaction(TransactionKind.TRANSFER, transfer.provider_id)
        return TransferAnswer(key, found)
    assert payout.settlement_sent_at is not None, "the key is stored before it is sent"
    try:
        sent = await services.provider.transfer(
            request,
            return_url=services.public_url,
            key=IdempotencyKey(str(key)),
            sent_at=payout.settlement_sent_at,
        )
    except Declined as declined:
        sent = declined.transaction
    except UnknownOutcome:
        return TransferAnswer(key, None)
    return TransferAnswer(key, sent)


async def _lock(db: AsyncSession, payout: PayoutRequestRow) -> PayoutRequestRow:
    return await lock_payout(db, payout.id)


async def _record(tx: Recording, payout: PayoutRequestRow, answer: TransferAnswer) -> PayoutRequestRow:
    made = answer.transaction
    if payout.status is not VALIDATED or payout.settled_on is not None or payout.settlement_key != answer.key:
        return payout
    transfer = await transfer_of_payout(tx.db, payout)
    if made is None:
        payout.detail = transfer.detail = UNKNOWN
        payout.check_on = tx.now + UNKNOWN_PAUSE
        log.error("the outcome of a transfer is unknown", payout_request=payout.id)
    elif made.status is TransactionStatus.FAILED:
        reason = made.failure.reason if made.failure else FailureReason.UNKNOWN
        await _send_later(tx, payout, transfer, f"The payment provider has refused the transfer: {reason}.")
    elif made.status is TransactionStatus.PENDING:
        transfer.provider_id, payout.check_on = made.id, tx.now + PAUSE
        if made.action is not None:
            payout.detail = transfer.detail = UNCONFIRMED
            payout.confirmation_url = made.action.url
    else:
        await _record_settled(tx, payout, transfer, made)
    return payout


async def _record_settled(
    tx: Recording, payout: PayoutRequestRow, transfer: TransferRow, transaction: Transaction
) -> None:
    """The transfer was made: all of a locked payout lies in the partner's wallet."""
    at = transaction.executed_at or tx.now
    assert transfer.debited_wallet_id is not None
    assert transfer.credited_wallet_id is not None
    transfer.provider_id, transfer.status, transfer.detail = transaction.id, TransferStatus.OK, ""
    payout.settled_on, payout.check_on, payout.detail, payout.confirmation_url = at, tx.now, "", None
    await post(tx.db, [settled_journal(payout, transfer.debited_wallet_id, transfer.credited_wallet_id, at)])


async def _record_refused(tx: Recording, payout: PayoutRequestRow, refused: RefusedCall[PayoutRequestRow]) -> None:
    if payout.settled_on is None and payout.settlement_key == refused.row.settlement_key:
        transfer = await transfer_of_payout(tx.db, payout)
        await _send_later(tx, payout, transfer, f"The payment provider has refused the transfer: {refused.error}")


async def _send_later(tx: Recording, payout: PayoutRequestRow, transfer: TransferRow, detail: str) -> None:
    """Nothing was transferred: send it again later, with another key. What is refused again and again is told."""
    payout.settlement_key, payout.settlement_sent_at, transfer.provider_id = uuid.uuid4(), None, ""
    payout.confirmation_url = None
    payout.detail = transfer.detail = detail[:300]
    payout.check_on = tx.now + REFUSED_PAUSES[min(payout.settlement_tries, len(REFUSED_PAUSES) - 1)]
    payout.settlement_tries += 1
    if payout.settlement_tries >= len(REFUSED_PAUSES):
        await queue_payout_mail(tx.db, MailKind.PAYOUT_WAITING, payout, reason=detail, matter="refused")
    log.error("a transfer for a payout failed", payout_request=payout.id, detail=detail)


SETTLEMENT = ProviderCall(lock=_lock, record=_record, refuse=_record_refused)

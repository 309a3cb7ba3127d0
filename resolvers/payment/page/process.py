"""Payments over the API at the provider: a pay-in is begun, followed until it is final, and acted on.

Any number of calls, concurrent or after a crash, charge the customer once.
"""

import datetime as dt
import uuid

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.provider.process import ProviderCall, ProviderChecks, Recording, RefusedCall
from resolvers.core.services import Services
from resolvers.partner.selling import require_selling
from resolvers.payment.ending import cancel_locked, complete_payment
from resolvers.payment.events import emit_payment_event
from resolvers.payment.locking import lock_with_sources
from resolvers.payment.payins import PROVIDER_TIMEOUT, RECEIVED, SENDABLE, PayinOrder, create_payin, statement_of
from schema.core.errors import NotFound, ProviderFailed, ProviderTimedOut
from schema.event import EventType
from schema.payment.errors import PaymentEnded, PaymentsNotActive
from schema.payment.payment import (
    PaymentSourceKind,
    PaymentStatus,
    PaymentTransactionStatus,
    PaymentTransactionType,
)
from schema.payment_method import BY_TOKEN, CardToken, PaymentMethod
from store.core.provider_process import CheckIntervals
from store.job.jobs import JobKind
from store.ledger.wallets import WalletRow
from store.partner.partners import PartnerRow
from store.payment.payments import PAYABLE, PAYMENT_STATES, TRANSACTION_STATES, PaymentRow, PaymentTransactionRow
from store.payment.recording import lock_payment, new_payin, sources_of
from store.providers.errors import Declined, InvalidRequest, NotAllowed, ProviderError, UnknownOutcome
from store.providers.errors import ProviderNotFound as UnknownToProvider
from store.providers.keys import IdempotencyKey
from store.providers.money import MinorAmount
from store.providers.transactions import (
    Failure,
    FailureReason,
    Payer,
    Transaction,
    TransactionKind,
    TransactionStatus,
)

log = structlog.get_logger(__name__)
TABLE = PaymentTransactionRow
GRACE = dt.timedelta(minutes=8)
"""How long the calls that begin a pay-in may still be in progress."""
INTERVALS = CheckIntervals(
    by_age=(
        (dt.timedelta(minutes=1), dt.timedelta(minutes=1)),
        (dt.timedelta(minutes=10), dt.timedelta(minutes=4)),
        (dt.timedelta(hours=1), dt.timedelta(minutes=8)),
    ),
    longest=dt.timedelta(hours=1),
)
TECHNICAL_FAILURE = "The payment provider could not begin the payment."
NEVER_RECEIVED = Failure("", TECHNICAL_FAILURE, FailureReason.PROVIDER_TECHNICAL)
OPEN_PAYIN = (
    col(TABLE.type) == PaymentTransactionType.PAYIN,
    col(TABLE.payment_method) == PaymentSourceKind.CREDIT_CARD,
    col(TABLE.status) == PaymentTransactionStatus.IN_PROGRESS,
)


async def start_payin(
    services: Services,
    payment: PaymentRow,
    return_url: str,
    method: PaymentMethod = PaymentMethod.CARD,
    token: CardToken | None = None,
) -> TABLE:
    """Begin the pay-in of a payment, or continue the one that is open, with its method. Pressing twice begins one. A method
    in BY_TOKEN has a `token`, which is sent for no other method. An open pay-in that the provider has never received
    makes way for the chosen method, where a token is concerned.

    The customer pays at the row's `redirect_url`, which is empty if the outcome is final already. Raises PaymentEnded
    if the payment cannot be paid any more, PaymentsNotActive, ProviderFailed, and ProviderTimedOut, also while it is
    unknown whether the open pay-in has charged the customer.
    """
    now = services.clock.now()
    payin = await _open_payin(services, payment, method)
    if payin.redirect_url and payin.link_expires_on and now < payin.link_expires_on:
        return payin
    if payin.provider_id:
        return await _sync_now(services, payin)
    if not _may_send(payin, method, token, now):
        payin = await _give_up_unsent(services, payin)
        is_unsent = payin.status is PaymentTransactionStatus.ERROR and not payin.provider_id
        return await start_payin(services, payment, return_url, method, token) if is_unsent else payin
    return await _send(services, payment, payin, return_url, token)


def _may_send(payin: TABLE, method: PaymentMethod, token: CardToken | None, now: dt.datetime) -> bool:
    """Whether a press may send an open pay-in without an answer: a token goes with its own method, and only at first."""
    if payin.method not in BY_TOKEN and token is None:
        return True
    return token is not None and payin.method is method and now - payin.created_on < SENDABLE


async def _give_up_unsent(services: Services, payin: TABLE) -> TABLE:
    """Look up a pay-in without an answer. It fails if the provider has not received it; without a token, also if that is
    unknown, as nobody has learned where to pay. Raises ProviderTimedOut if it may yet charge the customer.
    """
    payin = await _sync_now(services, payin)
    async with services.db.sessions() as db, db.begin():
        tx, payin = Recording(services, db), await _lock_row(db, payin)
        if payin.status is not PaymentTransactionStatus.IN_PROGRESS or payin.provider_id:
            return payin
        if payin.method in BY_TOKEN and tx.now - payin.created_on < RECEIVED:
            raise ProviderTimedOut
        await _fail(tx, payin, NEVER_RECEIVED)
        return payin


async def _sync_now(services: Services, payin: TABLE) -> TABLE:
    """The pay-in as the provider tells it now, for a customer who waits. Raises ProviderTimedOut."""
    try:
        return await sync_payin(services, payin.id, time_limit=PROVIDER_TIMEOUT)
    except ProviderError as error:
        log.warning("a payment could not be read from the provider", payin=payin.id, error=repr(error))
        raise ProviderTimedOut from error


async def _send(
    services: Services, payment: PaymentRow, payin: TABLE, return_url: str, token: CardToken | None
) -> TABLE:
    try:
        return await PAYIN.send(
            services, payin, _create(services, payment, payin, return_url, token), time_limit=2 * PROVIDER_TIMEOUT
        )
    except (InvalidRequest, NotAllowed) as error:
        log.exception("the provider refused to start a payment", payment=str(payment.id), code=error.code)
        raise ProviderFailed from error
    except ProviderError as error:
        log.warning("a payment could not be started", payment=str(payment.id), error=repr(error))
        raise ProviderTimedOut from error


async def _open_payin(services: Services, payment: PaymentRow, method: PaymentMethod) -> TABLE:
    """The open pay-in of a payment; a new one, stored with its key, if there is none."""
    now = services.clock.now()
    async with services.db.sessions() as db, db.begin():
        payment = await lock_payment(db, payment)
        known = (await db.exec(select(TABLE).where(col(TABLE.payment_id) == payment.id, *OPEN_PAYIN))).first()
        if known is not None:
            return known
        if payment.status not in PAYABLE or (payment.expires_on is not None and now >= payment.expires_on):
            raise PaymentEnded
        await require_selling(services, db, payment.partner_id, lock=True)
        source = next(row for row in await sources_of(db, payment) if row.kind is PaymentSourceKind.CREDIT_CARD)
        payin = new_payin(payment, source, now, method)
        payin.check_on = INTERVALS.after(now, now)
        if payment.status is PaymentStatus.ERROR:
            payment.status = PAYMENT_STATES.require(payment.status, PaymentStatus.IN_PROGRESS)
        db.add(payin)
        return payin


async def _create(
    services: Services, payment: PaymentRow, payin: TABLE, return_url: str, token: CardToken | None
) -> Transaction:
    async with services.db.sessions() as db:
        partner = (await db.exec(select(PartnerRow).where(col(PartnerRow.id) == payment.partner_id))).one()
        wallet = await db.get(WalletRow, payment.wallet_id) if payment.wallet_id else None
    if wallet is None or wallet.provider_wallet_id is None:
        raise PaymentsNotActive
    order = PayinOrder(
        reference=str(payment.id),
        payer=Payer(payment.customer_first_name, payment.customer_last_name, payment.customer_email),
        wallet_id=wallet.provider_wallet_id,
        amount=MinorAmount.of(payin.transaction_amount, payin.currency),
        fee=MinorAmount.of(payin.commission_amount, payin.currency),
        return_url=return_url,
        language=payment.language or partner.language,
        statement=statement_of(partner),
        method=payin.method or PaymentMethod.CARD,
        key=payin.key,
        sent_at=payin.sent_at,
        token=token,
    )
    return await create_payin(services, order, lambda db: _lock_row(db, payin))


async def sync_payin(services: Services, id: int, *, time_limit: dt.timedelta | None = None) -> TABLE:
    """Read the state of a pay-in from the provider and act on it. Raises ProviderError if it cannot tell now.

    `time_limit` is for callers that wait for the result: the provider has that long.
    """
    async with services.db.sessions() as db:
        payin = await db.get(TABLE, id)
    if payin is None:
        raise NotFound(thing="transaction")
    if payin.status is not PaymentTransactionStatus.IN_PROGRESS:
        return payin
    return await PAYIN.look_up(services, payin, _look_up(services, payin), time_limit=time_limit)


async def _look_up(services: Services, payin: TABLE) -> Transaction | None:
    """The pay-in at the provider; None if the provider never received it, or refused to create it. Raises UnknownOutcome
    for a pay-in by token that may have charged the customer.
    """
    if payin.provider_id:
        return await services.provider.get_transaction(TransactionKind.PAYIN, payin.provider_id)
    try:
        sent = await services.provider.resolve(IdempotencyKey(str(payin.key)), sent_at=payin.sent_at)
    except Declined as declined:
        return declined.transaction
    except InvalidRequest:
        return None
    except UnknownOutcome:
        if payin.method in BY_TOKEN:
            raise
        return None  # without an answer the customer never learned where to pay
    return sent if isinstance(sent, Transaction) else None


async def _record(tx: Recording, payin: TABLE, transaction: Transaction | None) -> TABLE:
    """Act on the state of the pay-in. None: the provider has none."""
    if payin.status is not PaymentTransactionStatus.IN_PROGRESS:
        return payin
    payin.check_on = INTERVALS.after(payin.created_on, tx.now)
    if transaction is None:
        if tx.now - payin.created_on > GRACE:
            await _fail(tx, payin, NEVER_RECEIVED)
        return payin
    payin.provider_id, payin.payer_id = transaction.id, transaction.payer_id
    if transaction.action is not None:
        payin.redirect_url, payin.link_expires_on = transaction.action.url, transaction.action.expires_at
    if transaction.status is TransactionStatus.SUCCEEDED:
        await complete_payment(tx.db, await _payment_of(tx.db, payin), payin, transaction, tx.now)
    elif transaction.status is TransactionStatus.FAILED:
        await _fail(tx, payin, transaction.failure or Failure("", "", FailureReason.UNKNOWN))
    return payin


async def _record_refused(tx: Recording, payin: TABLE, refused: RefusedCall[TABLE]) -> None:
    if payin.status is PaymentTransactionStatus.IN_PROGRESS and payin.key == refused.row.key:
        await _fail(tx, payin, Failure(refused.error.code, TECHNICAL_FAILURE, FailureReason.PROVIDER_TECHNICAL))


async def _fail(tx: Recording, payin: TABLE, failure: Failure) -> None:
    """A pay-in has failed: nothing was charged, and the customer can try again."""
    payment = await _payment_of(tx.db, payin)
    payin.status = TRANSACTION_STATES.require(payin.status, PaymentTransactionStatus.ERROR)
    payin.result_code, payin.result_message, payin.check_on = failure.code[:20], failure.message[:200], None
    payin.failure_reason = failure.reason
    payment.payin_result_code, payment.payin_result_message = payin.result_code, payin.result_message
    if payment.status is PaymentStatus.IN_PROGRESS:
        payment.status = PAYMENT_STATES.require(payment.status, PaymentStatus.ERROR)
    await emit_payment_event(tx.db, EventType.PAYMENT_FAILED, payment)


async def _payment_of(db: AsyncSession, payin: TABLE) -> PaymentRow:
    """The payment of a pay-in, under its lock."""
    return (await db.exec(select(PaymentRow).where(col(PaymentRow.id) == payin.payment_id))).one()


async def _lock_row(db: AsyncSession, payin: TABLE) -> TABLE:
    """Lock the payment of a pay-in with its gift cards, and reload the pay-in: it changes only under that lock."""
    await lock_with_sources(db, await _payment_of(db, payin))
    query = select(TABLE).where(col(TABLE.id) == payin.id).execution_options(populate_existing=True)
    return (await db.exec(query)).one()


async def end_payment(services: Services, id: uuid.UUID) -> PaymentRow:
    """Cancel a payment whose time is over. A pay-in that is open is followed first: it may be paid."""
    async with services.db.sessions() as db:
        open_payin = (await db.exec(select(col(TABLE.id)).where(col(TABLE.payment_id) == id, *OPEN_PAYIN))).first()
    if open_payin is not None:
        await sync_payin(services, open_payin)
    async with services.db.sessions() as db, db.begin():
        payment = await db.get(PaymentRow, id)
        if payment is None:
            raise NotFound(thing="payment")
        return await cancel_locked(db, payment, services.clock.now())


async def handle_payin_notification(services: Services, payin_id: str) -> bool:
    """Handle a hint about a pay-in, if it is one of these payments. Returns False if none has its id."""
    async with services.db.sessions() as db:
        of_provider = col(TABLE.type) == PaymentTransactionType.PAYIN, col(TABLE.provider_id) == payin_id
        payin = (await db.exec(select(TABLE).where(*of_provider, col(TABLE.provider_id) != ""))).first()
    if payin is None:
        return False
    if payin.status is PaymentTransactionStatus.ERROR:
        transaction = await services.provider.get_transaction(TransactionKind.PAYIN, payin_id)
        await _complete_late(services, payin, transaction)
    await CHECKS.poll(services, payin.id)
    return True


async def complete_by_reference(services: Services, payin_id: str) -> None:
    """Complete the payment that a pay-in refers to, if it has succeeded and its id was lost with the response: a token
    charges the customer without one. Any other pay-in is ignored.
    """
    try:
        transaction = await services.provider.get_transaction(TransactionKind.PAYIN, payin_id)
        payment_id = uuid.UUID(transaction.reference)
    except (UnknownToProvider, ValueError):
        return
    lost = (
        col(TABLE.payment_id) == payment_id,
        col(TABLE.type) == PaymentTransactionType.PAYIN,
        col(TABLE.method).in_(BY_TOKEN),
        col(TABLE.provider_id) == "",
    )
    is_open = col(TABLE.status) == PaymentTransactionStatus.IN_PROGRESS
    async with services.db.sessions() as db:
        payin = (await db.exec(select(TABLE).where(*lost).order_by(is_open.desc(), col(TABLE.id).desc()))).first()
    if payin is not None:
        await _complete_late(services, payin, transaction)


async def _complete_late(services: Services, payin: TABLE, transaction: Transaction) -> None:
    """Complete a payment whose pay-in has succeeded after all, though it has no answer or was recorded as failed."""
    if transaction.status is not TransactionStatus.SUCCEEDED:
        return
    async with services.db.sessions() as db, db.begin():
        payin = await _lock_row(db, payin)
        payment = await _payment_of(db, payin)
        if payin.status is PaymentTransactionStatus.ERROR:
            log.error("a failed payment was paid afterwards", payment=str(payment.id), payin=transaction.id)
        if payin.status is not PaymentTransactionStatus.OK and payment.status is not PaymentStatus.OK:
            await complete_payment(db, payment, payin, transaction, services.clock.now())


PAYIN = ProviderCall(lock=_lock_row, record=_record, refuse=_record_refused, refusals=(InvalidRequest, NotAllowed))
CHECKS = ProviderChecks(
    row=PaymentTransactionRow,
    job=JobKind.CHECK_PAYIN,
    next_check=lambda row, now: INTERVALS.after(row.created_on, now),
    check=sync_payin,
    conditions=OPEN_PAYIN,
)
ENDS = ProviderChecks(
    row=PaymentRow,
    job=JobKind.END_PAYMENT,
    next_check=lambda _row, now: now + dt.timedelta(minutes=15),
    check=end_payment,
    conditions=(col(PaymentRow.status).in_(PAYABLE),),
)

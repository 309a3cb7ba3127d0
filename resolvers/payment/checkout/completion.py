"""Completion of payment attempts. The customer's return, provider notifications and the worker call the same functions.

Any number of calls, concurrent or after a crash, result in one order or one refund.
"""

import datetime as dt
import uuid
from contextlib import suppress

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.provider.process import SWEEP_AHEAD, ProviderCall, Recording, RefusedCall
from resolvers.core.services import Services
from resolvers.mail import mails
from resolvers.payment.events import emit_payment_event
from resolvers.payment.locking import lock_with_sources
from resolvers.payment.refunds.recording import promise_refund
from schema.checkout.checkout import ShopKind
from schema.core.errors import CheckoutChanged, NotFound, Unavailable
from schema.event import EventType
from schema.payment.payment import RefundOrigin
from store.checkout.placement import fill_order, open_order, paying_cards
from store.checkout.reading import lock_attempt, lock_checkout
from store.checkout.reservations import (
    consume_reservations,
    release_reservations,
    reserve,
    spend_on_networks,
)
from store.checkout.shops import shop_url
from store.core.provider_process import CheckIntervals
from store.job.jobs import JobKind, enqueue_job
from store.order import events
from store.partner.partners import PartnerRow
from store.payment.attempts import LIVE, UNSETTLED, AttemptRow, AttemptState, reservations_end, transition
from store.payment.recording import record_checkout_payment
from store.providers.errors import Declined, InvalidRequest, NotAllowed
from store.providers.keys import IdempotencyKey
from store.providers.money import MinorAmount
from store.providers.transactions import Transaction, TransactionKind, TransactionStatus

log = structlog.get_logger(__name__)

TECHNICAL_FAILURE = "provider_technical"
UNAVAILABLE = "unavailable"
"""What was ordered is no longer available; nothing was charged."""
GRACE = dt.timedelta(minutes=8)
"""How long the calls that start a payment may still be in progress: longer than all retries of both calls together."""
INTERVALS = CheckIntervals(
    by_age=(
        (dt.timedelta(minutes=3), dt.timedelta(seconds=30)),
        (dt.timedelta(minutes=45), dt.timedelta(minutes=1)),
        (dt.timedelta(days=1), dt.timedelta(minutes=15)),
    ),
    longest=dt.timedelta(hours=6),
)
NOTIFIED_AGES = tuple(dt.timedelta(minutes=age) for age in (1, 3, 8, 16, 31, 45, 61))
"""When a pay-in is checked that the provider notifies about. Its link ends after 15 minutes, 30 or an hour."""


def next_check(attempt: AttemptRow, now: dt.datetime) -> dt.datetime:
    """When the worker checks next: at short intervals at first, then ever less often.

    Whoever has notified that this pay-in was created also notifies of its end: the checks are then few, and only bound
    how long a lost notification can delay an order.
    """
    if attempt.notified:
        for age in NOTIFIED_AGES:
            if attempt.created_on + age > now + SWEEP_AHEAD:
                return attempt.created_on + age
    return INTERVALS.after(attempt.created_on, now)


async def read_attempt(services: Services, attempt_id: uuid.UUID) -> AttemptRow:
    """The attempt, read from the database. Raises NotFound."""
    async with services.db.sessions() as db:
        attempt = await db.get(AttemptRow, attempt_id)
    if attempt is None:
        raise NotFound(thing="payment")
    return attempt


async def sync_attempt(
    services: Services, attempt_id: uuid.UUID, *, time_limit: dt.timedelta | None = None
) -> AttemptRow:
    """Read the state of the payment from the provider and act on it. Raises ProviderError if the provider is
    unavailable.

    `time_limit` is for callers that wait for the result: the provider has that long.
    """
    attempt = await read_attempt(services, attempt_id)
    if attempt.state not in UNSETTLED:
        return attempt
    attempt = await PAYIN.look_up(services, attempt, _payin_of(services, attempt), time_limit=time_limit)
    await delete_ordered_cart(services, attempt)
    return attempt


async def _payin_of(services: Services, attempt: AttemptRow) -> Transaction | None:
    """The pay-in at the provider; None if the provider never received it or refused to create it, and if nothing is due
    by card.
    """
    if attempt.card_amount == 0:
        return None
    if attempt.payin_id:
        return await services.provider.get_transaction(TransactionKind.PAYIN, attempt.payin_id)
    try:
        payin = await services.provider.resolve(IdempotencyKey(str(attempt.payin_key)), sent_at=attempt.created_on)
    except Declined as declined:
        return declined.transaction
    except InvalidRequest:
        return None
    return payin if isinstance(payin, Transaction) else None


async def _record_payin(tx: Recording, attempt: AttemptRow, payin: Transaction | None) -> AttemptRow:
    """Act on the state of the pay-in. None: the provider has none, or none is needed."""
    if attempt.state not in (*UNSETTLED, AttemptState.FAILED):
        return attempt
    unsent = payin is None and tx.now - attempt.created_on > GRACE
    if attempt.state is AttemptState.FAILED and payin is not None:
        record_payin(attempt, payin)  # it was given up while the call that started it was still under way
    if attempt.card_amount == 0 or (payin is not None and payin.status is TransactionStatus.SUCCEEDED):
        await _complete(tx, attempt, payin)
    elif payin is not None and payin.status is TransactionStatus.FAILED:
        failure = payin.failure
        await _fail(tx.db, attempt, failure.code if failure else "", failure.reason if failure else "unknown")
    elif unsent:
        await _fail(tx.db, attempt, "", TECHNICAL_FAILURE)
    else:
        await _record_pending(tx, attempt, payin)
    return attempt


async def _record_refused(tx: Recording, attempt: AttemptRow, refused: RefusedCall[AttemptRow]) -> None:
    await _fail(tx.db, attempt, refused.error.code, TECHNICAL_FAILURE)


async def record_pending(services: Services, attempt_id: uuid.UUID, payin: Transaction | None = None) -> None:
    """Save a payment that is not final, and schedule the next check. Abandons the attempt once the customer can no
    longer be paying.
    """
    async with services.db.sessions() as db, db.begin():
        await _record_pending(Recording(services, db), await lock_known_attempt(db, attempt_id), payin)


async def _record_pending(tx: Recording, attempt: AttemptRow, payin: Transaction | None = None) -> None:
    now = tx.now
    if payin is not None:
        record_payin(attempt, payin)
    if attempt.state in LIVE and now > reservations_end(attempt):
        await abandon(tx.db, attempt)
    attempt.check_on = next_check(attempt, now)


def record_payin(attempt: AttemptRow, payin: Transaction) -> None:
    """Save the pay-in of a locked attempt, and the URL where the customer pays."""
    attempt.payin_id, attempt.payer_id = payin.id, payin.payer_id
    if payin.action is not None:
        attempt.redirect_url = payin.action.url
        attempt.link_expires_on = payin.action.expires_at
    if attempt.state is AttemptState.STARTING:
        transition(attempt, AttemptState.OPEN)
    elif attempt.state is AttemptState.FAILED:
        transition(attempt, AttemptState.ABANDONED)


async def abandon(db: AsyncSession, attempt: AttemptRow) -> None:
    """Release the reservations of a live, locked attempt. Its pay-in is checked until it is final."""
    await release_reservations(db, attempt)
    transition(attempt, AttemptState.ABANDONED)


async def _fail(db: AsyncSession, attempt: AttemptRow, code: str, reason: str) -> None:
    """Mark an unsettled attempt as failed and release its reservations: nothing was charged."""
    if attempt.state not in UNSETTLED:
        return
    await release_reservations(db, attempt)
    transition(attempt, AttemptState.FAILED)
    attempt.failure_code, attempt.failure_reason, attempt.check_on = code[:20], reason[:40], None


async def _complete(tx: Recording, attempt: AttemptRow, payin: Transaction | None) -> None:
    """Complete an unsettled attempt that is paid, or that needs no card payment: place the order, or refund if its
    items can no longer be supplied.
    """
    if attempt.state not in UNSETTLED:
        return
    if payin is not None:
        attempt.payin_id, attempt.payer_id = payin.id, payin.payer_id
    now, attempt_id = tx.now, attempt.id
    can_be_ordered = attempt.personal_data_erased_on is None and _paid_in_full(attempt, payin)
    covered = can_be_ordered and await _consume_reservations(tx.db, attempt, now)
    attempt = await lock_known_attempt(tx.db, attempt_id)
    attempt.check_on = None
    if covered:
        transition(attempt, AttemptState.COMPLETED)
        await _place_order(tx.services, tx.db, attempt, payin, now)
    elif payin is None:
        await _fail(tx.db, attempt, "", UNAVAILABLE)
    else:
        await release_reservations(tx.db, attempt)
        transition(attempt, AttemptState.REFUNDING)
        await _refund_in_full(tx.db, attempt, payin, now)
    log.info("a payment attempt ended", attempt=str(attempt.id), state=attempt.state)


async def _refund_in_full(db: AsyncSession, attempt: AttemptRow, payin: Transaction, now: dt.datetime) -> None:
    """Refund a pay-in that pays for nothing: what it was for can no longer be supplied."""
    payment = await record_checkout_payment(db, attempt, payin, now, order_id=None, gift_cards={})
    locked = await lock_with_sources(db, payment)
    amounts = {source.id: source.source_amount for source in locked.sources}
    await promise_refund(db, locked, amounts, origin=RefundOrigin.SHOP, now=now)
    if attempt.buyer.email:  # it is erased if this was paid long after it had failed
        await mails.queue_refund_mail(db, attempt, payin.amount)


async def _place_order(
    services: Services, db: AsyncSession, attempt: AttemptRow, payin: Transaction | None, now: dt.datetime
) -> None:
    """Write the order with the vouchers or gift cards that it issues, and queue mails and events. A basket counts as
    emptied once its order exists.
    """
    order, payment = await open_order(db, attempt, now), None
    if attempt.total_amount:
        cards = await paying_cards(db, attempt)
        payment = await record_checkout_payment(db, attempt, payin, now, order_id=order.id, gift_cards=cards)
        await spend_on_networks(db, attempt, payment, now)
    await fill_order(db, order, attempt, payment, await _shop_url(services, db, attempt), now)
    if payment is not None:
        await emit_payment_event(db, EventType.PAYMENT_SUCCEEDED, payment)
    await mails.queue_order_mails(db, order, attempt)
    await events.emit_order_events(db, order, attempt)
    if attempt.orders_cart:
        cart = {
            "partner_id": attempt.partner_id,
            "cart_id": attempt.cart_id,
            "last_modified": attempt.cart_last_modified,
        }
        await enqueue_job(db, JobKind.DROP_CART, cart)


async def _shop_url(services: Services, db: AsyncSession, attempt: AttemptRow) -> str:
    """The URL of the shop where the attempt was started; empty for goods, which come from the partner's own shop."""
    domain = (await db.exec(select(PartnerRow.site_domain).where(col(PartnerRow.id) == attempt.partner_id))).one()
    return shop_url(services.settings, domain, attempt.kind)


async def delete_ordered_cart(services: Services, attempt: AttemptRow) -> None:
    """Delete the cart that an attempt has ordered. The job does so if the cart store is not available."""
    if attempt.state is AttemptState.COMPLETED and attempt.kind is ShopKind.NETWORK:
        with suppress(Unavailable):
            await services.multi_product_carts.delete(attempt.partner_id, attempt.cart_id)
    if attempt.state is AttemptState.COMPLETED and attempt.orders_cart:
        with suppress(Unavailable):
            await delete_cart(services, attempt.partner_id, attempt.cart_id, attempt.cart_last_modified)


async def delete_cart(services: Services, partner_id: int, cart_id: uuid.UUID, last_modified: int) -> None:
    """Delete the cart of an order, unless the shop has replaced it since."""
    await services.carts.delete_if_unchanged(partner_id, cart_id, last_modified)


def _paid_in_full(attempt: AttemptRow, payin: Transaction | None) -> bool:
    """True if the pay-in has the amount and reference of this attempt; without a pay-in, if nothing is due by card."""
    if payin is None:
        return attempt.card_amount == 0
    expected = MinorAmount.of(attempt.card_amount, attempt.currency)
    good = payin.amount == expected and payin.reference == str(attempt.id)
    if not good:
        log.error(
            "a pay-in has a wrong amount or reference", attempt=str(attempt.id), payin=payin.id, amount=payin.amount
        )
    return good


async def _consume_reservations(db: AsyncSession, attempt: AttemptRow, now: dt.datetime) -> bool:
    """Consume the reservations, after reserving again if they were released. Returns False, without effect, if
    something is not available.
    """
    if not attempt.held and await _is_superseded(db, attempt):
        return False
    try:
        async with db.begin_nested():
            if not attempt.held:
                await reserve(db, attempt, now)
            await consume_reservations(db, attempt)
    except CheckoutChanged:
        return False
    return True


async def _is_superseded(db: AsyncSession, attempt: AttemptRow) -> bool:
    """True if the customer has started or completed a newer payment for the same cart or basket."""
    others = select(AttemptRow.id).where(
        col(AttemptRow.partner_id) == attempt.partner_id,
        col(AttemptRow.cart_id) == attempt.cart_id,
        col(AttemptRow.session_digest) == attempt.session_digest,
        col(AttemptRow.id) != attempt.id,
        col(AttemptRow.cart_last_modified) >= attempt.cart_last_modified,
        col(AttemptRow.state).in_((*LIVE, AttemptState.COMPLETED)),
    )
    return (await db.exec(others.limit(1))).first() is not None


async def lock_known_attempt(db: AsyncSession, attempt_id: uuid.UUID) -> AttemptRow:
    """The attempt, locked and reloaded. Raises NotFound."""
    attempt = await lock_attempt(db, attempt_id)
    if attempt is None:
        raise NotFound(thing="payment")
    return attempt


async def _lock_checkout_and_attempt(db: AsyncSession, attempt: AttemptRow) -> AttemptRow:
    await lock_checkout(db, attempt.cart_id, attempt.session_digest)
    return await lock_known_attempt(db, attempt.id)


PAYIN = ProviderCall(
    lock=_lock_checkout_and_attempt,
    record=_record_payin,
    refuse=_record_refused,
    refusals=(InvalidRequest, NotAllowed),
)

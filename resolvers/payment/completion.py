"""Completion of payment attempts. The customer's return, provider notifications and the worker call the same functions.

Any number of calls, concurrent or after a crash, result in one order or one refund.
"""

import asyncio
import datetime as dt
import uuid
from contextlib import suppress

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.services import Services
from resolvers.mail import mails
from schema.checkout.checkout import ShopKind
from schema.core.errors import CheckoutChanged, NotFound, Unavailable
from store.checkout.placement import write_order
from store.checkout.reading import lock_attempt, lock_checkout
from store.checkout.reservations import consume_reservations, release_reservations, reserve
from store.job.jobs import JobKind, enqueue_job
from store.order import events
from store.partner.partners import PartnerRow
from store.payment.attempts import LIVE, AttemptRow, AttemptState, reservations_end, transition
from store.providers.errors import Declined, InvalidRequest, TransientError
from store.providers.keys import IdempotencyKey
from store.providers.money import MinorAmount
from store.providers.transactions import RefundRequest, Transaction, TransactionKind, TransactionStatus

log = structlog.get_logger(__name__)

GRACE = dt.timedelta(minutes=8)
"""How long the calls that start a payment may still be in progress: longer than all retries of both calls together."""
PAUSES = (
    (dt.timedelta(minutes=3), dt.timedelta(seconds=30)),
    (dt.timedelta(minutes=45), dt.timedelta(minutes=1)),
    (dt.timedelta(days=1), dt.timedelta(minutes=15)),
)
SHOP_PATHS = {ShopKind.VOUCHERS: "/vouchers/shop/", ShopKind.GIFT_CARDS: "/giftcards/shop/"}
LONGEST_PAUSE = dt.timedelta(hours=6)


def next_check(attempt: AttemptRow, now: dt.datetime) -> dt.datetime:
    """When the worker checks next: at short intervals at first, then ever less often."""
    age = now - attempt.created_on
    return now + next((pause for until, pause in PAUSES if age < until), LONGEST_PAUSE)


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

    `time_limit` is for callers that wait for the result: the provider has that long, and refunds are left to the
    worker.
    """
    attempt = await read_attempt(services, attempt_id)
    if attempt.state is AttemptState.REFUNDING and time_limit is None:
        return await refund_attempt(services, attempt)
    if attempt.state not in (*LIVE, AttemptState.ABANDONED):
        return attempt
    if attempt.card_amount == 0:  # nothing to pay by card: a crash interrupted the completion
        return await complete(services, attempt_id, None)
    try:
        async with asyncio.timeout(time_limit.total_seconds() if time_limit else None):
            payin = await _payin_of(services, attempt)
    except TimeoutError as error:
        raise TransientError(f"The provider has not answered within {time_limit}.") from error
    if payin is None:
        unsent = services.clock.now() - attempt.created_on > GRACE
        return (
            await fail(services, attempt_id, "", "provider_technical")
            if unsent
            else await record_pending(services, attempt_id)
        )
    if payin.status is TransactionStatus.SUCCEEDED:
        return await complete(services, attempt_id, payin)
    if payin.status is TransactionStatus.FAILED:
        failure = payin.failure
        return await fail(
            services, attempt_id, failure.code if failure else "", failure.reason if failure else "unknown"
        )
    return await record_pending(services, attempt_id, payin)


async def _payin_of(services: Services, attempt: AttemptRow) -> Transaction | None:
    """The pay-in at the provider; None if the provider never received it or refused to create it."""
    if attempt.payin_id:
        return await services.provider.get_transaction(TransactionKind.PAYIN, attempt.payin_id)
    try:
        found = await services.provider.resolve(IdempotencyKey(str(attempt.payin_key)), sent_at=attempt.created_on)
    except Declined as declined:
        return declined.transaction
    except InvalidRequest:
        return None
    return found if isinstance(found, Transaction) else None


async def record_pending(services: Services, attempt_id: uuid.UUID, payin: Transaction | None = None) -> AttemptRow:
    """Save a payment that is not final, and schedule the next check. Abandons the attempt once the customer can no
    longer be paying.
    """
    async with services.db.sessions() as db, db.begin():
        attempt = await _lock_attempt(db, attempt_id)
        now = services.clock.now()
        if payin is not None:
            record_payin(attempt, payin)
        if attempt.state in LIVE and now > reservations_end(attempt):
            await abandon(db, attempt)
        attempt.check_on = next_check(attempt, now)
        return attempt


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


async def fail(services: Services, attempt_id: uuid.UUID, code: str, reason: str) -> AttemptRow:
    """Mark an attempt as failed and release its reservations: nothing was charged."""
    async with services.db.sessions() as db, db.begin():
        attempt = await _lock_attempt(db, attempt_id)
        if attempt.state not in (*LIVE, AttemptState.ABANDONED):
            return attempt
        await release_reservations(db, attempt)
        transition(attempt, AttemptState.FAILED)
        attempt.failure_code, attempt.failure_reason, attempt.check_on = code[:20], reason[:40], None
        return attempt


async def complete(services: Services, attempt_id: uuid.UUID, payin: Transaction | None) -> AttemptRow:
    """Complete an attempt that is paid, or that needs no card payment: place the order, or refund if its items can no
    longer be supplied.
    """
    known = await read_attempt(services, attempt_id)
    async with services.db.sessions() as db, db.begin():
        await lock_checkout(db, known.cart_id, known.session_digest)
        attempt = await _lock_attempt(db, attempt_id)
        if attempt.state not in (*LIVE, AttemptState.ABANDONED):
            return attempt
        if payin is not None:
            attempt.payin_id, attempt.payer_id = payin.id, payin.payer_id
        now = services.clock.now()
        covered = _paid_in_full(attempt, payin) and await _consume_reservations(db, attempt, now)
        attempt = await _lock_attempt(db, attempt_id)
        if covered:
            transition(attempt, AttemptState.COMPLETED)
            attempt.check_on = None
            await _place_order(services, db, attempt, now)
        else:
            await release_reservations(db, attempt)
            transition(attempt, AttemptState.REFUNDING)
            attempt.refund_key, attempt.check_on = uuid.uuid4(), now
            await enqueue_job(db, JobKind.SETTLE_ATTEMPT, {"id": attempt.id}, unique_key=str(attempt.id))
            if payin is not None:
                await mails.queue_refund_mail(db, attempt, payin.amount)
    log.info("checkout attempt ended", attempt=str(attempt.id), state=attempt.state)
    if attempt.state is AttemptState.COMPLETED and attempt.kind is ShopKind.PRODUCTS:
        with suppress(Unavailable):  # the job deletes it once the cart store is available
            await delete_cart(services, attempt.partner_id, attempt.cart_id, attempt.cart_last_modified)
    return attempt


async def _place_order(services: Services, db: AsyncSession, attempt: AttemptRow, now: dt.datetime) -> None:
    """Write the order with the vouchers or gift cards that it issues, and queue mails and events. A basket counts as
    emptied once its order exists.
    """
    order = await write_order(db, attempt, await _shop_url(services, db, attempt), now)
    await mails.queue_order_mails(db, order, attempt)
    await events.emit_order_events(db, order, attempt)
    if attempt.kind is ShopKind.PRODUCTS:
        cart = {
            "partner_id": attempt.partner_id,
            "cart_id": attempt.cart_id,
            "last_modified": attempt.cart_last_modified,
        }
        await enqueue_job(db, JobKind.DROP_CART, cart)


async def _shop_url(services: Services, db: AsyncSession, attempt: AttemptRow) -> str:
    """The URL of the shop where the attempt was started; empty for carts, which come from the partner's own shop."""
    if attempt.kind is ShopKind.PRODUCTS:
        return ""
    domain = (await db.exec(select(PartnerRow.site_domain).where(col(PartnerRow.id) == attempt.partner_id))).one()
    return f"{services.settings.funnel_scheme}://{domain}{SHOP_PATHS[attempt.kind]}"


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
        log.error("a pay-in is not what was asked for", attempt=str(attempt.id), payin=payin.id, amount=payin.amount)
    return good


async def _consume_reservations(db: AsyncSession, attempt: AttemptRow, now: dt.datetime) -> bool:
    """Consume the reservations, after reserving again if they were released. Returns False, without effect, if
    something is not available.
    """
    if not attempt.held and await _superseded(db, attempt):
        return False
    try:
        async with db.begin_nested():
            if not attempt.held:
                await reserve(db, attempt, now)
            await consume_reservations(db, attempt)
    except CheckoutChanged:
        return False
    return True


async def _superseded(db: AsyncSession, attempt: AttemptRow) -> bool:
    """True if the customer has started or completed a newer payment for the same cart or basket."""
    others = select(AttemptRow.id).where(
        col(AttemptRow.partner_id) == attempt.partner_id,
        col(AttemptRow.kind) == attempt.kind,
        col(AttemptRow.cart_id) == attempt.cart_id,
        col(AttemptRow.session_digest) == attempt.session_digest,
        col(AttemptRow.id) != attempt.id,
        col(AttemptRow.cart_last_modified) >= attempt.cart_last_modified,
        col(AttemptRow.state).in_((*LIVE, AttemptState.COMPLETED)),
    )
    return (await db.exec(others.limit(1))).first() is not None


async def refund_attempt(services: Services, attempt: AttemptRow) -> AttemptRow:
    """Refund the whole pay-in of an attempt without an order. Repeated until the refund has succeeded."""
    assert attempt.refund_key is not None
    key = IdempotencyKey(str(attempt.refund_key))
    refunds = await _refunds(services, attempt, key)
    async with services.db.sessions() as db, db.begin():
        locked = await _lock_attempt(db, attempt.id)
        if locked.state is not AttemptState.REFUNDING:
            return locked
        locked.refund_id = refunds[-1].id
        locked.check_on = next_check(locked, services.clock.now())
        if all(refund.status is TransactionStatus.SUCCEEDED for refund in refunds):
            transition(locked, AttemptState.REFUNDED)
            locked.check_on = None
        elif refunds[-1].status is TransactionStatus.FAILED and locked.refund_key == uuid.UUID(key):
            log.error("a refund failed", attempt=str(locked.id), refund=refunds[-1].id, failure=refunds[-1].failure)
            locked.refund_key = uuid.uuid4()
        return locked


async def _refunds(services: Services, attempt: AttemptRow, key: IdempotencyKey) -> list[Transaction]:
    """The refunds of the pay-in, whoever created them, plus a new one for the amount that is left."""
    payin = await services.provider.get_transaction(TransactionKind.PAYIN, attempt.payin_id)
    found = await services.provider.list_children(TransactionKind.PAYIN, payin.id)
    made = [refund for refund in found if refund.status is not TransactionStatus.FAILED]
    left = sum((-refund.amount.minor for refund in made), payin.amount.minor)
    if left <= 0:
        return made
    amount, nothing = MinorAmount(payin.amount.currency, left), MinorAmount(payin.amount.currency, 0)
    request = RefundRequest(str(attempt.id), payin.id, payin.payer_id, amount, nothing)
    try:
        return [*made, await services.provider.refund(request, key=key)]
    except Declined as declined:
        return [*made, declined.transaction]


async def _lock_attempt(db: AsyncSession, attempt_id: uuid.UUID) -> AttemptRow:
    attempt = await lock_attempt(db, attempt_id)
    if attempt is None:
        raise NotFound(thing="payment")
    return attempt

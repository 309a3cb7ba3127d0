"""How a checkout attempt ends: the one completion function, called by the customer's return, the provider's notification
and the worker alike. Any number of calls, at once or after a crash, end in one order or one refund."""

import asyncio
import datetime as dt
import uuid
from contextlib import suppress

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.context import Services
from resolvers.mail import mails
from schema.checkout.checkout import ShopKind
from schema.core.errors import CheckoutChanged, NotFound, Unavailable
from store.checkout.placement import write_order
from store.checkout.reading import locked_attempt, one_at_a_time
from store.checkout.reservations import release, spend, take
from store.job.jobs import Job, enqueue
from store.order import events
from store.partner.partners import PartnerRow
from store.payment import LIVE, AttemptRow, AttemptState, move
from store.providers.base import (
    Declined,
    InvalidRequest,
    Key,
    MinorAmount,
    RefundRequest,
    Transaction,
    TransactionKind,
    TransactionStatus,
    Transient,
)

log = structlog.get_logger(__name__)

GRACE = dt.timedelta(minutes=8)
"""How long the calls that start a payment may still be on their way: longer than all attempts of both together take."""
LINK_LIFE = dt.timedelta(minutes=15)
"""How long a link lives whose end we have not been told."""
HOLDS_OUTLIVE_LINK = dt.timedelta(minutes=20)
PAUSES = (
    (dt.timedelta(minutes=3), dt.timedelta(seconds=30)),
    (dt.timedelta(minutes=45), dt.timedelta(minutes=1)),
    (dt.timedelta(days=1), dt.timedelta(minutes=15)),
)
SHOP_PATHS = {ShopKind.VOUCHERS: "/vouchers/shop/", ShopKind.GIFT_CARDS: "/giftcards/shop/"}
LONGEST_PAUSE = dt.timedelta(hours=6)


def next_check(attempt: AttemptRow, now: dt.datetime) -> dt.datetime:
    """When the worker looks again: often at first, ever more rarely later."""
    age = now - attempt.created_on
    return now + next((pause for until, pause in PAUSES if age < until), LONGEST_PAUSE)


def holds_end(attempt: AttemptRow) -> dt.datetime:
    """Until when a live attempt holds what it needs, at the latest."""
    return (attempt.link_expires_on or attempt.created_on + LINK_LIFE) + HOLDS_OUTLIVE_LINK


async def read_attempt(services: Services, attempt_id: uuid.UUID) -> AttemptRow:
    """An attempt as it is now."""
    async with services.db.sessions() as db:
        attempt = await db.get(AttemptRow, attempt_id)
    if attempt is None:
        raise NotFound(thing="payment")
    return attempt


async def settle(services: Services, attempt_id: uuid.UUID, *, patience: dt.timedelta | None = None) -> AttemptRow:
    """Ask the provider how an attempt stands, and act on it. Raises ProviderError when the provider can't tell now.

    With `patience` somebody waits for the answer: the provider has so long, and refunds are left to the worker.
    """
    attempt = await read_attempt(services, attempt_id)
    if attempt.state is AttemptState.REFUNDING and patience is None:
        return await give_back(services, attempt)
    if attempt.state not in (*LIVE, AttemptState.ABANDONED):
        return attempt
    if attempt.card_amount == 0:  # the customer has agreed, and whoever was to complete it has died
        return await complete(services, attempt_id, None)
    try:
        async with asyncio.timeout(patience.total_seconds() if patience else None):
            payin = await _payin_of(services, attempt)
    except TimeoutError as error:
        raise Transient(f"The provider has not answered within {patience}.") from error
    if payin is None:
        unsent = services.clock.now() - attempt.created_on > GRACE
        return (
            await fail(services, attempt_id, "", "provider_technical") if unsent else await wait(services, attempt_id)
        )
    if payin.status is TransactionStatus.SUCCEEDED:
        return await complete(services, attempt_id, payin)
    if payin.status is TransactionStatus.FAILED:
        failure = payin.failure
        return await fail(
            services, attempt_id, failure.code if failure else "", failure.reason if failure else "unknown"
        )
    return await wait(services, attempt_id, payin)


async def _payin_of(services: Services, attempt: AttemptRow) -> Transaction | None:
    """The pay-in as the provider has it; None when it has never heard of it, or refused to make it."""
    if attempt.payin_id:
        return await services.provider.get_transaction(TransactionKind.PAYIN, attempt.payin_id)
    try:
        found = await services.provider.resolve(Key(str(attempt.payin_key)), sent_at=attempt.created_on)
    except Declined as declined:
        return declined.transaction
    except InvalidRequest:
        return None
    return found if isinstance(found, Transaction) else None


async def wait(services: Services, attempt_id: uuid.UUID, payin: Transaction | None = None) -> AttemptRow:
    """Not final: note what is known, let the holds go when the customer can't be paying any more, look again later."""
    async with services.db.sessions() as db, db.begin():
        attempt = await _locked(db, attempt_id)
        now = services.clock.now()
        if payin is not None:
            note_payin(attempt, payin)
        if attempt.state in LIVE and now > holds_end(attempt):
            await abandon(db, attempt)
        attempt.check_on = next_check(attempt, now)
        return attempt


def note_payin(attempt: AttemptRow, payin: Transaction) -> None:
    """Remember the pay-in of a locked attempt, and where the customer goes to pay."""
    attempt.payin_id, attempt.payer_id = payin.id, payin.payer_id
    if payin.action is not None:
        attempt.redirect_url = payin.action.url
        attempt.link_expires_on = payin.action.expires_at
    if attempt.state is AttemptState.STARTING:
        move(attempt, AttemptState.OPEN)
    elif attempt.state is AttemptState.FAILED:
        move(attempt, AttemptState.ABANDONED)


async def abandon(db: AsyncSession, attempt: AttemptRow) -> None:
    """Let go what a live, locked attempt holds; its pay-in is watched until it is final."""
    await release(db, attempt)
    move(attempt, AttemptState.ABANDONED)


async def fail(services: Services, attempt_id: uuid.UUID, code: str, reason: str) -> AttemptRow:
    """Nothing was charged: let go what is held."""
    async with services.db.sessions() as db, db.begin():
        attempt = await _locked(db, attempt_id)
        if attempt.state not in (*LIVE, AttemptState.ABANDONED):
            return attempt
        await release(db, attempt)
        move(attempt, AttemptState.FAILED)
        attempt.failure_code, attempt.failure_reason, attempt.check_on = code[:20], reason[:40], None
        return attempt


async def complete(services: Services, attempt_id: uuid.UUID, payin: Transaction | None) -> AttemptRow:
    """The money is there (or none was needed): make the order, or give the money back when it is no longer covered."""
    known = await read_attempt(services, attempt_id)
    async with services.db.sessions() as db, db.begin():
        await one_at_a_time(db, known.cart_id, known.session_digest)
        attempt = await _locked(db, attempt_id)
        if attempt.state not in (*LIVE, AttemptState.ABANDONED):
            return attempt
        if payin is not None:
            attempt.payin_id, attempt.payer_id = payin.id, payin.payer_id
        now = services.clock.now()
        covered = _paid_in_full(attempt, payin) and await _cover(db, attempt, now)
        attempt = await _locked(db, attempt_id)
        if covered:
            move(attempt, AttemptState.COMPLETED)
            attempt.check_on = None
            await _order(services, db, attempt, now)
        else:
            await release(db, attempt)
            move(attempt, AttemptState.REFUNDING)
            attempt.refund_key, attempt.check_on = uuid.uuid4(), now
            await enqueue(db, Job.SETTLE_ATTEMPT, {"id": attempt.id}, once=str(attempt.id))
            if payin is not None:
                await mails.tell_of_refund(db, attempt, payin.amount)
    log.info("checkout attempt ended", attempt=str(attempt.id), state=attempt.state)
    if attempt.state is AttemptState.COMPLETED and attempt.kind is ShopKind.PRODUCTS:
        with suppress(Unavailable):  # the job does it once the store is back
            await drop_cart(services, attempt.partner_id, attempt.cart_id, attempt.cart_last_modified)
    return attempt


async def _order(services: Services, db: AsyncSession, attempt: AttemptRow, now: dt.datetime) -> None:
    """Write the order of an attempt, with all that it issues, and tell everybody. A bag is emptied by there being an order."""
    order = await write_order(db, attempt, await _sold_at(services, db, attempt), now)
    await mails.tell_of_order(db, order, attempt)
    await events.tell_of_order(db, order, attempt)
    if attempt.kind is ShopKind.PRODUCTS:
        cart = {
            "partner_id": attempt.partner_id,
            "cart_id": attempt.cart_id,
            "last_modified": attempt.cart_last_modified,
        }
        await enqueue(db, Job.DROP_CART, cart)


async def _sold_at(services: Services, db: AsyncSession, attempt: AttemptRow) -> str:
    """The address of the shop that an attempt was begun in; empty for a shop of the partner's own."""
    if attempt.kind is ShopKind.PRODUCTS:
        return ""
    domain = (await db.exec(select(PartnerRow.site_domain).where(col(PartnerRow.id) == attempt.partner_id))).one()
    return f"{services.settings.funnel_scheme}://{domain}{SHOP_PATHS[attempt.kind]}"


async def drop_cart(services: Services, partner_id: int, cart_id: uuid.UUID, last_modified: int) -> None:
    """Delete the cart of an order, unless the shop has replaced it since."""
    await services.carts.delete_if_unchanged(partner_id, cart_id, last_modified)


def _paid_in_full(attempt: AttemptRow, payin: Transaction | None) -> bool:
    """Whether the provider's pay-in is the one that this attempt asked for."""
    if payin is None:
        return attempt.card_amount == 0
    expected = MinorAmount.of(attempt.card_amount, attempt.currency)
    good = payin.amount == expected and payin.reference == str(attempt.id)
    if not good:
        log.error("a pay-in is not what was asked for", attempt=str(attempt.id), payin=payin.id, amount=payin.amount)
    return good


async def _cover(db: AsyncSession, attempt: AttemptRow, now: dt.datetime) -> bool:
    """Spend what is held, taking it again if it had been let go; False, and nothing taken, when it is not there."""
    if not attempt.held and await _superseded(db, attempt):
        return False
    try:
        async with db.begin_nested():
            if not attempt.held:
                await take(db, attempt, now)
            await spend(db, attempt)
    except CheckoutChanged:
        return False
    return True


async def _superseded(db: AsyncSession, attempt: AttemptRow) -> bool:
    """Whether the customer has begun or made another payment for the same cart since this one was given up."""
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


async def give_back(services: Services, attempt: AttemptRow) -> AttemptRow:
    """Refund the whole pay-in of an attempt that has no order. Repeated until the card has its money back."""
    assert attempt.refund_key is not None
    key = Key(str(attempt.refund_key))
    refunds = await _refunds(services, attempt, key)
    async with services.db.sessions() as db, db.begin():
        locked = await _locked(db, attempt.id)
        if locked.state is not AttemptState.REFUNDING:
            return locked
        locked.refund_id = refunds[-1].id
        locked.check_on = next_check(locked, services.clock.now())
        if all(refund.status is TransactionStatus.SUCCEEDED for refund in refunds):
            move(locked, AttemptState.REFUNDED)
            locked.check_on = None
        elif refunds[-1].status is TransactionStatus.FAILED and locked.refund_key == uuid.UUID(key):
            log.error("a refund failed", attempt=str(locked.id), refund=refunds[-1].id, failure=refunds[-1].failure)
            locked.refund_key = uuid.uuid4()
        return locked


async def _refunds(services: Services, attempt: AttemptRow, key: Key) -> list[Transaction]:
    """The refunds of all that was charged, whoever made them: those made or under way, and one more of what is left."""
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


async def _locked(db: AsyncSession, attempt_id: uuid.UUID) -> AttemptRow:
    attempt = await locked_attempt(db, attempt_id)
    if attempt is None:
        raise NotFound(thing="payment")
    return attempt

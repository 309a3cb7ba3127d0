"""Paying in the checkout: start, come back, give up, see how it ended."""

import asyncio
import datetime as dt
import uuid

import structlog
from sqlmodel import col, select

from resolvers.checkout.session import reached
from resolvers.checkout.steps import desk_of, partner_of
from resolvers.core.context import Services
from resolvers.core.operation import Call, operation
from resolvers.partner.selling import require_selling
from resolvers.payment.completion import abandon, complete, fail, next_check, note_payin, read_attempt, settle
from resolvers.payment.outcome import outcome_of
from schema.checkout.checkout import Agreed, AttemptStatus, Checkout, CheckoutKey, Notice, PaymentStarted, Step
from schema.checkout.outcome import Outcome
from schema.core.errors import CheckoutChanged, NotFound, PaymentsNotActive, ProviderFailed, ProviderTimedOut
from schema.core.permission import Rule
from store.checkout.placement import new_attempt
from store.checkout.reading import latest_attempt, locked_attempt, one_at_a_time, session_digest
from store.checkout.reservations import lock, take
from store.partner.partners import PartnerRow
from store.payment import LIVE, AttemptRow, AttemptState
from store.providers.base import (
    Declined,
    InvalidRequest,
    Key,
    MinorAmount,
    NotAllowed,
    PaymentRequest,
    Person,
    ProviderError,
    Transaction,
)

log = structlog.get_logger(__name__)
PATIENCE = dt.timedelta(seconds=10)
"""How long a customer waits for one answer of the provider. A call given up so is like one whose answer is lost."""


@operation(Rule.CUSTOMER, transaction=False)
async def start_payment(
    call: Call, key: CheckoutKey, agreed: Agreed, language: str, return_base: str
) -> PaymentStarted:
    """Begin to pay exactly what was `agreed`. Pressing twice, or in two tabs, begins one payment.

    The attempt is written before the provider hears of it; the customer comes back to `return_base` + its id. Raises
    CheckoutChanged when the amounts are no longer what the customer has seen, or something can't be had any more;
    PartnerInactive when the partner does not sell (any more), for whatever is not under way already.
    """
    attempt = await _begin(call, key, agreed, language)
    if attempt.state is AttemptState.STARTING:
        if attempt.card_amount == 0:
            attempt = await complete(call.services, attempt.id, None)
        else:
            attempt = await _send(call.services, attempt, f"{return_base}{attempt.id}/")
    status = AttemptStatus.COMPLETED if attempt.state is AttemptState.COMPLETED else AttemptStatus.WAITING
    return PaymentStarted(attempt.id, status, attempt.redirect_url or None)


async def _begin(call: Call, key: CheckoutKey, agreed: Agreed, language: str) -> AttemptRow:
    """The attempt of this customer for exactly this checkout: the live one, the one that is ordered, or one written now."""
    async with call.services.db.sessions() as db, db.begin():
        await one_at_a_time(db, key.cart_id, session_digest(key.session_id))
        desk = await desk_of(call, db, key, ordered=True)
        if desk.order is not None:
            return desk.order
        quote, buyer = await desk.quote(call, db), desk.customer.buyer
        if Notice.CART_REPLACED in desk.edits.notices or reached(desk, quote) is not Step.PAYMENT:
            raise CheckoutChanged
        if buyer is None or Agreed.of(quote.totals) != agreed:
            raise CheckoutChanged
        attempt = new_attempt(desk.partner.id, key, desk.source, quote, buyer, language)
        live = await latest_attempt(db, desk.partner.id, key, live=True, lock=True)
        now = call.services.clock.now()
        if live is not None:
            payable = live.link_expires_on is None or now < live.link_expires_on
            if live.fingerprint == attempt.fingerprint and payable:
                return live
            await lock(db, live, attempt)
            await abandon(db, live)
            await db.flush()
        if attempt.card_amount and not _takes_cards(desk.partner):
            raise PaymentsNotActive
        attempt.created_on, attempt.check_on = now, next_check(attempt, now)
        db.add(attempt)
        await db.flush()
        await require_selling(call.services, db, attempt.partner_id, lock=True)
        await take(db, attempt, now)
        return attempt


def _takes_cards(partner: PartnerRow) -> bool:
    """Whether a partner can be paid by card: once its payments are active."""
    return partner.payments_active and bool(partner.provider_wallet_id)


async def _send(services: Services, attempt: AttemptRow, return_url: str) -> AttemptRow:
    """Tell the provider. Whatever happens here, the attempt stands, and its keys make every call happen once."""
    try:
        async with asyncio.timeout(2 * PATIENCE.total_seconds()):
            payin = await _ask(services, attempt, return_url)
    except Declined as declined:
        failure = declined.transaction.failure
        return await fail(services, attempt.id, declined.code, failure.reason if failure else "unknown")
    except (InvalidRequest, NotAllowed) as error:
        log.exception("the provider refused to start a payment", attempt=str(attempt.id), code=error.code)
        await fail(services, attempt.id, error.code, "provider_technical")
        raise ProviderFailed from error
    except (ProviderError, TimeoutError) as error:
        log.warning("a payment could not be started for now", attempt=str(attempt.id), error=repr(error))
        raise ProviderTimedOut from error
    async with services.db.sessions() as db, db.begin():
        locked = await locked_attempt(db, attempt.id)
        assert locked is not None
        if locked.state in (AttemptState.STARTING, AttemptState.OPEN, AttemptState.FAILED, AttemptState.ABANDONED):
            note_payin(locked, payin)
            locked.check_on = next_check(locked, services.clock.now())
    if locked.state is AttemptState.ABANDONED:
        raise ProviderTimedOut
    return locked


async def _ask(services: Services, attempt: AttemptRow, return_url: str) -> Transaction:
    provider, buyer = services.provider, attempt.buyer
    async with services.db.sessions() as db:
        partner = (await db.exec(select(PartnerRow).where(col(PartnerRow.id) == attempt.partner_id))).one()
    person = Person(buyer["first_name"], buyer["last_name"], buyer["email"])
    key, sent_at = Key(str(attempt.payer_key)), attempt.created_on
    payer_id = await provider.create_payer(person, str(attempt.id), key=key, sent_at=sent_at)
    request = PaymentRequest(
        reference=str(attempt.id),
        payer_id=payer_id,
        wallet_id=partner.provider_wallet_id,
        amount=MinorAmount.of(attempt.card_amount, attempt.currency),
        fee=MinorAmount(attempt.currency, 0),
        return_url=return_url,
        language=attempt.language,
    )
    return await provider.create_payment(request, key=Key(str(attempt.payin_key)), sent_at=sent_at)


@operation(Rule.CUSTOMER, transaction=False)
async def settle_payment(call: Call, session_id: str, attempt_id: uuid.UUID) -> Outcome:
    """How a payment stands, asked of the provider now. Only the browser that began it is told more than nothing."""
    attempt = await _own(call, attempt_id)
    try:
        attempt = await settle(call.services, attempt.id, patience=PATIENCE)
    except ProviderError as error:  # the customer is told to wait, and the worker goes on asking
        log.warning("a payment could not be settled for now", attempt=str(attempt_id), error=str(error))
        attempt = await read_attempt(call.services, attempt_id)
    if attempt.session_digest != session_digest(session_id):
        raise NotFound(thing="payment")
    return await outcome_of(call.services, attempt)


async def _own(call: Call, attempt_id: uuid.UUID) -> AttemptRow:
    attempt = await read_attempt(call.services, attempt_id)
    if attempt.partner_id != partner_of(call):
        raise NotFound(thing="payment")
    return attempt


@operation(Rule.CUSTOMER, transaction=False)
async def payment_outcome(call: Call, key: CheckoutKey) -> Outcome:
    """How the last payment of this browser for this cart ended. NotFound when there was none."""
    async with call.services.db.sessions() as db:
        attempt = await latest_attempt(db, partner_of(call), key)
    if attempt is None:
        raise NotFound(thing="payment")
    return await outcome_of(call.services, attempt)


@operation(Rule.CUSTOMER, transaction=False)
async def cancel_payment(call: Call, key: CheckoutKey) -> Checkout:
    """Give up the payment that is open, to change something. If it turns out to be paid already, it stands."""
    async with call.services.db.sessions() as db:
        live = await latest_attempt(db, partner_of(call), key, live=True)
    if live is not None:
        try:
            await settle(call.services, live.id, patience=PATIENCE)
        except ProviderError as error:
            log.warning("a payment is given up without the provider's word", attempt=str(live.id), error=str(error))
        async with call.services.db.sessions() as db, db.begin():
            locked = await locked_attempt(db, live.id)
            if locked is not None and locked.state in LIVE:
                await abandon(db, locked)
    async with call.services.db.sessions() as db:
        return await (await desk_of(call, db, key)).view(call, db)

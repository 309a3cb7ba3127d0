"""Payment in the checkout: start, return, cancel and result."""

import datetime as dt
import uuid

import structlog
from sqlmodel import col, select

from resolvers.checkout.session import CheckoutSession, furthest_step
from resolvers.checkout.steps import load_session, partner_of
from resolvers.core.operation import Call, operation
from resolvers.core.services import Services
from resolvers.partner.selling import require_selling
from resolvers.payment.checkout.completion import (
    PAYIN,
    abandon,
    delete_ordered_cart,
    lock_known_attempt,
    next_check,
    read_attempt,
    sync_attempt,
)
from resolvers.payment.checkout.outcome import STATUS, outcome_of
from resolvers.payment.payins import PROVIDER_TIMEOUT, RECEIVED, PayinOrder, create_payin, statement_of
from schema.checkout.checkout import AgreedTotals, CheckoutKey, CheckoutNotice, CheckoutStep, StartedPayment
from schema.checkout.outcome import PaymentResult
from schema.checkout.view import Checkout
from schema.core.errors import CheckoutChanged, NotFound, ProviderFailed, ProviderTimedOut
from schema.core.permission import AccessRule
from schema.payment.errors import PaymentsNotActive
from schema.payment_method import BY_TOKEN, CardToken, PaymentMethod
from store.checkout.placement import add_commission, new_attempt
from store.checkout.reading import latest_attempt, lock_attempt, lock_checkout, session_digest
from store.checkout.reservations import lock_rows, reserve
from store.checkout.shops import CheckoutShop
from store.core.settings import Settings
from store.database.loaders import is_any_of
from store.database.transaction_reader import TransactionReader
from store.partner.partners import PartnerRow
from store.payment.attempts import LIVE, AttemptRow, AttemptState
from store.payment.recording import own_card_wallet_of
from store.providers.errors import InvalidRequest, NotAllowed, ProviderError
from store.providers.money import MinorAmount
from store.providers.transactions import Payer, Transaction

log = structlog.get_logger(__name__)


@operation(AccessRule.CUSTOMER, transaction=False)
async def start_payment(
    call: Call,
    key: CheckoutKey,
    agreed: AgreedTotals,
    language: str,
    return_base: str,
    method: PaymentMethod | None = None,
    token: CardToken | None = None,
) -> StartedPayment:
    """Start a payment of exactly the `agreed` totals, under the legal texts that the customer has seen. Pressing the button
    twice, or in two tabs, starts one payment; with another `method` it takes the place of the first. By default the method
    is the first that the checkout offers. A method in BY_TOKEN needs a `token`: it charges the card at once, unless its bank
    asks the customer first.

    The attempt is saved before the provider is called. The customer returns to `return_base` followed by the attempt's
    id.

    Raises CheckoutChanged if the amounts or legal texts differ from what the customer saw, or if something is no longer
    available, such as the method; PartnerInactive if the partner may not sell, unless the payment is already in progress;
    ProviderTimedOut, beside its other causes, while a token that was sent before may yet charge the card.
    """
    if (method in BY_TOKEN) != (token is not None):
        raise CheckoutChanged
    attempt = await _begin(call, key, agreed, language, method)
    if attempt.state is AttemptState.STARTING:
        if attempt.card_amount == 0:
            attempt = await sync_attempt(call.services, attempt.id)
        else:
            attempt = await _submit_payment(call.services, attempt, f"{return_base}{attempt.id}/", token)
    return StartedPayment(attempt.id, STATUS[attempt.state], attempt.redirect_url or None)


async def _begin(
    call: Call, key: CheckoutKey, agreed: AgreedTotals, language: str, method: PaymentMethod | None
) -> AttemptRow:
    """The attempt of this customer for exactly this checkout. Another one whose token may have charged the card is looked
    up before it is given up. Raises ProviderTimedOut if that does not settle it.
    """
    unsent = None
    for _ in range(2):
        attempt, is_in_the_way = await _begin_attempt(call, key, agreed, language, method, unsent)
        if not is_in_the_way:
            return attempt
        try:
            attempt = await sync_attempt(call.services, attempt.id, time_limit=PROVIDER_TIMEOUT)
        except ProviderError as error:
            log.warning("a payment by token could not be looked up", attempt=str(attempt.id), error=repr(error))
            raise ProviderTimedOut from error
        if not attempt.payin_id and call.services.clock.now() - attempt.created_on > RECEIVED:
            unsent = attempt.id
    raise ProviderTimedOut


async def _begin_attempt(
    call: Call,
    key: CheckoutKey,
    agreed: AgreedTotals,
    language: str,
    method: PaymentMethod | None,
    unsent: uuid.UUID | None,
) -> tuple[AttemptRow, bool]:
    """The live attempt, the ordered one, or a new one. True: it is another one, which has to be looked up first. `unsent` is
    one that the provider has not received.
    """
    async with call.services.db.sessions() as db, db.begin():
        await lock_checkout(db, key.cart_id, session_digest(key.session_id))
        reader = TransactionReader(call.services.db, db)
        session = await load_session(call, reader, key, ordered=True)
        if session.ordered_attempt is not None:
            return session.ordered_attempt, False
        pays_with = _method(session, call.services.settings, method)
        attempt = await _agreed_attempt(call, reader, session, agreed, language, pays_with)
        await add_commission(db, attempt)
        live = await latest_attempt(db, session.shop.partner_id, key, live=True, lock=True)
        now = call.services.clock.now()
        if live is not None:
            payable = live.link_expires_on is None or now < live.link_expires_on
            if live.fingerprint == attempt.fingerprint and payable:
                return live, False
            if live.id != unsent and _may_charge(live, now):
                return live, True
            await lock_rows(db, live, attempt)
            await abandon(db, live)
            await db.flush()
        if attempt.card_amount and not _takes_cards(session.shop, attempt):
            raise PaymentsNotActive
        attempt.created_on, attempt.check_on = now, next_check(attempt, now)
        db.add(attempt)
        await db.flush()
        await require_selling(call.services, db, attempt.partner_id, lock=True)
        await reserve(db, attempt, now)
        return attempt, False


async def _agreed_attempt(
    call: Call,
    db: TransactionReader,
    session: CheckoutSession,
    agreed: AgreedTotals,
    language: str,
    method: PaymentMethod,
) -> AttemptRow:
    """A new attempt of exactly what was agreed, not stored yet. Raises CheckoutChanged if it is not what there is now."""
    quote, buyer = await session.quote(call, db), session.customer.buyer
    if (
        CheckoutNotice.CART_REPLACED in session.edits.notices
        or furthest_step(session, quote) is not CheckoutStep.PAYMENT
    ):
        raise CheckoutChanged
    legal = session.shop.brand.order_documents
    if buyer is None or AgreedTotals.of(quote.totals, legal) != agreed:
        raise CheckoutChanged
    return new_attempt(session.shop.partner_id, session.key, session.source, quote, buyer, language, legal, method)


def _takes_cards(shop: CheckoutShop, attempt: AttemptRow) -> bool:
    """Whether every owner of what is paid by card can have it: the marketplace in its own wallet what the network sells, and
    the partner what is its own.
    """
    if not attempt.is_for_marketplace:
        return shop.takes_cards
    return shop.takes_cards_for_network and (shop.takes_cards or not attempt.partner_share_of(attempt.card_amount))


def _may_charge(attempt: AttemptRow, now: dt.datetime) -> bool:
    """Whether a live attempt may charge the card without the customer: its token is sent, and no bank asks."""
    asks = bool(attempt.redirect_url) and attempt.link_expires_on is not None and now < attempt.link_expires_on
    return attempt.payment_method in BY_TOKEN and attempt.card_amount > 0 and not asks


def _method(session: CheckoutSession, settings: Settings, chosen: PaymentMethod | None) -> PaymentMethod:
    """The method that the customer wants; by default the first that is offered. Raises CheckoutChanged if it is not."""
    offered = session.payment_methods(settings)
    if chosen is not None and chosen not in (*offered, *session.token_methods(settings)):
        raise CheckoutChanged
    return chosen or offered[0]


async def _submit_payment(
    services: Services, attempt: AttemptRow, return_url: str, token: CardToken | None
) -> AttemptRow:
    """Create the payment at the provider. The attempt survives any failure, and idempotency keys make each call take
    effect once.
    """
    payin = _create_payin(services, attempt, return_url, token)
    try:
        sent = await PAYIN.send(services, attempt, payin, time_limit=2 * PROVIDER_TIMEOUT)
    except (InvalidRequest, NotAllowed) as error:
        log.exception("the provider refused to start a payment", attempt=str(attempt.id), code=error.code)
        raise ProviderFailed from error
    except ProviderError as error:
        log.warning("a payment could not be started", attempt=str(attempt.id), error=repr(error))
        raise ProviderTimedOut from error
    if sent.state is AttemptState.ABANDONED:
        raise ProviderTimedOut
    await delete_ordered_cart(services, sent)
    return sent


async def _create_payin(
    services: Services, attempt: AttemptRow, return_url: str, token: CardToken | None
) -> Transaction:
    async with services.db.sessions() as db:
        partner = (await db.exec(select(PartnerRow).where(col(PartnerRow.id) == attempt.partner_id))).one()
        wallet_id: str | None = partner.provider_wallet_id
        if attempt.is_for_marketplace:
            own = await own_card_wallet_of(db, attempt.partner_id)
            wallet_id = own.provider_wallet_id if own else None
    if wallet_id is None:
        raise PaymentsNotActive
    buyer = attempt.buyer
    order = PayinOrder(
        reference=str(attempt.id),
        payer=Payer(buyer.first_name, buyer.last_name, buyer.email),
        wallet_id=wallet_id,
        amount=MinorAmount.of(attempt.card_amount, attempt.currency),
        fee=MinorAmount.of(attempt.commission_amount, attempt.currency),
        return_url=return_url,
        language=attempt.language,
        statement=statement_of(partner),
        method=attempt.payment_method,
        key=attempt.payin_key,
        sent_at=attempt.created_on,
        token=token,
    )
    return await create_payin(services, order, lambda db: lock_known_attempt(db, attempt.id))


@operation(AccessRule.CUSTOMER, transaction=False)
async def settle_payment(call: Call, session_id: str, attempt_id: uuid.UUID) -> PaymentResult:
    """The result of a payment, read from the provider now. Raises NotFound unless this browser started the payment."""
    attempt = await _find_own_attempt(call, attempt_id)
    try:
        attempt = await sync_attempt(call.services, attempt.id, time_limit=PROVIDER_TIMEOUT)
    except ProviderError as error:  # the page shows the payment as pending, and the worker checks again
        log.warning(
            "the status of a payment could not be read from the provider", attempt=str(attempt_id), error=str(error)
        )
        attempt = await read_attempt(call.services, attempt_id)
    if attempt.session_digest != session_digest(session_id):
        raise NotFound(thing="payment")
    return await outcome_of(call.services, attempt)


async def _find_own_attempt(call: Call, attempt_id: uuid.UUID) -> AttemptRow:
    attempt = await read_attempt(call.services, attempt_id)
    if attempt.partner_id != partner_of(call):
        raise NotFound(thing="payment")
    return attempt


@operation(AccessRule.CUSTOMER, transaction=False)
async def payment_outcome(call: Call, key: CheckoutKey) -> PaymentResult:
    """The result of this browser's last payment for a cart or basket. Raises NotFound if there is none."""
    async with call.services.db.sessions() as db:
        attempt = await latest_attempt(db, partner_of(call), key)
    if attempt is None:
        raise NotFound(thing="payment")
    return await outcome_of(call.services, attempt)


@operation(AccessRule.CUSTOMER, transaction=False)
async def is_ordered(call: Call, key: CheckoutKey) -> bool:
    """Whether a cart or basket has become an order, in whatever browser."""
    table = AttemptRow
    query = select(table.id).where(
        col(table.partner_id) == partner_of(call),
        is_any_of(col(table.kind), key.kind.contents),
        col(table.cart_id) == key.cart_id,
        col(table.state) == AttemptState.COMPLETED,
    )
    async with call.services.db.sessions() as db:
        return (await db.exec(query.limit(1))).first() is not None


@operation(AccessRule.CUSTOMER, transaction=False)
async def cancel_payment(call: Call, key: CheckoutKey) -> Checkout:
    """Cancel the open payment, so that the customer can change the order. A payment that is paid already stands."""
    async with call.services.db.sessions() as db:
        live = await latest_attempt(db, partner_of(call), key, live=True)
    if live is not None:
        try:
            await sync_attempt(call.services, live.id, time_limit=PROVIDER_TIMEOUT)
        except ProviderError as error:
            log.warning(
                "a payment was cancelled without its status from the provider", attempt=str(live.id), error=str(error)
            )
        async with call.services.db.sessions() as db, db.begin():
            locked = await lock_attempt(db, live.id)
            if locked is not None and locked.state in LIVE:
                await abandon(db, locked)
    return await (await load_session(call, call.services.db, key)).view(call, call.services.db)

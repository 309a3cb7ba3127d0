"""The page where a customer pays a payment or a payment request: its view, its button, and the way back.

The token in its link is the credential: whoever has the link may pay.
"""

import datetime as dt

import structlog
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.caller import Caller
from resolvers.core.context import Context
from resolvers.core.operation import Call, operation
from resolvers.partner.payment_methods import token_methods_for
from resolvers.partner.selling import require_selling
from resolvers.payment.opening import open_payment
from resolvers.payment.page.process import start_payin, sync_payin
from resolvers.payment.page.view import PaymentLink, find_link, last_payin, methods_of, view_page
from resolvers.payment.payins import PROVIDER_TIMEOUT
from resolvers.payment.requests.states import live_payment_of
from schema.core.errors import NotFound
from schema.core.permission import AccessRule
from schema.payment.errors import PaymentEnded
from schema.payment.page import PaymentPage
from schema.payment.payment import PaymentTransactionStatus
from schema.payment.request import PaymentRequestStatus
from schema.payment_method import CardToken, PaymentMethod
from store.customer import Person
from store.partner.partners import PartnerRow
from store.payment.payments import PAYABLE, PaymentRow
from store.payment.recording import add_sources
from store.payment.requests import PaymentRequestRow, lock_request
from store.providers.errors import ProviderError

log = structlog.get_logger(__name__)


async def customer_with_link(context: Context, token: str) -> Caller:
    """The caller for a link: a customer of its partner. Raises NotFound for an unknown link.

    Misses are not counted: a token has 192 random bits, and mail scanners that cut links would lock their office out.
    """

    async with context.services.db.sessions() as db:
        link = await find_link(db, token)
        if link is None:
            raise NotFound(thing="page")
        partner = await db.get_one(PartnerRow, link.owner.partner_id)
        return Caller.customer(partner.id, partner.marketplace_id)


async def _required(call: Call, db: AsyncSession, token: str) -> PaymentLink:
    link = await find_link(db, token)
    if link is None or link.owner.partner_id != call.caller.partner_id:
        raise NotFound(thing="page")
    return link


@operation(AccessRule.CUSTOMER)
async def payment_page(call: Call, token: str) -> PaymentPage:
    """The view of the page. Does not call the provider and changes nothing."""
    return await view_page(call, call.db, await _required(call, call.db, token))


@operation(AccessRule.CUSTOMER, transaction=False)
async def return_to_payment_page(call: Call, token: str) -> PaymentPage:
    """The view of the page after the way back from the provider: the open try is updated from the provider first."""
    sessions = call.services.db.sessions
    async with sessions() as db:
        link = await _required(call, db, token)
        payin = await last_payin(db, link.payment)
    if payin is not None and payin.status is PaymentTransactionStatus.IN_PROGRESS:
        try:
            await sync_payin(call.services, payin.id, time_limit=PROVIDER_TIMEOUT)
        except (
            ProviderError,
            TimeoutError,
        ) as error:  # the page shows the last known state, and the worker checks again
            log.warning("a payment could not be read from the provider", payin=payin.id, error=repr(error))
    async with sessions() as db:
        return await view_page(call, db, await _required(call, db, token))


@operation(AccessRule.CUSTOMER, transaction=False)
async def pay_by_link(
    call: Call,
    token: str,
    return_url: str,
    language: str,
    method: PaymentMethod | None = None,
    card: CardToken | None = None,
) -> str:
    """Begin to pay, or continue: the URL at the provider, empty if the outcome is known already.

    `language` is that of the page, and becomes that of a payment that has none. `method` is by default the first that the
    page offers; one that it does not offer is that too. A method in BY_TOKEN comes with the `card` that it charges at once;
    it is NotFound if the page does not offer it.
    Any number of presses, at once or one after the other, begin one try. Raises PaymentEnded, PaymentsNotActive,
    MarketplacePaymentsNotActive, PartnerInactive, ProviderFailed and ProviderTimedOut.
    """
    async with call.services.db.sessions() as db, db.begin():
        link = await _required(call, db, token)
        payment = link.payment if link.request is None else await _payment_of(call, db, link.request)
        if payment is None or payment.status not in PAYABLE:
            raise PaymentEnded
        payment.language = payment.language or language
        chosen = await _method(call, db, payment, method, card)
    payin = await start_payin(call.services, payment, return_url, chosen, card)
    payable = payin.link_expires_on is None or call.services.clock.now() < payin.link_expires_on
    return payin.redirect_url if payable and payin.status is PaymentTransactionStatus.IN_PROGRESS else ""


async def _method(
    call: Call, db: AsyncSession, payment: PaymentRow, chosen: PaymentMethod | None, card: CardToken | None
) -> PaymentMethod:
    if card is None:
        offered = await methods_of(call, db, payment)
        return chosen if chosen is not None and chosen in offered else offered[0]
    partner = await db.get_one(PartnerRow, payment.partner_id)
    if chosen is None or chosen not in token_methods_for(call.services.settings, partner.payment_methods):
        raise NotFound(thing="page")
    return chosen


async def _payment_of(call: Call, db: AsyncSession, request: PaymentRequestRow) -> PaymentRow:
    """The live payment of a request; a new one if there is none."""
    request, now = await lock_request(db, request.id), call.services.clock.now()
    if request.status is not PaymentRequestStatus.PENDING:
        raise PaymentEnded
    payment = await live_payment_of(db, request)
    if payment is not None:
        return payment
    if request.expires_on <= now:
        raise PaymentEnded
    await require_selling(call.services, db, request.partner_id, lock=True)
    return await _new_payment(db, request, now)


async def _new_payment(db: AsyncSession, request: PaymentRequestRow, now: dt.datetime) -> PaymentRow:
    payment = await open_payment(
        db,
        await db.get_one(PartnerRow, request.partner_id),
        Person(request.customer_first_name, request.customer_last_name, request.customer_email),
        card_amount=request.request_amount,
        now=now,
        payment_amount=request.request_amount,
        payment_request_id=request.id,
        is_for_marketplace=request.invoicing_marketplace_id is not None,
        product=request.product,
        origin=request.origin,
        description=request.description[:500],
        language=request.language,
        expires_on=request.expires_on,
        check_on=request.expires_on,
    )
    await add_sources(db, payment, {})
    return payment

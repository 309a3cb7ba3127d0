"""Creation of payments at the provider, for whatever is paid by them."""

import datetime as dt
import uuid
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import structlog
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.provider.process import ProviderCall, Recording, RefusedCall
from resolvers.core.services import Services
from schema.payment_method import CardToken, PaymentMethod
from store.customer import Person
from store.partner.partners import PartnerRow
from store.payment.payers import PayerRow, claim_payer, email_digest, forget_payer, lock_payer
from store.providers.errors import Declined, InvalidRequest, PayerRefused
from store.providers.keys import IdempotencyKey
from store.providers.money import MinorAmount
from store.providers.transactions import Payer, PayinRequest, Transaction

PROVIDER_TIMEOUT = dt.timedelta(seconds=10)
"""How long a customer waits for one call to the provider. A call that times out is treated like a lost response."""
SENDABLE = 2 * PROVIDER_TIMEOUT
"""For how long other presses may send a new pay-in by token too, as they begin it together."""
RECEIVED = SENDABLE + 2 * PROVIDER_TIMEOUT
"""When the provider has received a pay-in by token, if it ever will: the last call has ended."""

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True, kw_only=True)
class PayinOrder:
    """A payment to create. A row with its key must be stored, and committed, before."""

    reference: str
    payer: Payer
    wallet_id: str
    amount: MinorAmount
    fee: MinorAmount
    return_url: str
    language: str
    statement: str
    method: PaymentMethod
    key: uuid.UUID
    sent_at: dt.datetime
    """When the first key was stored."""
    token: CardToken | None = None
    """That of a method in BY_TOKEN."""


class PayinRow(Protocol):
    """A row with the key of its pay-in."""

    payin_key: uuid.UUID


LockRow: TypeAlias = Callable[[AsyncSession], Awaitable[PayinRow]]
"""Locks and reloads the row of an order."""


async def create_payin(services: Services, order: PayinOrder, lock_row: LockRow) -> Transaction:
    """Create a payment; a declined one is returned too. Repeating the call with the stored key is safe.

    The payer is the one that the provider has for this e-mail address. If the provider refuses that payer, because it
    is closed or unknown, another one is created, once, and the row gets another key, since the refusal has used up its
    own. Raises ProviderError.
    """
    payer = await _payer_of(services, order.payer)
    try:
        return await _submit(services, order, payer)
    except InvalidRequest as refused:
        async with services.db.sessions() as db, db.begin():
            row = await lock_row(db)
            if row.payin_key == order.key:  # otherwise a request at the same time has replaced the payer already
                if not isinstance(refused, PayerRefused):
                    raise
                log.warning("the provider refused a payer", payer=payer.provider_id, code=refused.code)
                await _replace_payer(Recording(services, db), payer)
                row.payin_key = uuid.uuid4()
            key = row.payin_key
    return await _submit(services, replace(order, key=key), await _payer_of(services, order.payer))


def statement_of(partner: PartnerRow) -> str:
    """What the buyer reads on the bank statement: the name of the shop. The provider shortens it."""
    return partner.short_name or partner.commercial_name


async def _submit(services: Services, order: PayinOrder, payer: PayerRow) -> Transaction:
    request = PayinRequest(
        reference=order.reference,
        payer_id=payer.provider_id,
        wallet_id=order.wallet_id,
        amount=order.amount,
        fee=order.fee,
        return_url=order.return_url,
        language=order.language,
        statement=order.statement,
        method=order.method,
        token=order.token,
    )
    try:
        return await services.provider.create_payment(
            request, key=IdempotencyKey(str(order.key)), sent_at=order.sent_at
        )
    except Declined as declined:
        return declined.transaction


async def _payer_of(services: Services, person: Payer) -> PayerRow:
    """The payer of a person's address, created at the provider by the first payment with this address."""
    settings = services.settings
    digest = email_digest(settings.secret, Person(email=person.email).normal_email)
    async with services.db.sessions() as db, db.begin():
        payer = await claim_payer(db, settings.provider_account, digest, services.clock.now())
    if payer.provider_id:
        return payer
    key = IdempotencyKey(str(payer.key))
    created = services.provider.create_payer(person, str(payer.id), key=key, sent_at=payer.sent_at)
    return await PAYER.send(services, payer, created)


async def _replace_payer(tx: Recording, refused: PayerRow) -> None:
    payer = await lock_payer(tx.db, refused)
    if payer.provider_id == refused.provider_id:
        forget_payer(payer, tx.now)


async def _record_payer(_: Recording, payer: PayerRow, provider_id: str) -> PayerRow:
    payer.provider_id = payer.provider_id or provider_id
    return payer


async def _record_refused(tx: Recording, payer: PayerRow, refused: RefusedCall[PayerRow]) -> None:
    if payer.key == refused.row.key and not payer.provider_id:
        forget_payer(payer, tx.now)


PAYER = ProviderCall(lock=lock_payer, record=_record_payer, refuse=_record_refused)

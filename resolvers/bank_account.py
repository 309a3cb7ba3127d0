"""Bank accounts at the payment provider: one for each IBAN that a partner has had, confirmed by its representative."""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation.steps import barred
from resolvers.core.context import Services
from resolvers.core.input_mapping import partner_if_named
from resolvers.core.listing import Listing, OfPartner, Where
from resolvers.core.operation import Call, operation
from resolvers.core.provider_calls import REFUSALS, asking
from resolvers.core.scoping import find
from schema.bank_account import PAYEE_CHECK_LENGTH, BankAccountStatus, RegisterBankAccount, RegisteredBankAccount
from schema.core.errors import ActivationRequired, BankAccountRefused, IbanMissing, OnlyInSandbox, PaymentsNotActive
from schema.core.permission import Permission
from schema.core.resource import ClosedSet, closed_set, writable_as
from schema.onboarding import Requirement, RequirementCode
from store.activation.account_requests import is_person, missing, request_of
from store.bank_account import BankAccountRow, bank_accounts_of, locked_account
from store.job.jobs import Again, Job, enqueue
from store.kyc import KEYS_GOOD_FOR, kyc_of
from store.onboarding.return_paths import return_url
from store.partner.partners import MarketplaceRow, PartnerRow
from store.providers.accounts import Destination, DestinationRequest, DestinationStatus
from store.providers.base import InvalidRequest, Key

STATUSES = {
    DestinationStatus.PENDING: BankAccountStatus.PENDING,
    DestinationStatus.ACTIVE: BankAccountStatus.ACTIVE,
    DestinationStatus.CANCELLED: BankAccountStatus.CANCELLED,
    DestinationStatus.DEACTIVATED: BankAccountStatus.DEACTIVATED,
    DestinationStatus.UNKNOWN: BankAccountStatus.UNKNOWN,
}
COMES_AFTER = {
    BankAccountStatus.CREATED: 0,
    BankAccountStatus.UNKNOWN: 1,
    BankAccountStatus.PENDING: 1,
    BankAccountStatus.ACTIVE: 2,
    BankAccountStatus.CANCELLED: 2,
    BankAccountStatus.DEACTIVATED: 3,
}
"""A status never goes back: what was asked earlier and answered later is old."""
WATCHED = (BankAccountStatus.PENDING, BankAccountStatus.UNKNOWN, BankAccountStatus.ACTIVE)
MISMATCHES = frozenset({"NO_MATCH"})
"""What is said of the holder's name when it is another; of a name that is nearly the same nobody has to do anything."""
IBAN_FIELD = "bankAccount.iban"
LINK_OVER = dt.timedelta(minutes=11)
"""When the provider has given up waiting for the representative."""
LOOK_AGAIN = dt.timedelta(hours=1)
WAITED_FOR = dt.timedelta(days=1)


@closed_set
class BankAccountSort(ClosedSet):
    """How to order registered bank accounts."""

    NEWEST = "-id", "The newest first."


@writable_as(RegisteredBankAccount)
class BankAccountFilter(OfPartner):
    """Which registered bank accounts."""

    status: Annotated[BankAccountStatus | None, Where("status")] = None
    partner_id: Annotated[int | None, Where("partner_id")] = Field(
        default=None, description="Those of the partner with this id."
    )


registered_bank_accounts = Listing(
    RegisteredBankAccount,
    BankAccountFilter,
    BankAccountSort,
    Permission.VIEW_PARTNER,
    "The bank accounts of the partners you see, as the payment provider knows them, those of former accounts too; the "
    "newest first.",
)


@operation(Permission.UPDATE_PARTNER, transaction=False, exists=partner_if_named)
async def register_bank_account(call: Call, input: RegisterBankAccount) -> RegisteredBankAccount:
    """Have the payment provider know the IBAN of a partner, so that money can be sent to it.

    The representative confirms it at `redirectUrl`. What is registered already is answered as it stands; what was not
    confirmed in time is registered anew. The one before it stays in use until the new one is active.
    """
    async with call.services.db.sessions() as db:
        partner = await find(db, call.caller, PartnerRow, "partner", uuid=input.partner_uuid)
    async with asking("a bank account", partner_id=partner.id):
        row = await registered(call.services, partner)
    async with call.services.db.sessions() as db, db.begin():
        row = await db.get_one(BankAccountRow, row.id)
        call.concerns(row)
        await call.keep(db, row)
    return row


# ---- registering


async def registered(services: Services, partner: PartnerRow) -> BankAccountRow:
    """The bank account of a partner as it stands, registered where nothing stands. Raises `Conflict` where it cannot be."""
    _check(services, partner)
    async with services.db.sessions() as db:
        row = _latest(await bank_accounts_of(db, partner), partner.iban)
    if row is not None and row.status in WATCHED and not _stands(row, services.clock.now()):
        row = await _ask(services, row)
    if row is not None and _stands(row, services.clock.now()):
        return row
    row = await _begin(services, partner)
    if row.status is not BankAccountStatus.CREATED:
        return row
    try:
        destination = await services.provider.add_destination(
            await _request(services, partner, row),
            return_url=return_url(services.settings, row.path),
            key=Key(str(row.key)),
            sent_at=row.created_on,
        )
    except REFUSALS as error:
        await _cancel(services, row)
        if isinstance(error, InvalidRequest):
            raise BankAccountRefused(reason=" ".join([str(error), *error.fields.values()])) from error
        raise
    return await _note(services, row.id, destination)


def _check(services: Services, partner: PartnerRow) -> None:
    if not partner.provider_user_id:
        raise ActivationRequired
    if not partner.payments_active:
        raise PaymentsNotActive
    if barred(services, partner):
        raise OnlyInSandbox
    if not partner.iban:
        raise IbanMissing
    if lacks := missing(partner):
        raise BankAccountRefused(reason=f"it needs {', '.join(lacks)}.")


def _latest(rows: Sequence[BankAccountRow], iban: str) -> BankAccountRow | None:
    return next((row for row in rows if row.iban == iban), None)


def _stands(row: BankAccountRow, now: dt.datetime) -> bool:
    """Whether there is nothing to register: it is active, or can still be confirmed."""
    if row.status is BankAccountStatus.PENDING:
        return row.redirect_expires_on is not None and now < row.redirect_expires_on
    return row.status is BankAccountStatus.ACTIVE


async def _begin(services: Services, partner: PartnerRow) -> BankAccountRow:
    """The row whose answer is awaited, with its key; of several who ask at once the first writes it."""
    now = services.clock.now()
    async with services.db.sessions() as db, db.begin():
        await kyc_of(db, partner.id, lock=True)
        row = _latest(await bank_accounts_of(db, partner), partner.iban)
        if row is not None and row.status is BankAccountStatus.CREATED and now - row.created_on >= KEYS_GOOD_FOR:
            row.status = (
                BankAccountStatus.CANCELLED
            )  # nobody can say any more what became of it, and nobody was sent there
            await db.flush()
        if row is not None and (row.status is BankAccountStatus.CREATED or _stands(row, now)):
            return row
        row = BankAccountRow(
            partner_id=partner.id,
            account_id=partner.provider_user_id,
            iban=partner.iban,
            iban_end=partner.iban[-4:],
            holder=request_of(partner, "").name,
            created_on=now,
        )
        db.add(row)
        await db.flush()
        await enqueue(db, Job.CHECK_BANK_ACCOUNTS, {"partner_id": partner.id}, after=LINK_OVER)
        return row


async def _request(services: Services, partner: PartnerRow, row: BankAccountRow) -> DestinationRequest:
    async with services.db.sessions() as db:
        marketplace = await db.get_one(MarketplaceRow, partner.marketplace_id)
    holder = request_of(partner, "")
    return DestinationRequest(
        account_id=partner.provider_user_id,
        holder=row.holder,
        holder_is_business=not is_person(partner.company_type),
        address=holder.headquarters,
        iban=row.iban,
        currency=marketplace.currency,
        label=f"{partner.short_name} {row.iban_end}",
        first_name=holder.representative.first_name,
        last_name=holder.representative.last_name,
    )


async def _cancel(services: Services, row: BankAccountRow) -> None:
    async with services.db.sessions() as db, db.begin():
        locked = await locked_account(db, row.id)
        if locked.status is BankAccountStatus.CREATED:
            locked.status = BankAccountStatus.CANCELLED


# ---- what became of it


async def _ask(services: Services, row: BankAccountRow) -> BankAccountRow:
    return await _note(services, row.id, await services.provider.get_destination(row.provider_id))


async def _note(services: Services, row_id: int, destination: Destination) -> BankAccountRow:
    """Write down what the provider says. A bank account that becomes active takes the place of those before it."""
    async with services.db.sessions() as db, db.begin():
        row = await locked_account(db, row_id)
        status = STATUSES[destination.status]
        if COMES_AFTER[status] < COMES_AFTER[row.status]:
            return row
        if status is BankAccountStatus.ACTIVE and row.status is not status:
            await enqueue(db, Job.CHECK_BANK_ACCOUNTS, {"partner_id": row.partner_id})
        row.status, row.provider_id = status, destination.id
        row.payee_check = destination.payee_check[:PAYEE_CHECK_LENGTH] or row.payee_check
        if destination.action is not None:
            row.redirect_url, row.redirect_expires_on = destination.action.url, destination.action.expires_at
        if status is not BankAccountStatus.PENDING:
            row.redirect_url = row.redirect_expires_on = None
        return row


async def check_bank_accounts(services: Services, partner_id: int) -> bool:
    """Ask the provider about a partner's bank accounts, and have it deactivate all active ones but one: the newest with the
    IBAN that the partner has now, else the newest.

    Answers whether one is still waited for. Raises `ProviderError`.
    """
    async with services.db.sessions() as db:
        partner = await db.get(PartnerRow, partner_id)
        rows = [] if partner is None or barred(services, partner) else await bank_accounts_of(db, partner)
    asked = [await _ask(services, row) for row in rows if row.provider_id and row.status in WATCHED]
    active = [row for row in asked if row.status is BankAccountStatus.ACTIVE]
    used = next((row for row in active if partner is not None and row.iban == partner.iban), next(iter(active), None))
    for row in active:
        if row is not used:
            await _note(services, row.id, await services.provider.deactivate_destination(row.provider_id))
    recent = services.clock.now() - WAITED_FOR
    return any(row.status is not BankAccountStatus.ACTIVE and row.created_on > recent for row in asked if _is_open(row))


def _is_open(row: BankAccountRow) -> bool:
    return row.status in {BankAccountStatus.PENDING, BankAccountStatus.UNKNOWN}


async def watch_bank_accounts(services: Services, partner_id: int) -> None:
    """The job: looks until nothing is waited for, for a day at most."""
    if await check_bank_accounts(services, partner_id):
        raise Again(LOOK_AGAIN)


async def follow_bank_account(services: Services, id: str) -> None:
    """The provider says that a bank account has changed."""
    async with services.db.sessions() as db:
        found = (await db.exec(select(BankAccountRow).where(col(BankAccountRow.provider_id) == id))).one_or_none()
    if found is not None:
        await check_bank_accounts(services, found.partner_id)


# ---- what is needed


async def bank_requirements_of(db: AsyncSession, partner: PartnerRow) -> list[Requirement]:
    """What is needed before a partner can be paid out to the IBAN it has."""
    return bank_requirements(partner, await bank_accounts_of(db, partner))


def bank_requirements(partner: PartnerRow, rows: Sequence[BankAccountRow]) -> list[Requirement]:
    """The same, of rows, the newest first."""
    if not partner.payments_active:
        return []
    if not partner.iban:
        return [Requirement(code=RequirementCode.BANK_ACCOUNT_MISSING, field=IBAN_FIELD, action="updatePartner")]
    row = _latest(rows, partner.iban)
    if row is None or row.status not in {BankAccountStatus.ACTIVE, BankAccountStatus.PENDING}:
        code = RequirementCode.BANK_ACCOUNT_AUTHENTICATION if rows else RequirementCode.BANK_ACCOUNT_MISSING
        return [Requirement(code=code, action="registerBankAccount")]
    return [*_confirmation(row), *_payee(row)]


def _confirmation(row: BankAccountRow) -> Iterator[Requirement]:
    if row.status is BankAccountStatus.PENDING:
        code, action = RequirementCode.BANK_ACCOUNT_AUTHENTICATION, row.redirect_url or "registerBankAccount"
        yield Requirement(code=code, action=action, deadline=row.redirect_expires_on)


def _payee(row: BankAccountRow) -> Iterator[Requirement]:
    if row.payee_check in MISMATCHES:
        yield Requirement(code=RequirementCode.PAYEE_MISMATCH, field=IBAN_FIELD, action="updatePartner")

"""Bank accounts registered at the payment provider: one for each IBAN of a partner, confirmed by its legal
representative.
"""

import datetime as dt
from collections.abc import Iterator, Sequence
from typing import Annotated

from pydantic import Field
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation.steps import requires_sandbox
from resolvers.core.input_mapping import check_partner_uuid
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.provider.calls import calling_provider
from resolvers.core.provider.process import ProviderCall, Recording, RefusedCall
from resolvers.core.scoping import find_visible
from resolvers.core.services import Services
from schema.bank_account import PAYEE_CHECK_LENGTH, BankAccountStatus, RegisterBankAccount, RegisteredBankAccount
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import ActivationRequired, BankAccountRefused, IbanMissing, OnlyInSandbox
from schema.core.inputs import graphql_input_for
from schema.core.permission import Permission
from schema.kyc.capability import Requirement, RequirementCode
from schema.payment.errors import PaymentsNotActive
from store.activation.account_requests import account_request_of, is_person, missing_fields
from store.bank_account import TRANSITIONS, BankAccountRow, bank_accounts_of, lock_account
from store.core.provider_process import KEY_LIFE
from store.core.retries import RunAgain
from store.core.return_paths import provider_return_url
from store.job.jobs import JobKind, enqueue_job
from store.kyc import get_or_create_kyc
from store.partner.partners import MarketplaceRow, PartnerRow
from store.providers.accounts import Destination, DestinationRequest, DestinationStatus
from store.providers.errors import InvalidRequest
from store.providers.keys import IdempotencyKey

STATUSES = {
    DestinationStatus.PENDING: BankAccountStatus.PENDING,
    DestinationStatus.ACTIVE: BankAccountStatus.ACTIVE,
    DestinationStatus.CANCELLED: BankAccountStatus.CANCELLED,
    DestinationStatus.DEACTIVATED: BankAccountStatus.DEACTIVATED,
    DestinationStatus.UNKNOWN: BankAccountStatus.UNKNOWN,
}
POLLED_STATUSES = (BankAccountStatus.PENDING, BankAccountStatus.UNKNOWN, BankAccountStatus.ACTIVE)
MISMATCHES = frozenset({"NO_MATCH"})
"""Results of the payee check that mean a different holder name. A close match needs no action."""
IBAN_FIELD = "bankAccount.iban"
LINK_EXPIRES_AFTER = dt.timedelta(minutes=11)
"""Safely after the provider has stopped waiting for the representative."""
POLL_INTERVAL = dt.timedelta(hours=1)
MAX_POLL_TIME = dt.timedelta(days=1)


@graphql_enum
class BankAccountSort(DescribedEnum):
    """Sort order of registered bank accounts."""

    NEWEST = "-id", "The newest first."


@graphql_input_for(RegisteredBankAccount)
class BankAccountFilter(OfPartner):
    """Filter for registered bank accounts."""

    status: Annotated[BankAccountStatus | None, Where("status")] = None
    partner_id: Annotated[int | None, Where("partner_id")] = Field(
        default=None, description="Only bank accounts of the partner with this id."
    )


registered_bank_accounts = Listing(
    RegisteredBankAccount,
    BankAccountFilter,
    BankAccountSort,
    Permission.VIEW_PARTNER,
    "The bank accounts visible to you, as registered at the payment provider, including those of former provider "
    "accounts. Newest first.",
)
registered_bank_account = Lookup(
    RegisteredBankAccount, "id", "bank account", Permission.VIEW_PARTNER, "A registered bank account by its id."
)


@operation(Permission.UPDATE_PARTNER, transaction=False, exists=check_partner_uuid)
async def register_bank_account(call: Call, input: RegisterBankAccount) -> RegisteredBankAccount:
    """Register the IBAN of a partner at the payment provider, so that it can receive payouts.

    The legal representative confirms it at `redirectUrl`. If the IBAN is active or can still be confirmed, the existing
    bank account is returned. If it was not confirmed in time, it is registered again. The previous bank account stays
    in use until the new one is active.
    """
    async with call.services.db.sessions() as db:
        partner = await find_visible(db, call.caller, PartnerRow, "partner", uuid=input.partner_uuid)
    async with calling_provider("registering a bank account", partner_id=partner.id):
        row = await ensure_registered(call.services, partner)
    async with call.services.db.sessions() as db, db.begin():
        row = await db.get_one(BankAccountRow, row.id)
        call.add_audit_subject(row)
        await call.store_response(db, row)
    return row


# ---- registration


async def ensure_registered(services: Services, partner: PartnerRow) -> BankAccountRow:
    """The current bank account of a partner; registers the IBAN if there is none. Raises `Conflict` if it cannot be
    registered.
    """
    _check_registrable(services, partner)
    async with services.db.sessions() as db:
        row = _latest(await bank_accounts_of(db, partner), partner.iban)
    if row is not None and row.status in POLLED_STATUSES and not _is_current(row, services.clock.now()):
        row = await _refresh(services, row)
    if row is not None and _is_current(row, services.clock.now()):
        return row
    row = await _begin_registration(services, partner)
    if row.status is not BankAccountStatus.CREATED:
        return row
    try:
        return await REGISTRATION.send(services, row, _add_destination(services, partner, row))
    except InvalidRequest as error:
        raise BankAccountRefused(reason=" ".join([str(error), *error.fields.values()])) from error


def _check_registrable(services: Services, partner: PartnerRow) -> None:
    if not partner.provider_user_id:
        raise ActivationRequired
    if not partner.payments_active:
        raise PaymentsNotActive
    if requires_sandbox(services, partner):
        raise OnlyInSandbox
    if not partner.iban:
        raise IbanMissing
    if lacks := missing_fields(partner):
        raise BankAccountRefused(reason=f"it needs {', '.join(lacks)}.")


def _latest(rows: Sequence[BankAccountRow], iban: str) -> BankAccountRow | None:
    return next((row for row in rows if row.iban == iban), None)


def _is_current(row: BankAccountRow, now: dt.datetime) -> bool:
    """True if it is active or can still be confirmed, so that no new registration is needed."""
    if row.status is BankAccountStatus.PENDING:
        return row.redirect_expires_on is not None and now < row.redirect_expires_on
    return row.status is BankAccountStatus.ACTIVE


async def _begin_registration(services: Services, partner: PartnerRow) -> BankAccountRow:
    """The row of the pending registration, with its idempotency key. Concurrent calls share the first row."""
    now = services.clock.now()
    async with services.db.sessions() as db, db.begin():
        await get_or_create_kyc(db, partner.id, lock=True)
        row = _latest(await bank_accounts_of(db, partner), partner.iban)
        if row is not None and row.status is BankAccountStatus.CREATED and now - row.created_on >= KEY_LIFE:
            # The idempotency key has expired, so the outcome cannot be determined; nobody was redirected there.
            row.status = TRANSITIONS.require(row.status, BankAccountStatus.CANCELLED)
            await db.flush()
        if row is not None and (row.status is BankAccountStatus.CREATED or _is_current(row, now)):
            return row
        row = BankAccountRow(
            partner_id=partner.id,
            account_id=partner.provider_user_id,
            iban=partner.iban,
            iban_end=partner.iban[-4:],
            holder=account_request_of(partner, "").name,
            created_on=now,
        )
        db.add(row)
        await db.flush()
        await enqueue_job(db, JobKind.CHECK_BANK_ACCOUNTS, {"partner_id": partner.id}, after=LINK_EXPIRES_AFTER)
        return row


async def _add_destination(services: Services, partner: PartnerRow, row: BankAccountRow) -> Destination:
    return await services.provider.add_destination(
        await _request(services, partner, row),
        return_url=provider_return_url(services.settings, row.path),
        key=IdempotencyKey(str(row.key)),
        sent_at=row.created_on,
    )


async def _request(services: Services, partner: PartnerRow, row: BankAccountRow) -> DestinationRequest:
    async with services.db.sessions() as db:
        marketplace = await db.get_one(MarketplaceRow, partner.marketplace_id)
    holder = account_request_of(partner, "")
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


async def _cancel(_: Recording, row: BankAccountRow, _refused: RefusedCall[BankAccountRow]) -> None:
    if row.status is BankAccountStatus.CREATED:
        row.status = TRANSITIONS.require(row.status, BankAccountStatus.CANCELLED)


# ---- status updates


async def _refresh(services: Services, row: BankAccountRow) -> BankAccountRow:
    return await REGISTRATION.look_up(services, row, services.provider.get_destination(row.provider_id))


async def _record_destination(tx: Recording, row: BankAccountRow, destination: Destination) -> BankAccountRow:
    """Record the provider's state. When a bank account becomes active, a job deactivates the previous ones."""
    status = STATUSES[destination.status]
    if status is not row.status and not TRANSITIONS.allows(row.status, status):
        return row
    if status is BankAccountStatus.ACTIVE and row.status is not status:
        await enqueue_job(tx.db, JobKind.CHECK_BANK_ACCOUNTS, {"partner_id": row.partner_id})
    row.status, row.provider_id = status, destination.id
    row.payee_check = destination.payee_check[:PAYEE_CHECK_LENGTH] or row.payee_check
    if destination.action is not None:
        row.redirect_url, row.redirect_expires_on = destination.action.url, destination.action.expires_at
    if status is not BankAccountStatus.PENDING:
        row.redirect_url = row.redirect_expires_on = None
    return row


REGISTRATION = ProviderCall(lock=lock_account, record=_record_destination, refuse=_cancel)


async def check_bank_accounts(services: Services, partner_id: int) -> bool:
    """Read the bank accounts of a partner from the provider, and deactivate all active ones but one: the newest with
    the partner's current IBAN, else the newest.

    Returns True if one is still pending. Raises `ProviderError`.
    """
    async with services.db.sessions() as db:
        partner = await db.get(PartnerRow, partner_id)
        rows = [] if partner is None or requires_sandbox(services, partner) else await bank_accounts_of(db, partner)
    asked = [await _refresh(services, row) for row in rows if row.provider_id and row.status in POLLED_STATUSES]
    active = [row for row in asked if row.status is BankAccountStatus.ACTIVE]
    used = next((row for row in active if partner is not None and row.iban == partner.iban), next(iter(active), None))
    for row in active:
        if row is not used:
            await REGISTRATION.look_up(services, row, services.provider.deactivate_destination(row.provider_id))
    recent = services.clock.now() - MAX_POLL_TIME
    return any(row.status is not BankAccountStatus.ACTIVE and row.created_on > recent for row in asked if _is_open(row))


def _is_open(row: BankAccountRow) -> bool:
    return row.status in {BankAccountStatus.PENDING, BankAccountStatus.UNKNOWN}


async def poll_bank_accounts(services: Services, partner_id: int) -> None:
    """Job: check the bank accounts, and repeat while one is pending, for at most a day."""
    if await check_bank_accounts(services, partner_id):
        raise RunAgain(POLL_INTERVAL)


async def handle_notification(services: Services, id: str) -> None:
    """Handle a provider notification about a bank account."""
    async with services.db.sessions() as db:
        row = (await db.exec(select(BankAccountRow).where(col(BankAccountRow.provider_id) == id))).one_or_none()
    if row is not None:
        await check_bank_accounts(services, row.partner_id)


# ---- requirements


async def bank_requirements_of(db: AsyncSession, partner: PartnerRow) -> list[Requirement]:
    """The requirements for payouts to the partner's current IBAN."""
    return bank_requirements(partner, await bank_accounts_of(db, partner))


def bank_requirements(partner: PartnerRow, rows: Sequence[BankAccountRow]) -> list[Requirement]:
    """Like `bank_requirements_of`, for rows sorted newest first."""
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

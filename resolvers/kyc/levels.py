"""The KYC state of partners: read from the provider, stored, and one event for each change."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation.steps import requires_sandbox
from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.operation import Call, operation
from resolvers.core.provider.calls import PROVIDER_ERRORS, calling_provider
from resolvers.core.provider.process import ProviderChecks
from resolvers.core.scoping import find_visible
from resolvers.core.services import Services
from resolvers.kyc.capability import load_onboarding_rows
from resolvers.kyc.changes import ProviderKyc, save_kyc
from resolvers.kyc.renewal import remind
from resolvers.kyc.view import KycRows, kyc_summary
from schema.core.errors import ProviderFailed, ProviderTimedOut
from schema.core.permission import Permission
from schema.kyc.kyc import Kyc, KycCheckStatus
from schema.partner.partner import Partner
from store.job.jobs import JobKind
from store.kyc import (
    HAS_ACCOUNT,
    RETRY_INTERVAL,
    IdentityCheckRow,
    KycDocumentRow,
    PartnerKycRow,
    add_unchecked_partners,
    documents_of,
    get_or_create_kyc,
    identity_checks_of,
    partner_of_owner,
)
from store.partner.partners import PartnerRow
from store.providers.accounts import IdentityCheck, OwnerCheckStatus
from store.providers.base import Subject
from store.providers.errors import ProviderNotFound as UnknownToProvider

MAX_AGE = dt.timedelta(minutes=1)
"""Maximum age of the stored state for a query; notifications usually keep it fresher."""
PROVIDER_TIMEOUT = dt.timedelta(seconds=10)
SWEEP_BATCH = 40
"""Partners per sweep, every five minutes. At about five calls each this is a quarter of the 2,300 calls that the provider
allows per 15 minutes, on the account that customers also pay through; ten thousand partners take less than a day.
"""


@operation(Permission.VIEW_PARTNER, transaction=False, raises=PROVIDER_ERRORS)
async def kyc_level(call: Call, partner_uuid: UUID) -> Kyc:
    """The KYC state of a partner, read from the payment provider unless it was read within the last minute.

    If the provider is unavailable, the last known state is returned, and `detail` says so.
    """
    async with call.services.db.sessions() as db:
        partner = await find_visible(db, call.caller, PartnerRow, "partner", uuid=partner_uuid)
        rows = await kyc_rows(db, partner)
    checked_on = None if rows.current is None else rows.current.checked_on
    if not partner.provider_user_id or (checked_on is not None and call.services.clock.now() - checked_on < MAX_AGE):
        return kyc_summary(rows)
    try:
        async with calling_provider("reading the KYC level", partner_id=partner.id, time_limit=PROVIDER_TIMEOUT):
            await refresh_kyc(call.services, partner.id)
    except (ProviderFailed, ProviderTimedOut):
        if checked_on is None:
            raise
        return kyc_summary(rows, f"The provider could not be asked now: this is of {checked_on:%Y-%m-%d %H:%M} UTC.")
    async with call.services.db.sessions() as db:
        return kyc_summary(await kyc_rows(db, partner))


@computes(Partner, "kyc")
async def kyc_of_partners(context: Context, ids: Sequence[int]) -> Mapping[int, Kyc]:
    """The stored KYC state of partners. The provider is not called."""
    async with context.db.read_sessions() as db:
        rows_by_partner = await load_onboarding_rows(db, ids)
    return {id: kyc_summary(KycRows(s.partner, s.kyc, s.documents, s.checks)) for id, s in rows_by_partner.items()}


async def kyc_rows(db: AsyncSession, partner: PartnerRow) -> KycRows:
    kyc = await db.get(PartnerKycRow, partner.id)
    return KycRows(partner, kyc, await documents_of(db, partner), await identity_checks_of(db, partner))


# ---- reading from the provider


@dataclass(frozen=True)
class _KnownVersion:
    """The account and the version of the stored state before the provider was called."""

    account_id: str
    version: int


async def refresh_kyc(services: Services, partner_id: int) -> None:
    """Read the KYC state from the provider, save it, and emit an event for changes.

    If another process saved in the meantime, the state that was read may be older: it is discarded and read once more.
    If that happens twice, the other process read after this call began, so its state is recent enough. Raises
    `ProviderError`.
    """
    for _ in range(2):
        before = await _known_version(services, partner_id)
        if before is None:
            return
        fetched = await _fetch_kyc(services, before.account_id)
        async with services.db.sessions() as db, db.begin():
            kyc = await get_or_create_kyc(db, partner_id, lock=True)
            if kyc.version == before.version:
                partner = await db.get_one(PartnerRow, partner_id)
                if partner.provider_user_id == before.account_id:
                    await save_kyc(db, await kyc_rows(db, partner), fetched, services.clock.now())
                    await remind(services, db, partner, kyc)
                return


async def _known_version(services: Services, partner_id: int) -> _KnownVersion | None:
    """The stored version; None if the partner has no provider account or must not be sent to the provider."""
    async with services.db.sessions() as db, db.begin():
        partner = await db.get(PartnerRow, partner_id)
        if partner is None or not partner.provider_user_id or requires_sandbox(services, partner):
            return None
        kyc = await get_or_create_kyc(db, partner_id)
        return _KnownVersion(partner.provider_user_id, kyc.version)


async def _fetch_kyc(services: Services, account_id: str) -> ProviderKyc:
    provider = services.provider
    documents = await provider.list_documents(account_id)
    checks = await provider.list_identity_checks(account_id)
    blocks = await provider.get_blocks(account_id)
    account = await provider.get_account(account_id)  # last: the level depends on the documents and checks
    return ProviderKyc(account_id, account.kyc_level, documents, checks, blocks.renew_by)


async def check_kyc(services: Services, partner_id: int) -> None:
    """Read the KYC state, and open another session for each owner whose session was refused or has run out, so that
    there is always a page to go to. Raises `ProviderError`.
    """
    await refresh_kyc(services, partner_id)
    async with services.db.sessions() as db:
        partner = await db.get_one(PartnerRow, partner_id)
        checks = [row for row in await identity_checks_of(db, partner) if row.status is KycCheckStatus.VALIDATED]
    rejected = [
        (check, owner) for check in checks[:1] for owner in check.owners if owner.status is OwnerCheckStatus.REJECTED
    ]
    for check, owner in rejected:
        await services.provider.retry_owner_check(check.provider_id, owner.id)
    if rejected:
        await refresh_kyc(services, partner_id)


# ---- triggers


async def handle_kyc_notification(services: Services, subject: Subject, id: str) -> None:
    """Handle a notification about an account, a document, an identity check or that of an owner: read the KYC state
    unless the change is known already.
    """
    try:
        partner_id = await _changed_partner(services, subject, id)
    except UnknownToProvider:
        return
    if partner_id is not None:
        await check_kyc(services, partner_id)


async def _changed_partner(services: Services, subject: Subject, id: str) -> int | None:
    """The partner of a notification, if the provider's state differs from the stored one; else None."""
    provider = services.provider
    if subject is Subject.ACCOUNT:
        partner_id = await _partner_of(services, id)
        if partner_id is None:
            return None
        account, blocks = await provider.get_account(id), await provider.get_blocks(id)
        async with services.db.sessions() as db:
            kyc = await db.get(PartnerKycRow, partner_id)
        same = kyc is not None and (kyc.level, kyc.renew_by) == (account.kyc_level, blocks.renew_by)
        return None if same and kyc is not None and kyc.account_id == id else partner_id
    if subject is Subject.OWNER_CHECK:
        async with services.db.sessions() as db:
            return await partner_of_owner(db, id)
    current = await (provider.get_document(id) if subject is Subject.DOCUMENT else provider.get_identity_check(id))
    table = KycDocumentRow if subject is Subject.DOCUMENT else IdentityCheckRow
    async with services.db.sessions() as db:
        stored_status = (await db.exec(select(col(table.status)).where(col(table.provider_id) == id))).one_or_none()
    has_owners = isinstance(current, IdentityCheck) and current.owners
    known = stored_status is ProviderKyc.status_of(current) and not has_owners
    return None if known else await _partner_of(services, current.account_id)


async def _partner_of(services: Services, account_id: str) -> int | None:
    async with services.db.sessions() as db:
        query = select(PartnerRow.id).where(col(PartnerRow.provider_user_id) == account_id)
        return (await db.exec(query)).first()


CHECKS = ProviderChecks(
    row=PartnerKycRow,
    job=JobKind.CHECK_KYC,
    id="partner_id",
    next_check=lambda _kyc, now: now + RETRY_INTERVAL,
    check=check_kyc,
    conditions=(HAS_ACCOUNT,),
    batch=SWEEP_BATCH,
)


async def sweep_kyc(services: Services) -> int:
    """Enqueue a check of every partner that is due, or was never checked; returns their number."""
    async with services.db.sessions() as db, db.begin():
        await add_unchecked_partners(db, services.clock.now(), SWEEP_BATCH)
    return await CHECKS.sweep(services)

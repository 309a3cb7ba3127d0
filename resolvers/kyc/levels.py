"""How far a partner is identified: asked of the provider, kept, told once for each change."""

import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation.steps import barred
from resolvers.core.computed_fields import computes
from resolvers.core.context import Context, Services
from resolvers.core.operation import Call, operation
from resolvers.core.provider_calls import FAILURES, asking
from resolvers.core.scoping import find
from resolvers.kyc.changes import Told, write
from resolvers.kyc.view import KycRows, view
from resolvers.onboarding.capability import standings
from schema.core.errors import ProviderFailed, ProviderTimedOut
from schema.core.permission import Permission
from schema.kyc.kyc import Kyc
from schema.partner.partner import Partner
from store.job.jobs import Job, enqueue
from store.kyc import IdentityCheckRow, KycDocumentRow, PartnerKycRow, documents_of, due, identity_checks_of, kyc_of
from store.partner.partners import PartnerRow
from store.providers.base import NotFound as UnknownToProvider
from store.providers.base import ProviderError, Subject

log = structlog.get_logger(__name__)
FRESH = dt.timedelta(minutes=1)
"""How old what the provider said may be for somebody who asks; notifications keep it younger than that when it matters."""
PATIENCE = dt.timedelta(seconds=10)
EACH_SWEEP = 40
"""Partners, every five minutes: at some four calls each a fifth of the 2 300 that the provider allows in a quarter of an hour,
and all of ten thousand partners within a day. Customers pay over the same account."""


@operation(Permission.VIEW_PARTNER, transaction=False, raises=FAILURES)
async def kyc_level(call: Call, partner_uuid: UUID) -> Kyc:
    """Whether a partner is identified, asked of the payment provider unless it has told within the last minute.

    While the provider cannot be asked, what it said last is answered, and `detail` says so.
    """
    async with call.services.db.sessions() as db:
        partner = await find(db, call.caller, PartnerRow, "partner", uuid=partner_uuid)
        rows = await kyc_rows(db, partner)
    checked_on = None if rows.known is None else rows.known.checked_on
    if not partner.provider_user_id or (checked_on is not None and call.services.clock.now() - checked_on < FRESH):
        return view(rows)
    try:
        async with asking("how far a partner is identified", partner_id=partner.id, patience=PATIENCE):
            await refresh_kyc(call.services, partner.id)
    except (ProviderFailed, ProviderTimedOut):
        if checked_on is None:
            raise
        return view(rows, f"The provider could not be asked now: this is of {checked_on:%Y-%m-%d %H:%M} UTC.")
    async with call.services.db.sessions() as db:
        return view(await kyc_rows(db, partner))


@computes(Partner, "kyc")
async def kyc_of_partners(context: Context, ids: Sequence[int]) -> Mapping[int, Kyc]:
    """How far partners are identified, as the provider last said: nobody is asked."""
    async with context.db.sessions() as db:
        found = await standings(db, ids)
    return {id: view(KycRows(s.partner, s.kyc, s.documents, s.checks)) for id, s in found.items()}


async def kyc_rows(db: AsyncSession, partner: PartnerRow) -> KycRows:
    """What is kept of a partner's identification."""
    kyc = await db.get(PartnerKycRow, partner.id)
    return KycRows(partner, kyc, await documents_of(db, partner), await identity_checks_of(db, partner))


# ---- asking the provider


@dataclass(frozen=True)
class _Before:
    """What was known before the provider was asked."""

    account_id: str
    version: int


async def refresh_kyc(services: Services, partner_id: int) -> None:
    """Ask the provider how far a partner is identified, keep it, and tell what has changed.

    What was asked before somebody else wrote is older than what stands: it is asked anew. When that happens twice, the one
    who wrote last had asked after this began. Raises `ProviderError`.
    """
    for _ in range(2):
        before = await _before(services, partner_id)
        if before is None:
            return
        told = await _ask(services, before.account_id)
        async with services.db.sessions() as db, db.begin():
            kyc = await kyc_of(db, partner_id, lock=True)
            if kyc.version == before.version:
                partner = await db.get_one(PartnerRow, partner_id)
                if partner.provider_user_id == before.account_id:
                    await write(db, await kyc_rows(db, partner), told, services.clock.now())
                return


async def _before(services: Services, partner_id: int) -> _Before | None:
    """What is known of a partner; None for one of which the provider knows nothing, or must hear nothing."""
    async with services.db.sessions() as db, db.begin():
        partner = await db.get(PartnerRow, partner_id)
        if partner is None or not partner.provider_user_id or barred(services, partner):
            return None
        kyc = await kyc_of(db, partner_id)
        return _Before(partner.provider_user_id, kyc.version)


async def _ask(services: Services, account_id: str) -> Told:
    provider = services.provider
    documents = await provider.list_documents(account_id)
    checks = await provider.list_identity_checks(account_id)
    account = await provider.get_account(account_id)  # last: it follows from the others
    return Told(account_id, account.kyc_level, documents, checks)


# ---- when it is asked


async def follow_kyc(services: Services, subject: Subject, id: str) -> None:
    """The provider says that an account, a document or an identity check has changed: ask, unless it is known already."""
    try:
        partner_id = await _news_of(services, subject, id)
    except UnknownToProvider:
        return
    if partner_id is not None:
        await refresh_kyc(services, partner_id)


async def _news_of(services: Services, subject: Subject, id: str) -> int | None:
    """The partner that a hint is about, if what the provider says now is not what is kept."""
    provider = services.provider
    if subject is Subject.ACCOUNT:
        partner_id = await _partner_of(services, id)
        if partner_id is None:
            return None
        account = await provider.get_account(id)
        async with services.db.sessions() as db:
            kyc = await db.get(PartnerKycRow, partner_id)
        known = kyc is not None and kyc.account_id == id and kyc.level is account.kyc_level
        return None if known else partner_id
    told = await (provider.get_document(id) if subject is Subject.DOCUMENT else provider.get_identity_check(id))
    table = KycDocumentRow if subject is Subject.DOCUMENT else IdentityCheckRow
    async with services.db.sessions() as db:
        kept = (await db.exec(select(col(table.status)).where(col(table.provider_id) == id))).one_or_none()
    return None if kept is Told.status_of(told) else await _partner_of(services, told.account_id)


async def _partner_of(services: Services, account_id: str) -> int | None:
    async with services.db.sessions() as db:
        query = select(PartnerRow.id).where(col(PartnerRow.provider_user_id) == account_id)
        return (await db.exec(query)).first()


async def check_kyc(services: Services, partner_id: int) -> None:
    """One look at one partner. A provider that cannot answer now is asked again by the next sweep."""
    try:
        await refresh_kyc(services, partner_id)
    except (ProviderError, TimeoutError) as error:
        log.warning("the provider could not tell how a partner is identified", partner_id=partner_id, error=repr(error))


async def sweep_kyc(services: Services) -> int:
    """Enqueue a look at every partner that is due; answers how many."""
    async with services.db.sessions() as db, db.begin():
        partners = await due(db, services.clock.now(), EACH_SWEEP)
        for partner_id in partners:
            await enqueue(db, Job.CHECK_KYC, {"partner_id": partner_id}, once=str(partner_id))
        return len(partners)

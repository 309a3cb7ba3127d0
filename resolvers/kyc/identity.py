"""Identity verification: one session at a time on the provider's page, reused while it is valid."""

import datetime as dt
from collections.abc import Collection, Sequence
from uuid import uuid4

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation.steps import requires_sandbox
from resolvers.core.input_mapping import check_partner_uuid
from resolvers.core.operation import Call, operation
from resolvers.core.provider.calls import PROVIDER_ERRORS, calling_provider
from resolvers.core.provider.process import ProviderCall, Recording, RefusedCall
from resolvers.core.scoping import find_visible
from resolvers.core.services import Services
from resolvers.kyc.changes import ProviderKyc
from schema.core.errors import ActivationRequired, OnlyInSandbox, ProviderFailed
from schema.core.permission import Permission
from schema.kyc.identity import IdentityVerification, OpenIdentityVerification
from schema.kyc.kyc import KycCheckStatus
from store.core.return_paths import provider_return_url
from store.kyc import (
    IDENTITY_SESSION_LIFE,
    IdentityCheckRow,
    get_or_create_check,
    get_or_create_kyc,
    identity_checks_of,
)
from store.partner.partners import PartnerRow
from store.providers.accounts import CheckStatus, IdentityCheck
from store.providers.errors import ProviderNotFound as UnknownToProvider
from store.providers.keys import IdempotencyKey

FIRST_CHECK_AFTER = dt.timedelta(hours=1)


async def _require_account(call: Call, input: OpenIdentityVerification) -> PartnerRow:
    async with call.services.db.sessions() as db:
        partner = await find_visible(db, call.caller, PartnerRow, "partner", uuid=input.partner_uuid)
    if not partner.provider_user_id:
        raise ActivationRequired
    if requires_sandbox(call.services, partner):
        raise OnlyInSandbox
    return partner


async def find_open_verification(call: Call, input: OpenIdentityVerification) -> IdentityVerification | None:
    """The verification that is open already; None if opening one would first have to create or save it."""
    partner = await _require_account(call, input)
    async with calling_provider("finding the open identity verification", partner_id=partner.id):
        open_check = await _find_open_check(call.services, partner, await _known_checks(call.services, partner))
    return None if open_check is None or open_check[1] is None else _verification_of(open_check[0], open_check[1])


@operation(
    Permission.UPDATE_PARTNER,
    transaction=False,
    exists=check_partner_uuid,
    raises=(*PROVIDER_ERRORS, ActivationRequired, OnlyInSandbox),
    previews=find_open_verification,
)
async def open_identity_verification(call: Call, input: OpenIdentityVerification) -> IdentityVerification:
    """Open an identity verification: a page of the payment provider where the legal representative proves their
    identity.

    If a verification is open already, it is returned. A verification is valid for seven days.
    """
    partner = await _require_account(call, input)
    call.add_audit_subject(partner)
    async with calling_provider("opening an identity verification", partner_id=partner.id):
        check, row = await find_or_open_check(call.services, partner)
    answer = _verification_of(check, row)
    async with call.services.db.sessions() as db, db.begin():
        await call.store_response(db, answer)
    return answer


CheckWithRow = tuple[IdentityCheck, IdentityCheckRow]


def _verification_of(check: IdentityCheck, row: IdentityCheckRow) -> IdentityVerification:
    if check.action is None:
        raise ProviderFailed
    expires_on = check.created_at + IDENTITY_SESSION_LIFE
    return IdentityVerification(id=row.id, status=row.status, redirect_url=check.action.url, expires_on=expires_on)


async def find_or_open_check(services: Services, partner: PartnerRow) -> CheckWithRow:
    """The newest open session at the provider, opened here or elsewhere; else a new one. Raises `Conflict`."""
    if requires_sandbox(services, partner):
        raise OnlyInSandbox
    seen = await _known_checks(services, partner)
    open_check = await _find_open_check(services, partner, seen)
    if open_check is None:
        return await _open_check(services, partner, seen)
    check, row = open_check
    return check, row or await _save_check(services, partner, check)


async def _known_checks(services: Services, partner: PartnerRow) -> Sequence[IdentityCheckRow]:
    async with services.db.sessions() as db:
        return await identity_checks_of(db, partner)


async def _find_open_check(
    services: Services, partner: PartnerRow, seen: Sequence[IdentityCheckRow]
) -> tuple[IdentityCheck, IdentityCheckRow | None] | None:
    """The newest open session, with its row; the row is None if the session was opened elsewhere. Only reads."""
    if not all(row.provider_id for row in seen):
        return None  # a response was lost: repeating the call with its key returns that session
    for row in seen:
        if _may_be_open(services, row) and (check := await _read_if_open(services, row.provider_id)) is not None:
            return check, row
    for listed in await services.provider.list_identity_checks(partner.provider_user_id):
        if listed.status is CheckStatus.PENDING and (check := await _read_if_open(services, listed.id)) is not None:
            return check, None
    return None


def _may_be_open(services: Services, row: IdentityCheckRow) -> bool:
    return row.status is KycCheckStatus.PENDING and services.clock.now() - row.created_on < IDENTITY_SESSION_LIFE


async def _read_if_open(services: Services, id: str) -> IdentityCheck | None:
    """The session if it is open and has a URL. Only the single session, not the list, reliably has the URL."""
    try:
        check = await services.provider.get_identity_check(id)
    except UnknownToProvider:
        return None
    lasts = services.clock.now() - check.created_at < IDENTITY_SESSION_LIFE
    return check if lasts and check.status is CheckStatus.PENDING and check.action is not None else None


async def _open_check(services: Services, partner: PartnerRow, seen: Sequence[IdentityCheckRow]) -> CheckWithRow:
    """Open a session. Its row and idempotency key are saved first, so that concurrent calls open the same session.

    A session that another call opened since `seen` was read is used instead.
    """
    row = await _begin_check(services, partner, {row.id for row in seen if row.provider_id})
    if row.provider_id:
        return await services.provider.get_identity_check(row.provider_id), row
    opened = services.provider.open_identity_check(
        partner.provider_user_id,
        return_url=provider_return_url(services.settings, row.path),
        key=IdempotencyKey(str(row.key)),
        sent_at=row.created_on,
    )
    check = await OPENING.ask(services, row, opened)
    return check, await OPENING.save(services, row, check)


async def _lock_check(db: AsyncSession, row: IdentityCheckRow) -> IdentityCheckRow:
    await get_or_create_kyc(db, row.partner_id, lock=True)
    return await db.get_one(IdentityCheckRow, row.id)


async def _replace_key(tx: Recording, row: IdentityCheckRow, refused: RefusedCall[IdentityCheckRow]) -> None:
    """Replace the idempotency key: with the old one the provider would only repeat its refusal."""
    if row.key == refused.row.key and not row.provider_id:
        row.key, row.created_on = uuid4(), tx.now


async def _begin_check(services: Services, partner: PartnerRow, seen: Collection[int]) -> IdentityCheckRow:
    now = services.clock.now()
    async with services.db.sessions() as db, db.begin():
        kyc = await get_or_create_kyc(db, partner.id, lock=True)
        for row in await identity_checks_of(db, partner):
            if row.provider_id and row.id not in seen and _may_be_open(services, row):
                return row
        kyc.check_on = now + FIRST_CHECK_AFTER
        return await get_or_create_check(db, partner, now)


async def _save_check(services: Services, partner: PartnerRow, check: IdentityCheck) -> IdentityCheckRow:
    """Save a session that was opened elsewhere, unless a concurrent call did so already."""
    async with services.db.sessions() as db, db.begin():
        await get_or_create_kyc(db, partner.id, lock=True)
        row = IdentityCheckRow(partner_id=partner.id, account_id=partner.provider_user_id)
        return await _record_check(Recording(services, db), row, check)


async def _record_check(tx: Recording, row: IdentityCheckRow, check: IdentityCheck) -> IdentityCheckRow:
    """Record the provider's session in its row: in `row`, unless a concurrent call has recorded it already."""
    if row.provider_id == check.id:
        return row
    partner = await tx.db.get_one(PartnerRow, row.partner_id)
    known = next((known for known in await identity_checks_of(tx.db, partner) if known.provider_id == check.id), None)
    if known is not None:
        return known
    if row.provider_id:
        row = IdentityCheckRow(partner_id=row.partner_id, account_id=row.account_id)
    row.provider_id, row.status, row.created_on = check.id, ProviderKyc.status_of(check), check.created_at
    tx.db.add(row)
    await tx.db.flush()
    return row


OPENING = ProviderCall(lock=_lock_check, record=_record_check, refuse=_replace_key)

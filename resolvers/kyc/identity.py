"""Identity verification: one session at a time on the provider's page, used again while it is good."""

import datetime as dt
from collections.abc import Collection, Sequence
from uuid import uuid4

from resolvers.activation.steps import barred
from resolvers.core.context import Services
from resolvers.core.input_mapping import partner_if_named
from resolvers.core.operation import Call, operation
from resolvers.core.provider_calls import FAILURES, REFUSALS, asking
from resolvers.core.scoping import find
from resolvers.kyc.changes import Told
from schema.core.errors import ActivationRequired, OnlyInSandbox, ProviderFailed
from schema.core.permission import Permission
from schema.kyc.kyc import IdentityVerification, KycCheckStatus, OpenIdentityVerification
from store.kyc import IDENTITY_LASTS, IdentityCheckRow, begun_check, identity_checks_of, kyc_of
from store.onboarding.return_paths import return_url
from store.partner.partners import PartnerRow
from store.providers.accounts import CheckStatus, IdentityCheck
from store.providers.base import Key
from store.providers.base import NotFound as UnknownToProvider

LOOKED_AT = dt.timedelta(hours=1)


async def _known_to_provider(call: Call, input: OpenIdentityVerification) -> PartnerRow:
    async with call.services.db.sessions() as db:
        partner = await find(db, call.caller, PartnerRow, "partner", uuid=input.partner_uuid)
    if not partner.provider_user_id:
        raise ActivationRequired
    if barred(call.services, partner):
        raise OnlyInSandbox
    return partner


async def open_already(call: Call, input: OpenIdentityVerification) -> IdentityVerification | None:
    """The page of a session of ours that is open; None where one would be opened, or written down, first."""
    partner = await _known_to_provider(call, input)
    async with asking("which identity verification is open", partner_id=partner.id):
        found = await _open_now(call.services, partner, await _seen(call.services, partner))
    return None if found is None or found[1] is None else _page(found[0], found[1])


@operation(
    Permission.UPDATE_PARTNER,
    transaction=False,
    exists=partner_if_named,
    raises=(*FAILURES, ActivationRequired, OnlyInSandbox),
    foresees=open_already,
)
async def open_identity_verification(call: Call, input: OpenIdentityVerification) -> IdentityVerification:
    """A page of the payment provider on which the legal representative proves an identity.

    As long as one is open, that one is answered; it is good for seven days.
    """
    partner = await _known_to_provider(call, input)
    call.concerns(partner)
    async with asking("an identity verification", partner_id=partner.id):
        check, row = await found_or_opened(call.services, partner)
    answer = _page(check, row)
    async with call.services.db.sessions() as db, db.begin():
        await call.keep(db, answer)
    return answer


Found = tuple[IdentityCheck, IdentityCheckRow]


def _page(check: IdentityCheck, row: IdentityCheckRow) -> IdentityVerification:
    if check.action is None:
        raise ProviderFailed
    expires_on = check.created_at + IDENTITY_LASTS
    return IdentityVerification(id=row.id, status=row.status, redirect_url=check.action.url, expires_on=expires_on)


async def found_or_opened(services: Services, partner: PartnerRow) -> Found:
    """The newest session that is open at the provider, of ours or opened elsewhere; else a new one. Raises `Conflict`."""
    if barred(services, partner):
        raise OnlyInSandbox
    seen = await _seen(services, partner)
    found = await _open_now(services, partner, seen)
    if found is None:
        return await _opened(services, partner, seen)
    check, row = found
    return check, row or await _keep(services, partner, check)


async def _seen(services: Services, partner: PartnerRow) -> Sequence[IdentityCheckRow]:
    async with services.db.sessions() as db:
        return await identity_checks_of(db, partner)


async def _open_now(
    services: Services, partner: PartnerRow, seen: Sequence[IdentityCheckRow]
) -> tuple[IdentityCheck, IdentityCheckRow | None] | None:
    """The newest session that is open, without a row where it was opened elsewhere. It looks, and does nothing."""
    if not all(row.provider_id for row in seen):
        return None  # an answer was lost: asking again with its key tells which it is
    for row in seen:
        if _may_be_open(services, row) and (check := await _still_open(services, row.provider_id)) is not None:
            return check, row
    for listed in await services.provider.list_identity_checks(partner.provider_user_id):
        if listed.status is CheckStatus.PENDING and (check := await _still_open(services, listed.id)) is not None:
            return check, None
    return None


def _may_be_open(services: Services, row: IdentityCheckRow) -> bool:
    return row.status is KycCheckStatus.PENDING and services.clock.now() - row.created_on < IDENTITY_LASTS


async def _still_open(services: Services, id: str) -> IdentityCheck | None:
    """A session as it is now, if somebody can go there. Only its own answer surely tells where that is."""
    try:
        check = await services.provider.get_identity_check(id)
    except UnknownToProvider:
        return None
    lasts = services.clock.now() - check.created_at < IDENTITY_LASTS
    return check if lasts and check.status is CheckStatus.PENDING and check.action is not None else None


async def _opened(services: Services, partner: PartnerRow, seen: Sequence[IdentityCheckRow]) -> Found:
    """A new session, written down with its key first: of twenty who ask at once each asks for the same.

    One that was opened by another since they were `seen` is as good as a new one.
    """
    row = await _begin(services, partner, {row.id for row in seen if row.provider_id})
    if row.provider_id:
        return await services.provider.get_identity_check(row.provider_id), row
    try:
        check = await services.provider.open_identity_check(
            partner.provider_user_id,
            return_url=return_url(services.settings, row.path),
            key=Key(str(row.key)),
            sent_at=row.created_on,
        )
    except REFUSALS:
        await _forget_key(services, partner, row)
        raise
    return check, await _keep(services, partner, check, row.id)


async def _forget_key(services: Services, partner: PartnerRow, refused: IdentityCheckRow) -> None:
    """Have the next try use another key: with a refused one the provider only repeats that it has refused."""
    async with services.db.sessions() as db, db.begin():
        await kyc_of(db, partner.id, lock=True)
        row = await db.get_one(IdentityCheckRow, refused.id)
        if row.key == refused.key and not row.provider_id:
            row.key, row.created_on = uuid4(), services.clock.now()


async def _begin(services: Services, partner: PartnerRow, seen: Collection[int]) -> IdentityCheckRow:
    now = services.clock.now()
    async with services.db.sessions() as db, db.begin():
        kyc = await kyc_of(db, partner.id, lock=True)
        for row in await identity_checks_of(db, partner):
            if row.provider_id and row.id not in seen and _may_be_open(services, row):
                return row
        kyc.check_on = now + LOOKED_AT
        return await begun_check(db, partner, now)


async def _keep(
    services: Services, partner: PartnerRow, check: IdentityCheck, begun_id: int | None = None
) -> IdentityCheckRow:
    """Write down which session it is. Somebody else may have done so before."""
    async with services.db.sessions() as db, db.begin():
        await kyc_of(db, partner.id, lock=True)
        rows = await identity_checks_of(db, partner)
        row = next((row for row in rows if row.provider_id == check.id), None)
        if row is None:
            row = next((row for row in rows if row.id == begun_id and not row.provider_id), None)
            row = row or IdentityCheckRow(partner_id=partner.id, account_id=partner.provider_user_id)
            row.provider_id, row.status, row.created_on = check.id, Told.status_of(check), check.created_at
            db.add(row)
        await db.flush()
        return row

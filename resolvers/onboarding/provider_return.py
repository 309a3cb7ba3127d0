"""The short addresses that representatives come back to from the provider: how it stands, and trying it again."""

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation.steps import barred
from resolvers.bank_account import check_bank_accounts, registered
from resolvers.core.context import Caller, Services
from resolvers.core.operation import Call, operation
from resolvers.core.provider_calls import asking
from resolvers.kyc.identity import found_or_opened
from resolvers.kyc.levels import refresh_kyc
from schema.bank_account import BankAccountStatus
from schema.core.errors import NotFound, ProviderFailed, ProviderTimedOut
from schema.core.permission import Rule
from schema.kyc.kyc import KycCheckStatus, Returned, ReturnedFrom, Stage, TryAgain
from store.bank_account import BankAccountRow
from store.kyc import IdentityCheckRow, is_path
from store.partner.partners import PartnerRow
from store.providers.base import NotFound as UnknownToProvider

log = structlog.get_logger(__name__)
STAGES = {
    KycCheckStatus.PENDING: Stage.OPEN,
    KycCheckStatus.REVIEW: Stage.WAITING,
    KycCheckStatus.UNKNOWN: Stage.WAITING,
    KycCheckStatus.VALIDATED: Stage.DONE,
    BankAccountStatus.PENDING: Stage.OPEN,
    BankAccountStatus.UNKNOWN: Stage.WAITING,
    BankAccountStatus.ACTIVE: Stage.DONE,
    BankAccountStatus.DEACTIVATED: Stage.DONE,
}
"""Anything else has failed."""


async def representative_at(services: Services, path: str) -> Caller:
    """Whoever holds a short address, as a caller for the operations below. Raises NotFound for one that leads nowhere."""
    async with services.db.sessions() as db:
        row = await _row(db, path)
        partner = await db.get_one(PartnerRow, row.partner_id)
    return Caller.representative(partner.id, partner.marketplace_id)


@operation(Rule.REPRESENTATIVE, transaction=False)
async def returned(call: Call, path: str) -> Returned:
    """How it stands with what a representative was sent to the provider for, asked of the provider now."""
    row, partner = await _found(call, path)
    try:
        async with asking("what a representative comes back from", partner_id=partner.id):
            await _look(call.services, row)
    except (ProviderFailed, ProviderTimedOut):
        log.warning("somebody who comes back is told what was known before", partner_id=partner.id)
    row, partner = await _found(call, path)
    stage = _stage(row)
    of = ReturnedFrom.IDENTITY if isinstance(row, IdentityCheckRow) else ReturnedFrom.BANK_ACCOUNT
    goes_on = stage is Stage.OPEN and not barred(call.services, partner)
    action = await _action(call.services, row) if goes_on else None
    return Returned(
        path=path,
        of=of,
        stage=stage,
        action_url=action,
        partner_name=partner.commercial_name,
        accent=partner.accent_colour,
        logo_url=partner.logo_url,
        language=partner.language,
    )


@operation(Rule.REPRESENTATIVE, transaction=False)
async def try_again(call: Call, input: TryAgain) -> str:
    """Begin anew what has failed, or find what was begun since; answers the end of the address of its page. What is done or
    decided over stays."""
    row, partner = await _found(call, input.path)
    if _stage(row) in {Stage.WAITING, Stage.DONE}:
        return input.path
    call.concerns(partner)
    async with asking("trying again", partner_id=partner.id):
        if isinstance(row, IdentityCheckRow):
            return (await found_or_opened(call.services, partner))[1].path
        return (await registered(call.services, partner)).path


def _stage(row: IdentityCheckRow | BankAccountRow) -> Stage:
    return STAGES.get(row.status, Stage.FAILED)


async def _look(services: Services, row: IdentityCheckRow | BankAccountRow) -> None:
    if isinstance(row, IdentityCheckRow):
        await refresh_kyc(services, row.partner_id)
    else:
        await check_bank_accounts(services, row.partner_id)


async def _action(services: Services, row: IdentityCheckRow | BankAccountRow) -> str | None:
    """Where to go on, if that can be told now."""
    if isinstance(row, BankAccountRow):
        good = row.redirect_expires_on is not None and services.clock.now() < row.redirect_expires_on
        return row.redirect_url if good else None
    try:
        async with asking("an identity verification", partner_id=row.partner_id):
            action = (await services.provider.get_identity_check(row.provider_id)).action
    except (ProviderFailed, ProviderTimedOut, UnknownToProvider):
        return None
    return None if action is None else action.url


async def _found(call: Call, path: str) -> tuple[IdentityCheckRow | BankAccountRow, PartnerRow]:
    async with call.services.db.sessions() as db:
        row = await _row(db, path)
        if row.partner_id != call.caller.partner_id:
            raise NotFound(thing="page")
        return row, await db.get_one(PartnerRow, row.partner_id)


async def _row(db: AsyncSession, path: str) -> IdentityCheckRow | BankAccountRow:
    if not is_path(path):
        raise NotFound(thing="page")
    checks = select(IdentityCheckRow).where(col(IdentityCheckRow.path) == path, col(IdentityCheckRow.provider_id) != "")
    accounts = select(BankAccountRow).where(col(BankAccountRow.path) == path, col(BankAccountRow.provider_id) != "")
    found = (await db.exec(checks)).one_or_none() or (await db.exec(accounts)).one_or_none()
    if found is None:
        raise NotFound(thing="page")
    return found

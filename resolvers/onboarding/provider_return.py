"""The return pages after identity verification and bank account confirmation at the provider: status and retry."""

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation.steps import requires_sandbox
from resolvers.bank_account import check_bank_accounts, ensure_registered
from resolvers.core.caller import Caller
from resolvers.core.operation import Call, operation
from resolvers.core.provider.calls import calling_provider
from resolvers.core.services import Services
from resolvers.kyc.identity import find_or_open_check
from resolvers.kyc.levels import refresh_kyc
from schema.bank_account import BankAccountStatus
from schema.core.errors import NotFound, ProviderFailed, ProviderTimedOut
from schema.core.permission import AccessRule
from schema.kyc.kyc import KycCheckStatus
from schema.onboarding import ProviderReturn, ProviderReturnPurpose, ProviderReturnRetry, ProviderReturnStatus
from store.bank_account import BankAccountRow
from store.core.return_paths import is_path
from store.kyc import IdentityCheckRow
from store.partner.brand import theme_of
from store.partner.partners import PartnerRow
from store.providers.errors import ProviderNotFound as UnknownToProvider

log = structlog.get_logger(__name__)
STAGES = {
    KycCheckStatus.PENDING: ProviderReturnStatus.OPEN,
    KycCheckStatus.REVIEW: ProviderReturnStatus.WAITING,
    KycCheckStatus.UNKNOWN: ProviderReturnStatus.WAITING,
    KycCheckStatus.VALIDATED: ProviderReturnStatus.DONE,
    BankAccountStatus.PENDING: ProviderReturnStatus.OPEN,
    BankAccountStatus.UNKNOWN: ProviderReturnStatus.WAITING,
    BankAccountStatus.ACTIVE: ProviderReturnStatus.DONE,
    BankAccountStatus.DEACTIVATED: ProviderReturnStatus.DONE,
}
"""Any other status is FAILED."""


async def representative_at(services: Services, path: str) -> Caller:
    """The caller for a return URL: the partner's legal representative. Raises NotFound for an unknown path."""
    async with services.db.sessions() as db:
        row = await _find_row(db, path)
        partner = await db.get_one(PartnerRow, row.partner_id)
    return Caller.representative(partner.id, partner.marketplace_id)


@operation(AccessRule.REPRESENTATIVE, transaction=False)
async def get_provider_return(call: Call, path: str) -> ProviderReturn:
    """The status of the identity verification or bank account at a return path, read from the provider now."""
    row, partner = await _find_returned(call, path)
    try:
        async with calling_provider("refreshing the state after a return", partner_id=partner.id):
            await _refresh(call.services, row)
    except (ProviderFailed, ProviderTimedOut):
        log.warning(
            "a representative sees the last known state after the return from the provider", partner_id=partner.id
        )
    row, partner = await _find_returned(call, path)
    stage = _stage(row)
    of = ProviderReturnPurpose.IDENTITY if isinstance(row, IdentityCheckRow) else ProviderReturnPurpose.BANK_ACCOUNT
    goes_on = stage is ProviderReturnStatus.OPEN and not requires_sandbox(call.services, partner)
    action = await _action_url(call.services, row) if goes_on else None
    return ProviderReturn(
        path=path,
        purpose=of,
        status=stage,
        action_url=action,
        partner_name=partner.commercial_name,
        accent=partner.accent_colour,
        theme=theme_of(partner),
        logo_url=partner.logo_url,
        language=partner.language,
    )


@operation(AccessRule.REPRESENTATIVE, transaction=False)
async def try_again(call: Call, input: ProviderReturnRetry) -> str:
    """Start a failed task again, or find the one started since; returns the path of its return page. No effect on a
    task that is done or being decided.
    """
    row, partner = await _find_returned(call, input.path)
    if _stage(row) in {ProviderReturnStatus.WAITING, ProviderReturnStatus.DONE}:
        return input.path
    call.add_audit_subject(partner)
    async with calling_provider("restarting a task", partner_id=partner.id):
        if isinstance(row, IdentityCheckRow):
            return (await find_or_open_check(call.services, partner))[1].path
        return (await ensure_registered(call.services, partner)).path


def _stage(row: IdentityCheckRow | BankAccountRow) -> ProviderReturnStatus:
    return STAGES.get(row.status, ProviderReturnStatus.FAILED)


async def _refresh(services: Services, row: IdentityCheckRow | BankAccountRow) -> None:
    if isinstance(row, IdentityCheckRow):
        await refresh_kyc(services, row.partner_id)
    else:
        await check_bank_accounts(services, row.partner_id)


async def _action_url(services: Services, row: IdentityCheckRow | BankAccountRow) -> str | None:
    """The URL to continue at; None if it is unknown now."""
    if isinstance(row, BankAccountRow):
        good = row.redirect_expires_on is not None and services.clock.now() < row.redirect_expires_on
        return row.redirect_url if good else None
    try:
        async with calling_provider("reading an identity verification", partner_id=row.partner_id):
            action = (await services.provider.get_identity_check(row.provider_id)).action
    except (ProviderFailed, ProviderTimedOut, UnknownToProvider):
        return None
    return None if action is None else action.url


async def _find_returned(call: Call, path: str) -> tuple[IdentityCheckRow | BankAccountRow, PartnerRow]:
    async with call.services.db.sessions() as db:
        row = await _find_row(db, path)
        if row.partner_id != call.caller.partner_id:
            raise NotFound(thing="page")
        return row, await db.get_one(PartnerRow, row.partner_id)


async def _find_row(db: AsyncSession, path: str) -> IdentityCheckRow | BankAccountRow:
    if not is_path(path):
        raise NotFound(thing="page")
    checks = select(IdentityCheckRow).where(col(IdentityCheckRow.path) == path, col(IdentityCheckRow.provider_id) != "")
    accounts = select(BankAccountRow).where(col(BankAccountRow.path) == path, col(BankAccountRow.provider_id) != "")
    row = (await db.exec(checks)).one_or_none() or (await db.exec(accounts)).one_or_none()
    if row is None:
        raise NotFound(thing="page")
    return row

"""Updates activations: periodically, on notifications of the provider, and when partner data change."""

import uuid

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation import transitions as outcomes
from resolvers.activation.steps import sync_activation
from resolvers.core.provider.process import ProviderChecks
from resolvers.core.services import Services
from schema.activation import ActivationStatus
from store.activation.account_requests import account_digest, missing_fields
from store.activation.activations import ActivationRow, activation_of_account, latest_activation
from store.job.jobs import JobKind, enqueue_job
from store.partner.partners import PartnerRow
from store.providers.errors import ProviderNotFound as UnknownToProvider

CHECKS = ProviderChecks(
    row=ActivationRow, job=JobKind.WATCH_ACTIVATION, next_check=outcomes.next_check, check=sync_activation
)


async def handle_notification(services: Services, account_id: str) -> None:
    """Handle a notification about an account: update its activation, if it is one of ours."""
    async with services.db.sessions() as db:
        known = await activation_of_account(db, account_id)
    if known is None:
        known = await _find_by_reference(services, account_id)
    if known is not None and known.status is not ActivationStatus.FAILED:
        await sync_activation(services, known.id)


async def _find_by_reference(services: Services, account_id: str) -> ActivationRow | None:
    """The activation whose key is the account's reference, for an account whose id was lost with the response."""
    try:
        account = await services.provider.get_account(account_id)
        key = uuid.UUID(account.reference)
    except (UnknownToProvider, ValueError):
        return None
    async with services.db.sessions() as db:
        query = select(ActivationRow).where(col(ActivationRow.account_key) == key)
        row = (await db.exec(query.order_by(col(ActivationRow.created_on).desc()).limit(1))).one_or_none()
    if row is None or row.account_id:
        return None
    return await outcomes.ACCOUNT.save(services, row, outcomes.AccountAnswer(account))


async def enqueue_partner_update(db: AsyncSession, partner: PartnerRow) -> None:
    """Enqueue an update of the provider if the partner data that it received have changed."""
    activation = await latest_activation(db, partner.id)
    if activation is None or not activation.account_id or activation.status is ActivationStatus.FAILED:
        return
    if not missing_fields(partner) and account_digest(partner) != activation.told_digest:
        await enqueue_job(db, JobKind.WATCH_ACTIVATION, {"id": activation.id})

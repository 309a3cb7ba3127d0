"""Updates activations: periodically, on notifications of the provider, and when partner data change."""

import uuid

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation import transitions as outcomes
from resolvers.activation.steps import sync_activation
from resolvers.core.services import Services
from schema.activation import ActivationStatus
from store.activation.account_requests import account_digest, missing_fields
from store.activation.activations import ActivationRow, activation_of_account, due_activations, latest_activation
from store.job.jobs import JobKind, enqueue_job
from store.partner.partners import PartnerRow
from store.providers.errors import ProviderError
from store.providers.errors import ProviderNotFound as UnknownToProvider

log = structlog.get_logger(__name__)
SWEEP_BATCH = 200


async def poll_activation(services: Services, activation_id: uuid.UUID) -> None:
    """Job: update one activation. If the provider is unavailable, the next check follows after a growing pause."""
    try:
        await sync_activation(services, activation_id)
    except ProviderError as error:
        log.warning(
            "the status of an activation could not be read from the provider",
            activation=str(activation_id),
            error=str(error),
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
    return await outcomes.record_account(services, row.id, account)


async def enqueue_partner_update(db: AsyncSession, partner: PartnerRow) -> None:
    """Enqueue an update of the provider if the partner data that it received have changed."""
    activation = await latest_activation(db, partner.id)
    if activation is None or not activation.account_id or activation.status is ActivationStatus.FAILED:
        return
    if not missing_fields(partner) and account_digest(partner) != activation.told_digest:
        await enqueue_job(db, JobKind.WATCH_ACTIVATION, {"id": activation.id})


async def sweep(services: Services) -> int:
    """Enqueue a check of every activation that is due; returns their number.

    The next check is scheduled at once, so that failing checks do not block others.
    """
    now = services.clock.now()
    async with services.db.sessions() as db, db.begin():
        rows = await due_activations(db, now, SWEEP_BATCH)
        for row in rows:
            row.check_on = outcomes.next_check(row, now)
            await enqueue_job(db, JobKind.WATCH_ACTIVATION, {"id": row.id}, unique_key=str(row.id))
        return len(rows)

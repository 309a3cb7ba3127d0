"""Looks at activations: when one is due, when the provider says something, when the data of a partner change."""

import uuid

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.activation import transitions as outcomes
from resolvers.activation.steps import go_on
from resolvers.core.context import Services
from schema.onboarding import ActivationStatus
from store.activation.account_requests import digest, missing
from store.activation.activations import ActivationRow, due, latest, of_account
from store.job.jobs import Job, enqueue
from store.partner.partners import PartnerRow
from store.providers.errors import NotFound as UnknownToProvider
from store.providers.errors import ProviderError

log = structlog.get_logger(__name__)
EACH_SWEEP = 200


async def watch(services: Services, activation_id: uuid.UUID) -> None:
    """One look at one activation. A provider that cannot answer now is asked again later, ever more rarely."""
    try:
        await go_on(services, activation_id)
    except ProviderError as error:
        log.warning(
            "the provider could not tell how an activation stands", activation=str(activation_id), error=str(error)
        )


async def follow_hint(services: Services, account_id: str) -> None:
    """Something happened to an account: look at the activation it belongs to, if it is one of ours."""
    async with services.db.sessions() as db:
        known = await of_account(db, account_id)
    if known is None:
        known = await _named(services, account_id)
    if known is not None and known.status is not ActivationStatus.FAILED:
        await go_on(services, known.id)


async def _named(services: Services, account_id: str) -> ActivationRow | None:
    """The activation that an account refers to, for one whose id was lost with the answer that told it."""
    try:
        account = await services.provider.get_account(account_id)
        key = uuid.UUID(account.reference)
    except (UnknownToProvider, ValueError):
        return None
    async with services.db.sessions() as db:
        query = select(ActivationRow).where(col(ActivationRow.account_key) == key)
        found = (await db.exec(query.order_by(col(ActivationRow.created_on).desc()).limit(1))).one_or_none()
    if found is None or found.account_id:
        return None
    return await outcomes.note_account(services, found.id, account)


async def partner_changed(db: AsyncSession, partner: PartnerRow) -> None:
    """Have the provider told, once the open transaction is committed, of what it knows of a partner and has changed."""
    activation = await latest(db, partner.id)
    if activation is None or not activation.account_id or activation.status is ActivationStatus.FAILED:
        return
    if not missing(partner) and digest(partner) != activation.told_digest:
        await enqueue(db, Job.WATCH_ACTIVATION, {"id": activation.id})


async def sweep(services: Services) -> int:
    """Enqueue a look at every activation that is due; answers how many.

    Each has its next look set at once, so that some whose looks fail never keep the others waiting.
    """
    now = services.clock.now()
    async with services.db.sessions() as db, db.begin():
        rows = await due(db, now, EACH_SWEEP)
        for row in rows:
            row.check_on = outcomes.next_check(row, now)
            await enqueue(db, Job.WATCH_ACTIVATION, {"id": row.id}, once=str(row.id))
        return len(rows)

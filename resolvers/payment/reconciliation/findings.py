"""Findings of reconciliation: what becomes of them, and how a person explains one."""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import Any

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.operation import Call, operation
from resolvers.core.provider.events import enqueue_look_up
from resolvers.core.scoping import find_visible
from resolvers.mail.reconciliation import queue_reconciliation_mail
from schema.core.errors import InvalidTransition
from schema.core.permission import Permission
from schema.reconciliation import (
    ExplainReconciliationFinding,
    ReconciliationFinding,
    ReconciliationFindingKind,
    ReconciliationFindingState,
)
from store.ledger.posting import Journal, post
from store.providers.base import Subject
from store.reconciliation.comparison import record_differences
from store.reconciliation.rows import (
    ProviderMovementRow,
    ReconciliationFindingRow,
    ReconciliationRunRow,
    lock_missing_here,
    movements_of,
)
from store.reconciliation.suspense import (
    explained_journals,
    journals_of_movements,
    recorded_journals,
    suspense_journals,
)

log = structlog.get_logger(__name__)
SUSPENDED_AFTER = dt.timedelta(hours=20)
"""In the next night, however often it is compared before."""
OPEN, EXPLAINED = ReconciliationFindingState.OPEN, ReconciliationFindingState.EXPLAINED


async def record_comparison(
    db: AsyncSession,
    run: ReconciliationRunRow,
    wallets: Sequence[Mapping[str, Any]],
    unsure: Sequence[str],
    now: dt.datetime,
) -> None:
    """Compare the period of a run and record what is found; what is found no longer is resolved.

    Movements that are missing here or differ are looked up as if the provider had just told of them. If that does not explain
    what is missing until the next night, its money is put into suspense.
    """
    changes = await record_differences(db, run.since, run.until, wallets, unsure, now)
    journals: list[Journal] = []
    for movement in await movements_of(db, changes.opened):
        await _look_up(db, movement)
    for finding, movement in await lock_missing_here(db):
        is_due = finding.id not in changes.opened and now - finding.first_seen_on >= SUSPENDED_AFTER
        if is_due and finding.suspended_on is None:
            finding.suspended_on = now
            journals += await suspense_journals(db, movement)
    recorded = await _suspended_before(db, changes.resolved)
    journals += await recorded_journals(db, await journals_of_movements(db, recorded))
    await post(db, journals)
    if changes.opened:
        log.error("the payment provider and the ledger disagree", run=run.id, findings=len(changes.opened))
        await queue_reconciliation_mail(db, run, changes.opened)


async def _suspended_before(db: AsyncSession, finding_ids: Sequence[int]) -> Sequence[str]:
    """The movements among these findings whose money was put into suspense."""
    table = ReconciliationFindingRow
    query = select(table.subject).where(col(table.id).in_(finding_ids), col(table.suspended_on).is_not(None))
    return (await db.exec(query)).all()


async def _look_up(db: AsyncSession, movement: ProviderMovementRow) -> None:
    """Have the movement read from the provider, as after a notification that was lost."""
    if movement.kind:
        await enqueue_look_up(db, Subject(movement.kind), movement.provider_id)


@operation(Permission.MANAGE_MASTERADMIN)
async def explain_reconciliation_finding(call: Call, input: ExplainReconciliationFinding) -> ReconciliationFinding:
    """Explain an open finding with a reason. Money in suspense becomes that of the owner of the wallet in which it lies:
    earnings of a partner, or funds of a marketplace; what lies in the wallet of fees becomes commission. One that is not open
    is refused with `INVALID_TRANSITION`.
    """
    finding = await find_visible(
        call.db, call.caller, ReconciliationFindingRow, "reconciliation finding", lock=True, id=input.id
    )
    if finding.state is not OPEN:
        raise InvalidTransition(thing="The finding", old=finding.state, new=EXPLAINED)
    finding.state, finding.reason, finding.closed_on = EXPLAINED, input.reason, call.services.clock.now()
    await post(call.db, await explained_journals(call.db, await _journals_in_suspense(call.db, finding)))
    return finding


async def _journals_in_suspense(db: AsyncSession, finding: ReconciliationFindingRow) -> Sequence[int]:
    """The journals that have put what a finding is about into suspense."""
    if finding.kind is ReconciliationFindingKind.SUSPENSE:
        return [int(finding.subject)]
    return [] if finding.suspended_on is None else await journals_of_movements(db, [finding.subject])

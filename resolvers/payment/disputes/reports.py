"""What the provider tells about a dispute, read before the database is locked."""

from dataclasses import dataclass
from decimal import Decimal

import structlog

from resolvers.core.services import Services
from schema.payment.dispute import DisputeState
from store.payment.disputes import DisputeRow
from store.providers.disputes import DisputeOutcome, DisputeStatus, ProviderDispute
from store.providers.transactions import Transaction, TransactionKind, TransactionStatus

log = structlog.get_logger(__name__)
NOTHING = Decimal("0.00")
OPEN_STATES = {
    DisputeStatus.CREATED: DisputeState.OPEN,
    DisputeStatus.PENDING_CLIENT_ACTION: DisputeState.NEEDS_RESPONSE,
    DisputeStatus.REOPENED_PENDING_CLIENT_ACTION: DisputeState.NEEDS_RESPONSE,
    DisputeStatus.SUBMITTED: DisputeState.UNDER_REVIEW,
    DisputeStatus.PENDING_BANK_ACTION: DisputeState.UNDER_REVIEW,
}
ENDS = {
    DisputeOutcome.WON: DisputeState.WON,
    DisputeOutcome.LOST: DisputeState.LOST,
    DisputeOutcome.VOID: DisputeState.CANCELLED,
}
RETURNING = (DisputeOutcome.WON, DisputeOutcome.VOID)


@dataclass(frozen=True, slots=True)
class DisputeReport:
    """A dispute as read from the provider, and the movements of its money that are not recorded yet."""

    dispute: ProviderDispute
    taken: Transaction | None
    """The transaction that took the money; None while none is taken, or if it is recorded already."""
    returned: Decimal
    """What came back after a dispute that was won or cancelled."""

    def state(self, current: DisputeState) -> DisputeState:
        """Our state of the dispute. What the provider does not tell clearly leaves the current one."""
        dispute = self.dispute
        if dispute.outcome is DisputeOutcome.OPEN:
            return OPEN_STATES.get(dispute.status, current)
        if dispute.outcome is DisputeOutcome.UNKNOWN:
            log.error("a dispute was closed without a result", dispute=dispute.id, code=dispute.result_code)
        return ENDS.get(dispute.outcome, current)


async def read_report(services: Services, id: str, row: DisputeRow | None) -> DisputeReport:
    """Read a dispute at the provider, with what of its money the stored row does not know yet."""
    provider = services.provider
    dispute = await provider.get_dispute(id)
    taken, returned = None, NOTHING
    if dispute.repudiation_id and (row is None or row.taken_on is None):
        found = await provider.get_transaction(TransactionKind.REPUDIATION, dispute.repudiation_id)
        taken = found if found.status is TransactionStatus.SUCCEEDED else None
    if dispute.repudiation_id and dispute.outcome in RETURNING and (row is None or row.returned_on is None):
        refunds = await provider.list_children(TransactionKind.REPUDIATION, dispute.repudiation_id)
        done = [each.amount.decimal for each in refunds if each.status is TransactionStatus.SUCCEEDED]
        returned = sum(done, NOTHING)
    return DisputeReport(dispute, taken, returned)

"""Findings and runs as those who run the installation see them over GraphQL, and as Prometheus does."""

from decimal import Decimal
from typing import Any

import pytest
from prometheus_client import REGISTRY

from resolvers.job.ledger_gauges import LEDGER, refresh_ledger_gauges
from resolvers.payment.reconciliation.findings import explain_reconciliation_finding
from schema.reconciliation import ReconciliationFindingKind as Kind
from schema.reconciliation import ReconciliationFindingState as State
from schema.reconciliation import ReconciliationRunState
from store.core.clock import clock
from store.reconciliation.rows import ReconciliationFindingRow, ReconciliationRunRow
from tests.changes import Transport
from tests.fixtures.tenants import EVERYBODY, Tenants

FINDINGS = """
query F($filter: ReconciliationFindingFilter, $orderBy: ReconciliationFindingSort) {
  reconciliationFindings(filter: $filter, orderBy: $orderBy) {
    nodes { id kind state subject detail reason firstSeenOn lastSeenOn suspendedOn closedOn marketplace { name }
      reported { amount currency } recorded { amount currency } }
    totalCount
  }
}
"""
RUNS = """
query R($filter: ReconciliationRunFilter) {
  reconciliationRuns(filter: $filter) { nodes { id state since until finishedOn movements detail } totalCount }
}
"""
EXPLAIN = """
mutation E($input: ExplainReconciliationFindingInput!) {
  explainReconciliationFinding(input: $input) { reconciliationFinding { id state reason } userErrors { code } }
}
"""
OTHERS = [who for who in (*EVERYBODY, None) if who != "master"]


async def finding(tenants: Tenants, kind: Kind, subject: str, state: State = State.OPEN, **more: Any) -> int:
    """A finding; its id."""
    now = clock.now()
    row = ReconciliationFindingRow(
        kind=kind, state=state, subject=subject, currency="EUR", first_seen_on=now, last_seen_on=now, **more
    )
    async with tenants.services.db.sessions() as db, db.begin():
        db.add(row)
    return row.id


async def run(tenants: Tenants, state: ReconciliationRunState) -> int:
    """A run; its id."""
    now = clock.now()
    row = ReconciliationRunRow(state=state, since=now, until=now, sent_at=now, movements=7)
    async with tenants.services.db.sessions() as db, db.begin():
        db.add(row)
    return row.id


async def listed(tenants: Tenants, **asked: Any) -> Any:
    """Findings as the master lists them."""
    answer = await tenants.graphql("master", FINDINGS, **asked)
    assert "errors" not in answer, answer
    return answer["data"]["reconciliationFindings"]


async def test_findings_are_listed_with_what_is_known(tenants: Tenants) -> None:
    market = tenants.marketplaces["a"]
    here = await finding(
        tenants, Kind.MISSING_HERE, "xfer_1", marketplace_id=market.id, provider_amount=Decimal("12.50"), detail="A."
    )
    wallet = await finding(tenants, Kind.BALANCE, "FEES_EUR", State.EXPLAINED, own_amount=Decimal(3), reason="Known.")
    page = await listed(tenants)
    assert [each["id"] for each in page["nodes"]] == [wallet, here]
    assert page["totalCount"] == 2
    newest, oldest = page["nodes"]
    assert (oldest["kind"], oldest["state"], oldest["subject"], oldest["detail"]) == (
        "MISSING_HERE",
        "OPEN",
        "xfer_1",
        "A.",
    )
    assert (oldest["reported"], oldest["recorded"]) == ({"amount": "12.50", "currency": "EUR"}, None)
    assert oldest["marketplace"] == {"name": market.name}
    assert (newest["recorded"], newest["reason"], newest["marketplace"]) == (
        {"amount": "3.00", "currency": "EUR"},
        "Known.",
        None,
    )


async def test_findings_are_filtered(tenants: Tenants) -> None:
    market = tenants.marketplaces["a"]
    one = await finding(tenants, Kind.MISSING_HERE, "xfer_1", marketplace_id=market.id)
    two = await finding(tenants, Kind.DIFFERS, "xfer_1", State.RESOLVED)
    three = await finding(tenants, Kind.BALANCE, "FEES_EUR")
    later = clock.now().isoformat()
    for filter, found in (
        ({"state": "OPEN"}, [three, one]),
        ({"kinds": ["DIFFERS", "BALANCE"]}, [three, two]),
        ({"subject": "xfer_1"}, [two, one]),
        ({"marketplaceUuid": str(market.uuid)}, [one]),
        ({"firstSeenUntil": later}, [three, two, one]),
        ({"firstSeenFrom": "2199-01-01T00:00:00Z"}, []),
    ):
        assert [each["id"] for each in (await listed(tenants, filter=filter))["nodes"]] == found, filter
    oldest_first = await listed(tenants, orderBy="OLDEST")
    assert [each["id"] for each in oldest_first["nodes"]] == [one, two, three]


async def test_runs_are_listed(tenants: Tenants) -> None:
    done = await run(tenants, ReconciliationRunState.DONE)
    failed = await run(tenants, ReconciliationRunState.FAILED)
    answer = await tenants.graphql("master", RUNS)
    assert [(each["id"], each["movements"]) for each in answer["data"]["reconciliationRuns"]["nodes"]] == [
        (failed, 7),
        (done, 7),
    ]
    only = await tenants.graphql("master", RUNS, filter={"state": "DONE"})
    assert only["data"]["reconciliationRuns"]["totalCount"] == 1


@pytest.mark.parametrize("who", OTHERS)
async def test_nobody_else_sees_or_explains_them(tenants: Tenants, who: str | None) -> None:
    id = await finding(tenants, Kind.MISSING_HERE, "xfer_1", marketplace_id=tenants.marketplaces["a"].id)
    before = await tenants.snapshot()
    for document, asked in ((FINDINGS, {}), (RUNS, {}), (EXPLAIN, {"input": {"id": id, "reason": "Mine."}})):
        answer = await tenants.graphql(who, document, **asked)
        code = answer["errors"][0]["extensions"]["code"]
        assert code == ("UNAUTHENTICATED" if who is None else "FORBIDDEN"), answer
    assert await tenants.snapshot() == before


async def test_a_finding_is_explained_once_and_with_a_reason(tenants: Tenants, ask: Transport) -> None:
    id = await finding(tenants, Kind.DIFFERS, "xfer_1")
    for wrong in ({"reason": ""}, {"reason": "  "}, {"reason": "x" * 501}, {"reason": "It is so.", "id": id + 1}):
        before = await tenants.snapshot()
        refused = await ask.change("master", explain_reconciliation_finding, **{"id": id, **wrong})
        assert not refused.done, wrong
        assert await tenants.snapshot() == before
    assert (await ask.change("master", explain_reconciliation_finding, id=id, reason="It is so.")).done
    again = await ask.change("master", explain_reconciliation_finding, id=id, reason="Another reason.")
    assert [code for _, code in again.wrong] == ["INVALID_TRANSITION"]
    [row] = await tenants.rows("SELECT state, reason FROM reconciliation_finding")
    assert tuple(row) == ("explained", "It is so.")


async def test_prometheus_is_told_what_is_open(tenants: Tenants) -> None:
    await finding(tenants, Kind.MISSING_HERE, "xfer_1")
    await finding(tenants, Kind.MISSING_HERE, "xfer_2", State.EXPLAINED)
    value = REGISTRY.get_sample_value
    try:
        await run(tenants, ReconciliationRunState.DONE)
        await refresh_ledger_gauges(tenants.services.db)
        assert value("coffret_reconciliation_findings", {"kind": "missing_here"}) == 1
        assert value("coffret_reconciliation_findings", {"kind": "balance"}) == 0
        assert clock.now().timestamp() - (value("coffret_reconciled_timestamp_seconds") or 0) < 60
    finally:
        LEDGER.state = None
    assert value("coffret_reconciliation_findings", {"kind": "missing_here"}) is None

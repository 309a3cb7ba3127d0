"""Prometheus gauges of the ledger: its last proof, and the last reconciliation with the provider. They are read from the
database, so every process reports the same.
"""

import asyncio
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import structlog
from prometheus_client import REGISTRY, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from resolvers.job.metrics import READ_TIMEOUT
from schema.core.errors import Unavailable
from schema.reconciliation import ReconciliationFindingKind
from store.database.db import Database
from store.ledger.rows import LedgerFindingRow
from store.ledger.verification.run import last_results
from store.reconciliation.comparison import count_open_findings
from store.reconciliation.rows import ReconciliationRunRow, last_reconciliation

log = structlog.get_logger(__name__)
CACHE_SECONDS = 60
"""Proof and reconciliation are made once a night."""


@dataclass(frozen=True, slots=True)
class LedgerState:
    """What the nights have found."""

    proof: Sequence[LedgerFindingRow]
    """Empty before the first proof."""
    reconciliation: ReconciliationRunRow | None
    """The last one that was done; None before the first."""
    findings: Mapping[ReconciliationFindingKind, int]
    """How many of each kind are open."""


class LedgerGauges(Collector):
    """The state last read; None if it could not be read."""

    def __init__(self) -> None:
        self.state: LedgerState | None = None

    def collect(self) -> Iterator[Metric]:
        """The gauges; of what was not done yet, none."""
        if self.state is not None and self.state.proof:
            yield from _of_proof(self.state.proof)
        if self.state is not None and self.state.reconciliation is not None:
            yield from _of_reconciliation(self.state.reconciliation, self.state.findings)


def _of_proof(rows: Sequence[LedgerFindingRow]) -> Iterator[Metric]:
    findings = GaugeMetricFamily(
        "coffret_ledger_findings", "Rows that break a rule of the ledger, by the last proof.", labels=["rule"]
    )
    for row in rows:
        findings.add_metric([row.rule], row.offenders)
    yield findings
    yield GaugeMetricFamily(
        "coffret_ledger_verified_timestamp_seconds",
        "Unix time of the last proof of the ledger.",
        min(row.checked_on for row in rows).timestamp(),
    )
    yield GaugeMetricFamily(
        "coffret_ledger_verified_seconds",
        "How long the last proof of the ledger took.",
        sum(row.milliseconds for row in rows) / 1000,
    )


def _of_reconciliation(run: ReconciliationRunRow, open: Mapping[ReconciliationFindingKind, int]) -> Iterator[Metric]:
    findings = GaugeMetricFamily(
        "coffret_reconciliation_findings",
        "What the payment provider and the ledger disagree about, and nobody has explained.",
        labels=["kind"],
    )
    for kind, count in open.items():
        findings.add_metric([kind.value], count)
    yield findings
    yield GaugeMetricFamily(
        "coffret_reconciled_timestamp_seconds",
        "Unix time until which the movements at the payment provider were compared with the ledger.",
        run.until.timestamp(),
    )


LEDGER = LedgerGauges()
REGISTRY.register(LEDGER)
_read_at: WeakKeyDictionary[Database, float] = WeakKeyDictionary()


async def refresh_ledger_gauges(db: Database) -> None:
    """Read the state for the gauges. After two seconds, or on an error, they are left out; nothing is raised."""
    now = time.monotonic()
    if now - _read_at.get(db, -CACHE_SECONDS) < CACHE_SECONDS:
        return
    _read_at[db] = now
    try:
        async with asyncio.timeout(READ_TIMEOUT), db.read_sessions() as session:
            LEDGER.state = LedgerState(
                await last_results(session), await last_reconciliation(session), await count_open_findings(session)
            )
    except (TimeoutError, SQLAlchemyError, Unavailable) as error:
        LEDGER.state = None
        log.warning("the findings of the ledger could not be read", error=f"{type(error).__name__}: {error}")

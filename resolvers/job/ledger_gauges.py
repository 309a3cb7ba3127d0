"""Prometheus gauges of the ledger's last proof. They are read from the database, so every process reports the same."""

import asyncio
import time
from collections.abc import Iterator, Sequence
from weakref import WeakKeyDictionary

import structlog
from prometheus_client import REGISTRY, Metric
from prometheus_client.core import GaugeMetricFamily
from prometheus_client.registry import Collector
from sqlalchemy.exc import SQLAlchemyError

from resolvers.job.metrics import READ_TIMEOUT
from schema.core.errors import Unavailable
from store.database.db import Database
from store.ledger.rows import LedgerFindingRow
from store.ledger.verification.run import last_results

log = structlog.get_logger(__name__)
CACHE_SECONDS = 60
"""A proof is made once a night."""


class LedgerGauges(Collector):
    """The results last read; None if they could not be read, and empty before the first proof."""

    def __init__(self) -> None:
        self.rows: Sequence[LedgerFindingRow] | None = None

    def collect(self) -> Iterator[Metric]:
        """The gauges; none before the first proof."""
        if not self.rows:
            return
        findings = GaugeMetricFamily(
            "coffret_ledger_findings", "Rows that break a rule of the ledger, by the last proof.", labels=["rule"]
        )
        for row in self.rows:
            findings.add_metric([row.rule], row.offenders)
        yield findings
        yield GaugeMetricFamily(
            "coffret_ledger_verified_timestamp_seconds",
            "Unix time of the last proof of the ledger.",
            min(row.checked_on for row in self.rows).timestamp(),
        )
        yield GaugeMetricFamily(
            "coffret_ledger_verified_seconds",
            "How long the last proof of the ledger took.",
            sum(row.milliseconds for row in self.rows) / 1000,
        )


LEDGER = LedgerGauges()
REGISTRY.register(LEDGER)
_read_at: WeakKeyDictionary[Database, float] = WeakKeyDictionary()


async def refresh_ledger_gauges(db: Database) -> None:
    """Read the last proof for the gauges. After two seconds, or on an error, they are left out; nothing is raised."""
    now = time.monotonic()
    if now - _read_at.get(db, -CACHE_SECONDS) < CACHE_SECONDS:
        return
    _read_at[db] = now
    try:
        async with asyncio.timeout(READ_TIMEOUT), db.read_sessions() as session:
            LEDGER.rows = await last_results(session)
    except (TimeoutError, SQLAlchemyError, Unavailable) as error:
        LEDGER.rows = None
        log.warning("the findings of the ledger could not be read", error=f"{type(error).__name__}: {error}")

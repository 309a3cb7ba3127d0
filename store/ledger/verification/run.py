"""Proves the ledger: runs all rules on one snapshot of the database.

A rule of another domain is a `Rule` in a module beside this one, and its `RULES` a line of `ALL_RULES`.
"""

import asyncio
import datetime as dt
import time
from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import cache
from typing import Any

from sqlalchemy import TextClause, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import Unavailable
from schema.ledger import LedgerAccountRole as Role
from store.database.db import Database
from store.ledger.accounts import LedgerAccount
from store.ledger.rows import LedgerFindingRow
from store.ledger.verification import (
    balances,
    gift_card_payments,
    gift_cards,
    invoices,
    journals,
    network_gift_cards,
    network_vouchers,
    networks,
    owners,
    partner_shares,
    payables,
    payments,
    payouts,
)
from store.ledger.verification.rule import Rule, RuleResult

ALL_RULES: tuple[Rule, ...] = (
    *journals.RULES,
    *balances.RULES,
    *gift_cards.RULES,
    *owners.RULES,
    *partner_shares.RULES,
    *payables.RULES,
    *payments.RULES,
    *gift_card_payments.RULES,
    *network_gift_cards.RULES,
    *networks.RULES,
    *network_vouchers.RULES,
    *payouts.RULES,
    *invoices.RULES,
)
CONNECTIONS = 2
"""How many connections prove at a time: what is sorted keeps one processor, and the other work of the server needs some."""
PATIENCE = 0.5
"""Seconds to wait for a second connection of the pool; without it, the proof takes longer."""
SAMPLE = 10
"""How many offenders of a rule are told in words."""
SETTINGS = (
    "SET LOCAL work_mem = '128MB'",
    "SET LOCAL enable_nestloop = off",
    "SET LOCAL parallel_tuple_cost = 0.001",
)
"""Rules read whole tables: they are sorted and joined in memory, whatever statistics say of tables that have just grown, and
digested by several processors, which the planner takes for cheap.
"""


@dataclass(frozen=True, slots=True)
class ProofScope:
    """What is to be proved; by default everything.

    The rule of seals always reads everything, as its chain has no beginning elsewhere.
    """

    books: tuple[int, ...] | None = None
    """Only journals and accounts of the books with these ids."""
    since: dt.date | None = None
    """Only journals since this accounting date, and accounts that they have moved."""


async def verify_ledger(
    db: Database, now: dt.datetime, scope: ProofScope | None = None, rules: Sequence[Rule] = ALL_RULES
) -> list[RuleResult]:
    """Check all rules on one snapshot; nothing is locked or written. `now` decides what is late."""
    chosen = scope or ProofScope()
    values = {"books": None if chosen.books is None else list(chosen.books), "since": chosen.since, "now": now}
    results: dict[Rule, RuleResult] = {}
    waiting = iter(_batches(rules))
    async with db.engine.connect() as first:
        await _begin(first)
        snapshot = (await first.execute(text("SELECT pg_export_snapshot()"))).scalar_one()
        helpers = [_help(db, snapshot, waiting, values | _plan(), results) for _ in range(CONNECTIONS - 1)]
        await _all(_check(first, waiting, values | _plan(), results), *helpers)
    return [results[rule] for rule in rules]


def _batches(rules: Sequence[Rule]) -> list[list[Rule]]:
    """The rules of each statement: those that share a reading, at first, as they take longest; and each of the others."""
    by_reading: dict[object, list[Rule]] = {}
    for rule in rules:
        by_reading.setdefault(rule.reads or rule, []).append(rule)
    return sorted(by_reading.values(), key=len, reverse=True)


async def _begin(connection: AsyncConnection, snapshot: str | None = None) -> None:
    await connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
    if snapshot is not None:
        await connection.execute(text(f"SET TRANSACTION SNAPSHOT '{snapshot}'"))
    for setting in SETTINGS:
        await connection.execute(text(setting))


async def _help(
    db: Database,
    snapshot: str,
    waiting: Iterator[list[Rule]],
    values: Mapping[str, Any],
    results: dict[Rule, RuleResult],
) -> None:
    """Check some of the batches over a connection of its own, if there is one, on the snapshot of the first."""
    async with _spare_connection(db) as connection:
        if connection is not None:
            await _begin(connection, snapshot)
            await _check(connection, waiting, values, results)


@asynccontextmanager
async def _spare_connection(db: Database) -> AsyncIterator[AsyncConnection | None]:
    connection = None
    try:
        async with asyncio.timeout(PATIENCE):
            connection = await db.engine.connect()
    except (TimeoutError, Unavailable):  # of the pool, or of the server
        yield None
        return
    try:
        yield connection
    finally:
        await connection.close()


async def _all(*parts: Coroutine[Any, Any, None]) -> None:
    """Wait for all of them. If one fails, the others end before its error is raised."""
    tasks = [asyncio.create_task(part) for part in parts]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def _check(
    connection: AsyncConnection,
    waiting: Iterator[list[Rule]],
    values: Mapping[str, Any],
    results: dict[Rule, RuleResult],
) -> None:
    """Check batches until none is waiting."""
    for batch in waiting:
        results |= await _check_batch(connection, batch, values)


async def _check_batch(
    connection: AsyncConnection, rules: Sequence[Rule], values: Mapping[str, Any]
) -> dict[Rule, RuleResult]:
    begun = time.monotonic()
    rows = (await connection.execute(_statement(tuple(rules)), values)).all()
    milliseconds = round((time.monotonic() - begun) * 1000 / len(rules))
    found: dict[Rule, RuleResult] = {}
    for place, rule in enumerate(rules):
        offenders = [row for row in rows if row.place == place]
        sample = tuple(row.offender for row in offenders)
        found[rule] = RuleResult(rule, offenders[0].offenders if offenders else 0, sample, milliseconds)
    return found


@cache
def _statement(rules: tuple[Rule, ...]) -> TextClause:
    """SQL that finds what breaks rules that share a reading, or one rule."""
    reading = rules[0].reads
    shared = f"WITH {reading.name} AS MATERIALIZED ({reading.select})" if reading else ""
    parts = (
        f"(SELECT {place} AS place, offender, count(*) OVER () AS offenders FROM ({rule.offenders}) o LIMIT {SAMPLE})"  # noqa: S608 - of SQL in this package
        for place, rule in enumerate(rules)
    )
    return text(f"{shared} {' UNION ALL '.join(parts)}")


def _plan() -> dict[str, Any]:
    """The side and the floor of each role, as arrays."""
    accounts = [LedgerAccount(role) for role in Role]
    return {
        "roles": [account.role.value for account in accounts],
        "sides": [account.side for account in accounts],
        "floors": [account.has_floor for account in accounts],
    }


async def record_results(db: AsyncSession, results: Sequence[RuleResult], now: dt.datetime) -> None:
    """Store the results for metrics and operators, in place of the last ones."""
    await db.exec(text("DELETE FROM ledger_finding"))  # type: ignore[call-overload]  # SQLModel types only its own selects
    rows = [
        {
            "rule": result.rule.name,
            "checked_on": now,
            "milliseconds": result.milliseconds,
            "offenders": result.offenders,
            "sample": list(result.sample),
        }
        for result in results
    ]
    await db.exec(insert(LedgerFindingRow).values(rows))


async def last_results(db: AsyncSession) -> Sequence[LedgerFindingRow]:
    """The results that were stored last, in the order of the rules."""
    order = {rule.name: place for place, rule in enumerate(ALL_RULES)}
    rows = (await db.exec(select(LedgerFindingRow).order_by(col(LedgerFindingRow.rule)))).all()
    return sorted(rows, key=lambda row: order.get(row.rule, len(order)))

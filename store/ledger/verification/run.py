"""Proves the ledger: runs all rules on one snapshot of the database.

A rule of another domain is a `Rule` in a module beside this one, and its `RULES` a line of `ALL_RULES`.
"""

import datetime as dt
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.ext.asyncio import AsyncConnection
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

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
    *payables.RULES,
    *payments.RULES,
    *gift_card_payments.RULES,
    *network_gift_cards.RULES,
    *networks.RULES,
    *network_vouchers.RULES,
    *payouts.RULES,
    *invoices.RULES,
)
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
    async with db.engine.connect() as connection:
        await connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
        for setting in SETTINGS:
            await connection.execute(text(setting))
        chosen = scope or ProofScope()
        values = {"books": None if chosen.books is None else list(chosen.books), "since": chosen.since, "now": now}
        return [await _check_rule(connection, rule, values | _plan()) for rule in rules]


async def _check_rule(connection: AsyncConnection, rule: Rule, values: dict[str, Any]) -> RuleResult:
    statement = text(f"SELECT offender, count(*) OVER () AS offenders FROM ({rule.offenders}) o LIMIT {SAMPLE}")  # noqa: S608 - of SQL in this package
    begun = time.monotonic()
    rows = (await connection.execute(statement, values)).all()
    milliseconds = round((time.monotonic() - begun) * 1000)
    return RuleResult(rule, rows[0].offenders if rows else 0, tuple(row.offender for row in rows), milliseconds)


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

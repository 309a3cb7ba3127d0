"""The ledger: journals, statements of partners, the nightly proof, and its upkeep."""

import datetime as dt
import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated

import structlog
from pydantic import Field

from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from resolvers.core.operation import Call, operation
from resolvers.core.services import Services
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput
from schema.core.inputs import graphql_input_for
from schema.core.message_names import TemplatedMessage
from schema.core.money import Money
from schema.core.permission import Permission
from schema.ledger import (
    LedgerEntry,
    LedgerFinding,
    LedgerJournal,
    LedgerJournalKind,
    PartnerStatement,
    PartnerStatementLine,
)
from schema.partner.partner import Partner
from store.ledger.balances import fold_snapshots
from store.ledger.journals import JournalEntry, entries_of
from store.ledger.seals import seal_entries
from store.ledger.statements import EarningsStatement, StatementPeriod, StatementTooLong, earnings_statements
from store.ledger.verification.run import ALL_RULES, last_results, record_results, verify_ledger
from store.providers.money import MinorAmount

log = structlog.get_logger(__name__)
STATEMENT_LINES = 5000
"""The most lines of a statement."""


@graphql_enum
class LedgerJournalSort(DescribedEnum):
    """Sort order of journals."""

    NEWEST = "-effective_on", "By accounting date, the newest first."
    OLDEST = "effective_on", "By accounting date, the oldest first."


@graphql_input_for(LedgerJournal)
class LedgerJournalFilter(OfPartner):
    """Filter for journals. Periods include both ends."""

    kinds: Annotated[list[LedgerJournalKind] | None, Where("kind", "in")] = Field(
        default=None, description="Only these business events."
    )
    source_kind: Annotated[str | None, Where("source_kind")] = None
    source_id: Annotated[str | None, Where("source_id")] = None
    effective_from: Annotated[dt.date | None, Where("effective_on", ">=")] = Field(
        default=None, description="Only journals with this accounting date or a later one."
    )
    effective_until: Annotated[dt.date | None, Where("effective_on", "<=")] = Field(
        default=None, description="Only journals with this accounting date or an earlier one."
    )


ledger_journals = Listing(
    LedgerJournal,
    LedgerJournalFilter,
    LedgerJournalSort,
    Permission.VIEW_WALLET,
    "The journals of the ledger visible to you: those about your money, newest first.",
)
ledger_journal = Lookup(LedgerJournal, "id", "journal", Permission.VIEW_WALLET, "A journal of the ledger by its id.")


@computes(LedgerJournal, "entries")
async def entries_of_journals(context: Context, ids: Sequence[int]) -> Mapping[int, list[LedgerEntry]]:
    """The entries of journals."""
    async with context.db.read_sessions() as db:
        entries = await entries_of(db, ids)
    return {id: list(map(_entry, entries[id])) for id in ids}


def _entry(entry: JournalEntry) -> LedgerEntry:
    return LedgerEntry(
        role=entry.role,
        owner=entry.owner,
        debit=_money(entry.debit),
        credit=_money(entry.credit),
        balance_after=_money(entry.balance),
    )


def _money(amount: MinorAmount | None) -> Money | None:
    return None if amount is None else _amount(amount)


def _amount(amount: MinorAmount) -> Money:
    return Money(amount=amount.decimal, currency=amount.currency)


@computes(Partner, "statement")
async def statements_of_partners(
    context: Context, ids: Sequence[int], *, first_day: dt.date, last_day: dt.date, is_live: bool
) -> Mapping[int, PartnerStatement]:
    """The statements of partners over a period."""
    if last_day < first_day:
        raise InvalidInput.at("to", "Send a day that is not before `from`.")
    period = StatementPeriod(first_day, last_day, is_live)
    try:
        async with context.db.read_sessions() as db:
            statements = await earnings_statements(db, ids, period, STATEMENT_LINES)
    except StatementTooLong as error:
        told = TemplatedMessage(
            "The statement would have more than {most} lines: ask for a shorter period.", most=STATEMENT_LINES
        )
        raise InvalidInput.at("from", told) from error
    return {id: _statement(statement) for id, statement in statements.items()}


def _statement(statement: EarningsStatement) -> PartnerStatement:
    lines = [
        PartnerStatementLine(
            effective_on=line.effective_on,
            journal_id=line.journal_id,
            kind=line.kind,
            source_kind=line.source_kind,
            source_id=line.source_id,
            debit=_amount(MinorAmount(line.change.currency, -line.change.minor)) if line.change.minor < 0 else None,
            credit=_amount(line.change) if line.change.minor > 0 else None,
            balance=_amount(line.balance),
        )
        for line in statement.lines
    ]
    return PartnerStatement(opening=_amount(statement.opening), closing=_amount(statement.closing), lines=lines)


@operation(Permission.MANAGE_MASTERADMIN)
async def ledger_findings(call: Call) -> list[LedgerFinding]:
    """What the last nightly proof of the ledger found, rule by rule; empty before the first one."""
    titles = {rule.name: rule.title for rule in ALL_RULES}
    return [
        LedgerFinding(
            rule=row.rule,
            title=titles.get(row.rule, ""),
            checked_on=row.checked_on,
            offenders=row.offenders,
            sample=row.sample,
        )
        for row in await last_results(call.db)
    ]


async def verify(services: Services) -> int:
    """Prove the whole ledger, and store what was found for operators and metrics; returns the number of offenders."""
    results = await verify_ledger(services.db, services.clock.now())
    async with services.db.sessions() as db, db.begin():
        await record_results(db, results, services.clock.now())
    for result in itertools.filterfalse(lambda each: each.holds, results):
        log.error("the ledger breaks a rule", rule=result.rule.name, offenders=result.offenders, sample=result.sample)
    return sum(result.offenders for result in results)


async def fold(services: Services) -> int:
    """Fold final entries into snapshots; returns the number of accounts."""
    async with services.db.sessions() as db, db.begin():
        return await fold_snapshots(db)


async def seal(services: Services) -> int:
    """Seal final entries; returns their number."""
    async with services.db.sessions() as db, db.begin():
        return await seal_entries(db)

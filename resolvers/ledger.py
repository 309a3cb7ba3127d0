"""The ledger: journals, statements of partners, the nightly proof, and its upkeep."""

import datetime as dt
import itertools
from collections.abc import Mapping, Sequence
from typing import Annotated
from uuid import UUID

import strawberry
import structlog
from pydantic import Field

from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.filters import OfPartner, Where
from resolvers.core.input_mapping import owner_of
from resolvers.core.listing import Listing
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible
from resolvers.core.services import Services
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.errors import InvalidInput
from schema.core.inputs import graphql_input_for
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
from store.ledger.balances import fold_snapshots
from store.ledger.journals import JournalEntry, entries_of
from store.ledger.seals import seal_entries
from store.ledger.statements import EarningsStatement, StatementTooLong, earnings_statements
from store.ledger.verification.run import ALL_RULES, last_results, record_results, verify_ledger
from store.partner.partners import PartnerRow
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


@operation(Permission.VIEW_WALLET)
async def partner_statements(
    call: Call,
    effective_from: Annotated[dt.date, strawberry.argument(description="The first accounting date.")],
    effective_until: Annotated[dt.date, strawberry.argument(description="The last accounting date.")],
    partner_uuid: Annotated[
        UUID | None, strawberry.argument(description="The uuid of the partner; a partner's own users may omit it.")
    ] = None,
) -> list[PartnerStatement]:
    """The statements of a partner's earnings over a period: one for each book, with the balance before and after it.

    A period with more than 5,000 lines is refused: ask for a shorter one.
    """
    if partner_uuid is None:
        partner = await owner_of(call, None)
    else:
        partner = await find_visible(call.db, call.caller, PartnerRow, "partner", uuid=partner_uuid)
    try:
        statements = await earnings_statements(call.db, partner.id, effective_from, effective_until, STATEMENT_LINES)
    except StatementTooLong as error:
        told = f"The statement would have more than {STATEMENT_LINES} lines: ask for a shorter period."
        raise InvalidInput.at("effective_from", told) from error
    return list(map(_statement, statements))


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
    opening, closing = _amount(statement.opening), _amount(statement.closing)
    return PartnerStatement(is_live=statement.is_live, opening=opening, closing=closing, lines=lines)


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

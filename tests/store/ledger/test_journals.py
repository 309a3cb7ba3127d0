"""Journals are found by their source, by the beginning of it, and by the owner of an account."""

from uuid import UUID

from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.ledger.accounts import LedgerAccount
from store.ledger.journals import LedgerSubject, entries_of, journals_of
from tests.fixtures.ledger import COMMISSION, FEES, Ledger

REFUND = UUID(int=9)


async def found_by(ledger: Ledger, *subjects: LedgerSubject) -> list[list[str]]:
    """The sources of the journals about each subject."""
    async with ledger.db.sessions() as session:
        journals = await journals_of(session, dict(enumerate(subjects)))
    return [[journal.source_id for journal in journals[n]] for n in range(len(subjects))]


async def test_journals_are_found_by_what_they_are_about(ledger: Ledger) -> None:
    due = LedgerAccount(Role.REFUND_DUE, owner_uuid=REFUND)
    held = LedgerAccount(Role.PARTNER_HELD, ledger.partner_id, UUID(int=10))
    await ledger.post(
        ledger.earned(100, source="a"),
        ledger.earned(100, source="a:1"),
        ledger.earned(100, source="a1"),
        ledger.earned(100, source="a", source_kind="other"),
        ledger.journal((ledger.earnings, 20), (due, -20), source="refund", kind=Kind.REFUND),
        ledger.journal((due, 20), (FEES, -20), source="paid", kind=Kind.REFUND_PAID),
        ledger.journal((ledger.earnings, 5), (held, -5), source="dispute", kind=Kind.DISPUTE),
    )
    assert await found_by(
        ledger,
        LedgerSubject(sources=(("test", "a"),)),
        LedgerSubject(sources=(("other", "a"), ("test", "a1"))),
        LedgerSubject(accounts=(due,)),
        LedgerSubject(sources=(("test", "a"),), accounts=(due,)),
        LedgerSubject(accounts=(LedgerAccount(Role.PARTNER_HELD, ledger.partner_id),)),
        LedgerSubject(accounts=(LedgerAccount(Role.PARTNER_HELD, ledger.partner_id, UUID(int=11)),)),
        LedgerSubject(),
    ) == [["a", "a:1"], ["a1", "a"], ["refund", "paid"], ["a", "a:1", "refund", "paid"], ["dispute"], [], []]
    assert await found_by(ledger) == []


async def test_entries_tell_debit_credit_and_balance(ledger: Ledger) -> None:
    await ledger.post(ledger.earned(100, source="one"))
    (id,) = (row[0] for row in await ledger.rows("SELECT id FROM ledger_journal WHERE source_id = 'one'"))
    async with ledger.db.sessions() as session:
        entries = (await entries_of(session, [id]))[id]
    assert [entry.role for entry in entries] == [FEES.role, Role.PARTNER, COMMISSION.role]
    assert [
        (e.debit and e.debit.minor, e.credit and e.credit.minor, e.balance and e.balance.minor) for e in entries
    ] == [
        (100, None, None),
        (None, 90, 90),
        (None, 10, None),
    ]

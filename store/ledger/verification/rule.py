"""What a rule of the proof is: a name, a sentence, and one statement that finds what breaks it."""

from dataclasses import dataclass

JOURNALS = """(
    SELECT * FROM ledger_journal WHERE (CAST(:books AS int[]) IS NULL OR book_id = ANY(CAST(:books AS int[])))
        AND (CAST(:since AS date) IS NULL OR effective_on >= CAST(:since AS date))
)"""
"""SQL: the journals to check."""
ACCOUNTS = """(
    SELECT * FROM ledger_account WHERE (CAST(:books AS int[]) IS NULL OR book_id = ANY(CAST(:books AS int[])))
        AND (CAST(:since AS date) IS NULL OR id IN (
            SELECT e.account_id FROM ledger_entry e JOIN ledger_journal j ON j.id = e.journal_id
            WHERE j.effective_on >= CAST(:since AS date)))
)"""
"""SQL: the accounts to check: those that a journal to check has moved."""

MINOR = "(({amount}) * 10::numeric ^ b.minor_digits)::bigint"
"""SQL: an amount of a row in minor units of the book `b`."""


def is_checked(book_id: str, moved_on: str) -> str:
    """SQL: true of what is of a book to check, and has moved in the period to check."""
    return f"""(CAST(:books AS int[]) IS NULL OR {book_id} = ANY(CAST(:books AS int[])))
        AND (CAST(:since AS date) IS NULL OR {moved_on} >= CAST(:since AS date))"""


def differences(offender: str, columns: str, rows: str, posted: str) -> str:
    """SQL: one text for each row that was not posted, and each journal that has no row.

    Both sides select `columns` and `is_checked`. In `offender`, `difference` is positive where a journal is missing.
    """
    return f"""
        SELECT {offender} AS offender FROM (
            SELECT {columns}, sum(n) AS difference FROM (
                SELECT *, 1 AS n FROM ({rows}) r UNION ALL SELECT *, -1 FROM ({posted}) j
            ) sides GROUP BY {columns} HAVING sum(n) <> 0 AND bool_or(is_checked)
        ) d
    """  # noqa: S608 - of SQL in this package


@dataclass(frozen=True, slots=True)
class Reading:
    """What several rules read of entries: it is made once for all of them, in one statement."""

    name: str
    """What the statements of rules call it."""
    select: str


@dataclass(frozen=True, slots=True)
class Rule:
    """A rule of the ledger."""

    name: str
    """In snake case: the label of the metric."""
    title: str
    """What must hold, as a sentence."""
    offenders: str
    """SQL that selects one text for each row that breaks it. It may read `:books`, `:since` and `:now`."""
    reads: Reading | None = None
    """What it shares with other rules."""


@dataclass(frozen=True, slots=True)
class RuleResult:
    """What a proof has found of a rule."""

    rule: Rule
    offenders: int
    """How many rows break it."""
    sample: tuple[str, ...]
    """Some of them, in words."""
    milliseconds: int
    """How long it took; rules that share a reading have equal parts of its time."""

    @property
    def holds(self) -> bool:
        return not self.offenders

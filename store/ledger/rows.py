"""The tables of the ledger. Journals and entries are written once; the database refuses to change them."""

import datetime as dt
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, Identity, Index, LargeBinary, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import JSONB
from sqlmodel import Field, SQLModel

from schema.core.columns import datetime_column, enum_column
from schema.ledger import LedgerAccountRole, LedgerJournal
from store.core.clock import now


class LedgerBookRow(SQLModel, table=True):
    """A book: the unit of proof. No journal touches two books.

    Test partners have books of their own, whose money never existed.
    """

    __tablename__ = "ledger_book"
    __table_args__ = (UniqueConstraint("marketplace_id", "currency", "is_live", name="ledger_book_key"),)
    id: int = Field(default=None, primary_key=True)
    marketplace_id: int = Field(foreign_key="marketplace.id")
    currency: str = Field(max_length=3)
    is_live: bool
    minor_digits: int
    """The decimals of the currency: 2 for EUR. Amounts of the ledger are integers in its smallest unit."""
    cards_checked_since: dt.datetime = datetime_column(
        "Since when no payment in it may be by a gift card of another book.",
        default_factory=now,
    )
    """Of a book that was there before this was refused, when it was migrated."""


class LedgerAccountRow(SQLModel, table=True):
    """An account. With a floor it keeps its balance, under its lock; without, its balance is the sum of its entries."""

    __tablename__ = "ledger_account"
    __table_args__ = (
        Index(
            "ledger_account_key",
            "book_id",
            "role",
            "owner_id",
            "owner_uuid",
            unique=True,
            postgresql_nulls_not_distinct=True,
        ),
        Index("ledger_account_owner_idx", "owner_id", "role"),
        Index("ledger_account_owner_uuid_idx", "owner_uuid", "role", postgresql_where=text("owner_uuid IS NOT NULL")),
        Index("ledger_account_partner_idx", "partner_id", "role"),
        CheckConstraint("NOT has_floor OR balance * side >= 0", name="floor"),
        CheckConstraint("side IN (1, -1)", name="side"),
        {"postgresql_with": {"fillfactor": 50}},
    )
    id: int = Field(default=None, sa_type=BigInteger, primary_key=True)
    book_id: int = Field(foreign_key="ledger_book.id")
    role: LedgerAccountRole = enum_column(LedgerAccountRole, "What it counts.")
    owner_id: int | None = Field(default=None, sa_type=BigInteger)
    owner_uuid: UUID | None = Field(default=None)
    partner_id: int | None = Field(default=None, foreign_key="partner.id")
    side: int
    has_floor: bool
    balance: int = Field(default=0, sa_type=BigInteger)
    """In minor units, debits positive; 0 without a floor."""
    version: int = Field(default=0, sa_type=BigInteger)
    """The number of its entries; 0 without a floor."""


class LedgerJournalRow(LedgerJournal, table=True):
    """A journal. Its source is its idempotency: the same event is never posted twice."""

    __tablename__ = "ledger_journal"
    __table_args__ = (
        Index(
            "ledger_journal_source_key",
            "source_kind",
            "source_id",
            "kind",
            "book_id",
            unique=True,
            postgresql_ops={"source_id": "text_pattern_ops"},
        ),
        Index(
            "ledger_journal_reverses_key",
            "reverses_id",
            unique=True,
            postgresql_where=text("reverses_id IS NOT NULL"),
        ),
        Index("ledger_journal_day_idx", "effective_on", "id"),
        Index("ledger_journal_marketplace_idx", "marketplace_id", "effective_on", "id"),
        Index("ledger_journal_partner_idx", "partner_id", "effective_on", "id"),
        Index(
            "ledger_journal_reported_idx",
            text("split_part(source_id, ':', 2)"),
            postgresql_where=text("kind IN ('payout_returned', 'settlement')"),
        ),
    )
    book_id: int = Field(foreign_key="ledger_book.id")
    marketplace_id: int = Field(foreign_key="marketplace.id")
    partner_id: int | None = Field(default=None, foreign_key="partner.id")
    lines: int
    """How many entries it has."""
    request_id: str = Field(default="", max_length=128)
    """The request or job that posted it: the audit log tells who that was."""
    reverses_id: int | None = Field(default=None, sa_type=BigInteger, foreign_key="ledger_journal.id")
    fingerprint: bytes = Field(sa_type=LargeBinary)
    """SHA-256 of its entries: tells a repetition from another event with the same source."""


class LedgerEntryRow(SQLModel, table=True):
    """An entry. `position` orders entries by transaction; all below a transaction that has begun are final.

    Its journal and its account are no foreign keys: those lock the row that they lead to, and all journals share some
    accounts. The trigger that sums entries checks them, and nothing deletes a journal or an account.
    """

    __tablename__ = "ledger_entry"
    __table_args__ = (
        Index("ledger_entry_account_idx", "account_id", "position", postgresql_include=["amount"]),
        Index(
            "ledger_entry_position_idx",
            "position",
            postgresql_using="brin",
            postgresql_with={"pages_per_range": 16, "autosummarize": True},
        ),
        CheckConstraint("amount <> 0", name="moves_something"),
    )
    journal_id: int = Field(sa_type=BigInteger, primary_key=True)
    line: int = Field(primary_key=True)
    account_id: int = Field(sa_type=BigInteger)
    amount: int = Field(sa_type=BigInteger)
    """In minor units; positive for a debit, negative for a credit."""
    balance_after: int | None = Field(default=None, sa_type=BigInteger)
    version: int | None = Field(default=None, sa_type=BigInteger)
    """The account's version after it; null, as the balance, for accounts without a floor."""
    position: int = Field(
        default=None, sa_type=BigInteger, sa_column_kwargs={"server_default": text("ledger_position()")}
    )


class LedgerSnapshotRow(SQLModel, table=True):
    """The balance of an account without a floor before a position, so that only later entries are summed."""

    __tablename__ = "ledger_snapshot"
    account_id: int = Field(sa_type=BigInteger, primary_key=True, foreign_key="ledger_account.id")
    before_position: int = Field(sa_type=BigInteger)
    balance: int = Field(sa_type=BigInteger)
    entries: int = Field(sa_type=BigInteger)


class LedgerSealRow(SQLModel, table=True):
    """A link of the chain that makes a later change of entries visible: a digest of the last seal and all entries since."""

    __tablename__ = "ledger_seal"
    n: int = Field(sa_type=BigInteger, primary_key=True, sa_column_args=(Identity(always=True),))
    before_position: int = Field(sa_type=BigInteger, unique=True)
    entries: int = Field(sa_type=BigInteger)
    digest: bytes = Field(sa_type=LargeBinary)
    sealed_on: dt.datetime = datetime_column("When it was made.", default_factory=now)


class LedgerShiftRow(SQLModel, table=True):
    """What is added to transaction ids in positions, so that they keep growing after a restore into another server."""

    __tablename__ = "ledger_shift"
    id: bool = Field(default=True, primary_key=True)
    shift: int = Field(sa_type=BigInteger)


class LedgerFindingRow(SQLModel, table=True):
    """What the nightly proof has found of each rule; replaced by the next one."""

    __tablename__ = "ledger_finding"
    rule: str = Field(max_length=40, primary_key=True)
    checked_on: dt.datetime = datetime_column("When it was checked.")
    milliseconds: int
    """How long the rule took."""
    offenders: int
    """How many there are."""
    sample: list[str] = Field(sa_type=JSONB)
    """Some of the offenders, in words."""

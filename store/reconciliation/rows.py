"""The tables of reconciliation: what the provider reports, each run, and what is found."""

import datetime as dt
from collections.abc import Sequence
from decimal import Decimal
from uuid import UUID, uuid4

from sqlalchemy import Index, UniqueConstraint, text
from sqlmodel import Field, SQLModel, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import amount_column, datetime_column, json_column
from schema.reconciliation import (
    ReconciliationFinding,
    ReconciliationFindingKind,
    ReconciliationFindingState,
    ReconciliationRun,
    ReconciliationRunState,
)
from store.core.provider_process import CheckedRow, ReferencedRow
from store.core.row import InCurrency


class ProviderMovementRow(SQLModel, table=True):
    """A movement that has succeeded at the provider, as its newest report tells it. Fees that are given back are negative."""

    __tablename__ = "provider_movement"
    __table_args__ = (Index("provider_movement_created_on_idx", "created_on"),)
    provider_id: str = Field(primary_key=True, max_length=128)
    kind: str = Field(max_length=20)
    """As `TransactionKind` names it; empty for a kind that we do not make."""
    currency: str = Field(max_length=3)
    credited_currency: str = Field(max_length=3)
    """Another one if money was converted."""
    debited_amount: Decimal = amount_column()
    credited_amount: Decimal = amount_column()
    fees_amount: Decimal = amount_column()
    debited_wallet_id: str | None = Field(default=None, max_length=128)
    credited_wallet_id: str | None = Field(default=None, max_length=128)
    created_on: dt.datetime = datetime_column("When it was created at the provider.")
    executed_on: dt.datetime = datetime_column("When the money moved.")


class ReconciliationRunRow(ReconciliationRun, CheckedRow, ReferencedRow, table=True):
    """A run, stored with the key of its report before that is requested. `provider_id` is that of the report.

    One is under way at a time.
    """

    __tablename__ = "reconciliation_run"
    __table_args__ = (
        Index("reconciliation_run_one_key", "state", unique=True, postgresql_where=text("state = 'requested'")),
        Index("reconciliation_run_until_idx", "until", "id"),
    )
    key: UUID = Field(default_factory=uuid4)
    sent_at: dt.datetime = datetime_column("When the key was stored.")
    tries: int = Field(default=0)
    """How many reports have failed."""
    balances_read_on: dt.datetime | None = datetime_column(
        "When the balances were read first; null before.", default=None, nullable=True
    )
    differences: dict[str, int] = json_column(
        "What wallets held beyond what the ledger counted then, in minor units, by the provider's id of the wallet.",
        default_factory=dict,
    )


class ReconciliationFindingRow(InCurrency, ReconciliationFinding, table=True):
    """A finding. There is one of a kind about each subject, however often it is found."""

    __tablename__ = "reconciliation_finding"
    __table_args__ = (
        UniqueConstraint("kind", "subject", name="reconciliation_finding_key"),
        Index("reconciliation_finding_state_list_idx", "state", "first_seen_on", "id"),
        Index("reconciliation_finding_newest_idx", "first_seen_on", "id"),
        Index("reconciliation_finding_first_seen_on_list_idx", "marketplace_id", "first_seen_on", "id"),
    )
    marketplace_id: int | None = Field(default=None, foreign_key="marketplace.id")


async def last_reconciliation(db: AsyncSession) -> ReconciliationRunRow | None:
    """The last reconciliation that was done."""
    table = ReconciliationRunRow
    query = select(table).where(col(table.state) == ReconciliationRunState.DONE).order_by(col(table.until).desc())
    return (await db.exec(query.limit(1))).first()


async def lock_run(db: AsyncSession, id: int) -> ReconciliationRunRow:
    """A run, locked and read again. It is locked before findings, and those before accounts of the ledger."""
    query = select(ReconciliationRunRow).where(col(ReconciliationRunRow.id) == id).with_for_update()
    return (await db.exec(query.execution_options(populate_existing=True))).one()


async def movements_of(db: AsyncSession, finding_ids: Sequence[int]) -> Sequence[ProviderMovementRow]:
    """The movements that these findings are about."""
    table, movement = ReconciliationFindingRow, ProviderMovementRow
    about = [ReconciliationFindingKind.MISSING_HERE, ReconciliationFindingKind.DIFFERS]
    query = (
        select(movement)
        .join(table, col(table.subject) == col(movement.provider_id))
        .where(col(table.id).in_(finding_ids), col(table.kind).in_(about))
        .order_by(col(movement.provider_id))
    )
    return (await db.exec(query)).all()


async def lock_missing_here(db: AsyncSession) -> Sequence[tuple[ReconciliationFindingRow, ProviderMovementRow]]:
    """The open findings of movements that are missing here, locked, each with its movement."""
    table, movement = ReconciliationFindingRow, ProviderMovementRow
    query = (
        select(table, movement)
        .join(movement, col(movement.provider_id) == col(table.subject))
        .where(
            col(table.kind) == ReconciliationFindingKind.MISSING_HERE,
            col(table.state) == ReconciliationFindingState.OPEN,
        )
        .order_by(col(table.subject))
        .with_for_update(of=table)
    )
    return (await db.exec(query.execution_options(populate_existing=True))).all()

"""The tables of invoices. What is written to them is never changed but for `credited_amount`."""

import datetime as dt
from collections import defaultdict
from collections.abc import Collection, Iterable
from decimal import Decimal
from uuid import UUID

from sqlalchemy import BigInteger, CheckConstraint, Index, Numeric, UniqueConstraint, text
from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Field, SQLModel, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.columns import amount_column, enum_column
from schema.invoice.invoice import (
    Invoice,
    InvoiceCustomer,
    InvoiceIssuer,
    InvoiceLineKind,
    VatCategory,
)
from store.core.row import CreatedOn, InCurrency


class InvoiceRow(InCurrency, CreatedOn, InvoiceIssuer, InvoiceCustomer, Invoice, table=True):
    """An invoice or a credit note."""

    __tablename__ = "invoice"
    __table_args__ = (
        UniqueConstraint("marketplace_id", "sequence_number", name="invoice_sequence_key"),
        Index("invoice_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("invoice_total_amount_list_idx", "partner_id", "total_amount", "id"),
        Index("invoice_of_marketplace_idx", "marketplace_id", "created_on", "id"),
        Index("invoice_number_idx", "number"),
        Index("invoice_newest_idx", "created_on", "id"),
        Index("invoice_largest_idx", "total_amount", "id"),
        Index("invoice_corrects_idx", "corrects_id", postgresql_where=text("corrects_id IS NOT NULL")),
        CheckConstraint("net_amount + vat_amount = total_amount", name="is_a_sum"),
        CheckConstraint("(kind = 'invoice') = (total_amount > 0) AND total_amount <> 0", name="sign"),
        CheckConstraint("first_day <= last_day", name="period"),
        CheckConstraint("corrects_id IS NULL OR kind = 'credit_note'", name="corrects"),
        CheckConstraint("(partner_id IS NULL) <> (customer_marketplace_id IS NULL)", name="one_customer"),
    )
    marketplace_id: int = Field(foreign_key="marketplace.id")
    partner_id: int | None = Field(default=None, foreign_key="partner.id")
    book_id: int = Field(foreign_key="ledger_book.id")
    sequence_number: int
    """Its number without the prefix: 1, 2, 3 … in its marketplace."""
    corrects_id: UUID | None = Field(default=None, foreign_key="invoice.id")
    language: str = Field(default="en", max_length=2)
    """The language of its document."""


class InvoiceLineRow(InCurrency, SQLModel, table=True):
    """A line of an invoice: the fees of one kind with one rate of VAT."""

    __tablename__ = "invoice_line"
    __table_args__ = (
        UniqueConstraint("invoice_id", "position", name="invoice_line_key"),
        CheckConstraint("net_amount + vat_amount = total_amount", name="is_a_sum"),
        CheckConstraint("credited_amount BETWEEN 0 AND greatest(total_amount, 0)", name="credits_no_more"),
        CheckConstraint("vat_rate = 0 OR vat_category = 'S'", name="vat_rate"),
    )
    id: int = Field(default=None, primary_key=True)
    invoice_id: UUID = Field(foreign_key="invoice.id")
    position: int
    kind: InvoiceLineKind = enum_column(InvoiceLineKind, "What it is about.")
    count: int
    vat_category: VatCategory = enum_column(VatCategory, "How VAT applies.", length=2)
    vat_rate: Decimal = Field(sa_type=Numeric(5, 2))
    net_amount: Decimal = amount_column()
    vat_amount: Decimal = amount_column()
    total_amount: Decimal = amount_column()
    credited_amount: Decimal = amount_column(default=Decimal("0.00"))
    """What credit notes that correct the invoice gave back of it."""


class InvoicedFeeRow(SQLModel, table=True):
    """A journal whose fee is on an invoice: on one, because it is the key. Amounts are in minor units."""

    __tablename__ = "invoiced_fee"
    journal_id: int = Field(sa_type=BigInteger, primary_key=True)
    invoice_line_id: int = Field(foreign_key="invoice_line.id", index=True)
    amount: int = Field(sa_type=BigInteger)
    """The fee, VAT included; negative if it went back."""
    vat: int = Field(sa_type=BigInteger)
    """The VAT in it, as it was posted."""


class InvoiceSeriesRow(SQLModel, table=True):
    """The numbers of a marketplace's invoices. Its lock makes them one after the other: a number exists once its invoice does."""

    __tablename__ = "invoice_series"
    marketplace_id: int = Field(foreign_key="marketplace.id", primary_key=True)
    last_number: int = Field(default=0)
    invoiced_until: dt.date | None = Field(default=None)
    """The last day of the last month that was invoiced to all partners."""


DIGITS = 6


async def lock_series(db: AsyncSession, marketplace_id: int) -> InvoiceSeriesRow:
    """The series of a marketplace, locked and read again; a new one if it has none."""
    await db.exec(
        insert(InvoiceSeriesRow).values(marketplace_id=marketplace_id, last_number=0).on_conflict_do_nothing()
    )
    query = select(InvoiceSeriesRow).where(col(InvoiceSeriesRow.marketplace_id) == marketplace_id).with_for_update()
    return (await db.exec(query.execution_options(populate_existing=True))).one()


def take_number(series: InvoiceSeriesRow, prefix: str) -> tuple[int, str]:
    """The next number of a locked series, alone and as it is printed."""
    series.last_number += 1
    return series.last_number, f"{prefix}{series.last_number:0{DIGITS}}"


def lines_by_rate(lines: Iterable[InvoiceLineRow]) -> list[list[InvoiceLineRow]]:
    """The lines of an invoice that share a category and rate of VAT, in their order."""
    found: defaultdict[tuple[VatCategory, Decimal], list[InvoiceLineRow]] = defaultdict(list)
    for line in lines:
        found[line.vat_category, line.vat_rate].append(line)
    return list(found.values())


async def lines_of(db: AsyncSession, ids: list[UUID], *, lock: bool = False) -> list[InvoiceLineRow]:
    """The lines of invoices, in their order."""
    line = InvoiceLineRow
    query = select(line).where(col(line.invoice_id).in_(ids)).order_by(col(line.invoice_id), col(line.position))
    if lock:
        query = query.with_for_update().execution_options(populate_existing=True)
    return list((await db.exec(query)).all())


async def lock_lines(db: AsyncSession, ids: Collection[int]) -> list[InvoiceLineRow]:
    """Lines by their ids, locked."""
    query = select(InvoiceLineRow).where(col(InvoiceLineRow.id).in_(ids)).order_by(col(InvoiceLineRow.id))
    return list((await db.exec(query.with_for_update().execution_options(populate_existing=True))).all()) if ids else []

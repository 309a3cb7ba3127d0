"""Invoices: the list, what they contain, and the fees of partners."""

import datetime as dt
from collections import defaultdict
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Annotated
from uuid import UUID

from pydantic import Field

from resolvers.core.computed_fields import computes
from resolvers.core.context import Context
from resolvers.core.lists.filters import OfPartner, Where
from resolvers.core.lists.listing import Listing, Lookup
from schema.core.columns import DescribedEnum, graphql_enum
from schema.core.inputs import graphql_input_for
from schema.core.money import Money
from schema.core.permission import Permission
from schema.invoice.invoice import (
    Invoice,
    InvoiceKind,
    InvoiceLine,
    InvoiceVat,
)
from schema.payment.payment import Payment
from store.invoice.invoices import InvoiceLineRow, lines_by_rate, lines_of
from store.invoice.payments import payments_of
from store.invoice.returns import LineFees, fees_of_lines
from store.providers.money import MinorAmount


@graphql_enum
class InvoiceSort(DescribedEnum):
    """Sort order of invoices."""

    NEWEST = "-created_on", "The newest first."
    OLDEST = "created_on", "The oldest first."
    AMOUNT = "total_amount", "Smallest amount first, credit notes before invoices."
    AMOUNT_DESCENDING = "-total_amount", "Largest amount first."


@graphql_input_for(Invoice)
class InvoiceFilter(OfPartner):
    """Filter for invoices. Periods include both ends."""

    marketplace_uuid: Annotated[UUID | None, Where("marketplace_id", "marketplace")] = Field(
        default=None, description="Only invoices that the marketplace with this uuid has issued."
    )
    partner_id: Annotated[int | None, Where("partner_id")] = Field(
        default=None, description="Only invoices for the partner with this id."
    )
    marketplace_id: Annotated[int | None, Where("marketplace_id")] = Field(
        default=None, description="Only invoices that the marketplace with this id has issued."
    )
    customer_marketplace_id: Annotated[int | None, Where("customer_marketplace_id")] = Field(
        default=None, description="Only invoices for the marketplace with this id."
    )
    provider_invoicer_id: Annotated[int | None, Where("provider_invoicer_id")] = Field(
        default=None, description="Only invoices that the service provider with this id has issued."
    )
    kind: Annotated[InvoiceKind | None, Where("kind")] = Field(
        default=None, description="Only invoices, or only credit notes."
    )
    number: Annotated[str | None, Where("number")] = Field(
        default=None, description="Only the invoice with this number."
    )
    invoiced_from: Annotated[dt.date | None, Where("invoicing_date", ">=")] = Field(
        default=None, description="Only invoices of this date or later."
    )
    invoiced_until: Annotated[dt.date | None, Where("invoicing_date", "<=")] = Field(
        default=None, description="Only invoices of this date or earlier."
    )


invoices = Listing(
    Invoice, InvoiceFilter, InvoiceSort, Permission.VIEW_INVOICE, "The invoices visible to you, newest first."
)
invoice = Lookup(Invoice, "id", "invoice", Permission.VIEW_INVOICE, "An invoice by its id.")


# ---- what they contain


def _money(amount: Decimal, currency: str) -> Money:
    return Money(amount=amount, currency=currency)


async def _lines_by_invoice(context: Context, ids: Sequence[UUID]) -> Mapping[UUID, list[InvoiceLineRow]]:
    """The lines by the ids, which a compiled selection has as text."""
    uuids = {UUID(str(id)): id for id in ids}
    found: defaultdict[UUID, list[InvoiceLineRow]] = defaultdict(list)
    async with context.db.read_sessions() as db:
        for row in await lines_of(db, list(uuids)):
            found[uuids[row.invoice_id]].append(row)
    return found


@computes(Invoice, "lines")
async def lines_of_invoices(context: Context, ids: Sequence[UUID]) -> Mapping[UUID, list[InvoiceLine]]:
    """The lines of invoices."""
    found = await _lines_by_invoice(context, ids)
    async with context.db.read_sessions() as db:
        fees = await fees_of_lines(db, [row.id for rows in found.values() for row in rows])
    return {id: [_line(row, fees[row.id]) for row in found[id]] for id in ids}


def _line(row: InvoiceLineRow, fees: LineFees) -> InvoiceLine:
    returned = MinorAmount(row.currency, fees.sum_back(is_invoiced=True)).decimal
    return InvoiceLine(
        position=row.position,
        kind=row.kind,
        count=row.count,
        vat_category=row.vat_category,
        vat_rate=row.vat_rate,
        net=_money(row.net_amount, row.currency),
        vat=_money(row.vat_amount, row.currency),
        total=_money(row.total_amount, row.currency),
        credited=_money(row.credited_amount + returned, row.currency),
    )


@computes(Invoice, "vat_breakdown")
async def vat_of_invoices(context: Context, ids: Sequence[UUID]) -> Mapping[UUID, list[InvoiceVat]]:
    """The VAT of invoices by rate."""
    found = await _lines_by_invoice(context, ids)
    return {id: [_vat(own) for own in lines_by_rate(found[id])] for id in ids}


def _vat(rows: Sequence[InvoiceLineRow]) -> InvoiceVat:
    net, vat = sum((row.net_amount for row in rows), Decimal(0)), sum((row.vat_amount for row in rows), Decimal(0))
    first = rows[0]
    return InvoiceVat(
        category=first.vat_category,
        rate=first.vat_rate,
        net=_money(net, first.currency),
        vat=_money(vat, first.currency),
    )


@computes(Invoice, "payments")
async def payments_of_invoices(context: Context, ids: Sequence[UUID]) -> Mapping[UUID, list[Payment]]:
    """The payments whose fees are on invoices."""
    uuids = {UUID(str(id)): id for id in ids}
    async with context.db.read_sessions() as db:
        found = await payments_of(db, list(uuids))
    return {id: list(found.get(uuid, [])) for uuid, id in uuids.items()}

"""Issues invoices when a month is over, and credit notes that correct them."""

import datetime as dt
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any
from uuid import UUID
from zoneinfo import ZoneInfo

import structlog
from prometheus_client import Counter
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.input_mapping import check_partner_uuid, uuid_from_input
from resolvers.core.operation import Call, operation
from resolvers.core.scoping import find_visible, require_marketplace
from resolvers.core.services import Services
from resolvers.core.transaction import count_if_committed
from resolvers.mail.invoices import queue_invoice_mail
from schema.core.errors import InvalidInput
from schema.core.input_errors import ProblemCollector
from schema.core.message_names import MessageAmount, TemplatedMessage
from schema.core.permission import Permission
from schema.invoice.errors import CreditNoteNotCorrectable, InvoiceIncomplete, NothingToCredit, NothingToInvoice
from schema.invoice.input import CreateCreditNote, IssuePartnerInvoices
from schema.invoice.invoice import Invoice, InvoiceKind
from schema.payment.errors import MarketplacePaymentsNotActive
from store.invoice.events import emit_invoice_events
from store.invoice.fees import partners_to_invoice
from store.invoice.invoices import InvoiceLineRow, InvoiceRow, InvoiceSeriesRow, lines_of, lock_series
from store.invoice.issuing import Correction, IncompleteInvoice, InvoicedPeriod, correct, issue, left_of
from store.invoice.parties import missing_of_marketplace
from store.ledger.books import book_of_marketplace
from store.ledger.rows import LedgerBookRow
from store.ledger.wallets import marketplace_wallet
from store.partner.partners import MarketplaceRow, PartnerRow

log = structlog.get_logger(__name__)
ISSUED = Counter("coffret_invoices_issued", "Invoices and credit notes that were issued.", ["kind"])
INCOMPLETE = Counter("coffret_invoices_incomplete", "Invoices that were not issued, because details are missing.")
FAILED = Counter("coffret_invoices_failed", "Partners whose invoices failed: see the log.")
DAY = dt.timedelta(days=1)


def last_month_until(today: dt.date) -> dt.date:
    """The last day of the month before."""
    return today.replace(day=1) - DAY


def _today(services: Services, marketplace: MarketplaceRow) -> dt.date:
    return services.clock.now().astimezone(ZoneInfo(marketplace.time_zone)).date()


# ---- every month


async def issue_invoices(services: Services) -> int:
    """Issue the invoices of last month of all marketplaces, once; returns their number.

    A marketplace or partner whose details are incomplete gets none: its fees are on the first invoice after that.
    """
    count = 0
    for marketplace, last_day in await _marketplaces_due(services):
        marketplace_id = marketplace.id
        async with services.db.sessions() as db:
            due = await partners_to_invoice(db, marketplace_id, marketplace.invoicer_starts_on, last_day)
        for partner_id, book_id in due:
            count += await _issue_monthly(services, marketplace_id, partner_id, book_id, last_day)
        async with services.db.sessions() as db, db.begin():
            (await lock_series(db, marketplace_id)).invoiced_until = last_day
    return count


async def _marketplaces_due(services: Services) -> list[tuple[MarketplaceRow, dt.date]]:
    """The marketplaces whose last month is not invoiced, each with its last day."""
    series = InvoiceSeriesRow
    query = select(MarketplaceRow, col(series.invoiced_until)).outerjoin(
        series, col(series.marketplace_id) == col(MarketplaceRow.id)
    )
    due = []
    async with services.db.sessions() as db:
        for marketplace, invoiced_until in (await db.exec(query.order_by(col(MarketplaceRow.id)))).all():
            last_day = last_month_until(_today(services, marketplace))
            if (invoiced_until is None or invoiced_until < last_day) and not list(missing_of_marketplace(marketplace)):
                due.append((marketplace, last_day))
    return due


async def _issue_monthly(
    services: Services, marketplace_id: int, partner_id: int, book_id: int, last_day: dt.date
) -> int:
    try:
        async with services.db.sessions() as db, db.begin():
            marketplace = await db.get_one(MarketplaceRow, marketplace_id)
            partner = await db.get_one(PartnerRow, partner_id)
            return len(await _issue(services, db, marketplace, partner, book_id, last_day))
    except IncompleteInvoice as error:
        INCOMPLETE.inc()
        log.warning("a partner gets no invoice: details are missing", partner_id=partner_id, missing=error.missing)
    except Exception:  # of one partner: the others get theirs, and it does with the next run or by hand
        FAILED.inc()
        log.exception("a partner gets no invoice: it failed", partner_id=partner_id)
    return 0


async def _issue(
    services: Services,
    db: AsyncSession,
    marketplace: MarketplaceRow,
    partner: PartnerRow,
    book_id: int,
    last_day: dt.date,
) -> Sequence[InvoiceRow]:
    series = await lock_series(db, marketplace.id)
    book = await db.get_one(LedgerBookRow, book_id)
    period = InvoicedPeriod(series, marketplace, partner, book, last_day, _today(services, marketplace))
    issued = await issue(db, period)
    await _tell(db, issued)
    return issued


async def _tell(db: AsyncSession, issued: Sequence[InvoiceRow]) -> None:
    await emit_invoice_events(db, issued)
    for invoice in issued:
        count_if_committed(db, ISSUED.labels(invoice.kind.value))
        await queue_invoice_mail(db, invoice)


# ---- by a person


@operation(Permission.MANAGE_MARKETPLACE, exists=check_partner_uuid)
async def issue_partner_invoices(call: Call, input: IssuePartnerInvoices) -> list[Invoice]:
    """Issue what is to be invoiced to a partner until the end of last month, such as after its address was completed: an
    invoice, and a credit note if fees went back. The worker does so by itself when a month is over.

    Refused with `NOTHING_TO_INVOICE` if there is nothing, and with `INVOICE_INCOMPLETE`, which says what is missing.
    """
    require_marketplace(call.caller)
    partner = await find_visible(call.db, call.caller, PartnerRow, "partner", uuid=input.partner_uuid)
    marketplace = await call.db.get_one(MarketplaceRow, partner.marketplace_id)
    book_id = await book_of_marketplace(call.db, marketplace.id, is_live=True)
    last_day = last_month_until(_today(call.services, marketplace))
    try:
        issued = await _issue(call.services, call.db, marketplace, partner, book_id, last_day)
    except IncompleteInvoice as error:
        raise InvoiceIncomplete(missing=str(error)) from error
    if not issued:
        raise NothingToInvoice
    return list(issued)


async def _check_invoice(call: Call, input: Any) -> None:
    """Raise NotFound for an input that names no invoice that the caller sees."""
    await _find_invoice(call, uuid_from_input(input, "invoice_id"))


async def _find_invoice(call: Call, id: UUID | None) -> InvoiceRow:
    require_marketplace(call.caller)
    return await find_visible(call.db, call.caller, InvoiceRow, "invoice", id=id)


@operation(Permission.MANAGE_MARKETPLACE, exists=_check_invoice)
async def create_credit_note(call: Call, input: CreateCreditNote) -> Invoice:
    """Correct an invoice: the credit note gives fees back to the partner, with its next payout. Invoices never change.

    Refused with `NOTHING_TO_CREDIT` if nothing is left of the invoice, with `CREDIT_NOTE_NOT_CORRECTABLE` for a credit note, and
    with `MARKETPLACE_PAYMENTS_NOT_ACTIVE` if the marketplace has no wallet out of which it could be paid.
    """
    invoice = await _find_invoice(call, input.invoice_id)
    if invoice.kind is not InvoiceKind.INVOICE:
        raise CreditNoteNotCorrectable
    if await marketplace_wallet(call.db, invoice.book_id) is None:
        raise MarketplacePaymentsNotActive
    marketplace = await call.db.get_one(MarketplaceRow, invoice.marketplace_id)
    series = await lock_series(call.db, marketplace.id)
    rows = await lines_of(call.db, [invoice.id], lock=True)
    lines = _credited(rows, await left_of(call.db, rows), input, invoice.currency)
    if not lines:
        raise NothingToCredit
    today = _today(call.services, marketplace)
    note = await correct(call.db, series, marketplace, Correction(invoice, lines, input.reason, today))
    await _tell(call.db, [note])
    return note


def _credited(
    rows: Sequence[InvoiceLineRow], left: Mapping[int, Decimal], input: CreateCreditNote, currency: str
) -> list[tuple[InvoiceLineRow, Decimal]]:
    """The lines and amounts of a credit note. `left` is what is left to give back, by position. Raises InvalidInput."""
    if input.lines is None:
        return [(row, left[row.position]) for row in rows if left[row.position] > 0]
    findings, by_position, credited = ProblemCollector(), {row.position: row for row in rows}, {}
    for n, line in enumerate(input.lines):
        with findings.collect():
            if line.position not in by_position or line.position in credited:
                raise InvalidInput.at(("lines", n, "position"), "Send the position of a line of the invoice, once.")
            if not 0 < line.amount <= left[line.position]:
                most = MessageAmount(max(left[line.position], Decimal("0.00")), currency)
                raise InvalidInput.at(
                    ("lines", n, "amount"),
                    TemplatedMessage("Send more than 0.00 and at most {most}.", most=most),
                    "OUT_OF_RANGE",
                )
            credited[line.position] = line.amount
    findings.raise_problems()
    return [(by_position[position], amount) for position, amount in sorted(credited.items())]

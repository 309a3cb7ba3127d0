"""The journals of invoices: what the VAT of a sum differs from the sum of VAT, and what credit notes give back."""

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.invoice.invoices import InvoiceRow
from store.ledger.accounts import LedgerAccount, network_earnings
from store.ledger.balances import lock_balance
from store.ledger.posting import Journal, credit, debit
from store.providers.money import MinorAmount

SOURCE = "invoice"
"""The kind of source of these journals."""
COMMISSION, VAT = LedgerAccount(Role.COMMISSION), LedgerAccount(Role.VAT_ON_COMMISSION)
FUNDS, OWED = LedgerAccount(Role.MARKETPLACE_FUNDS), LedgerAccount(Role.OWED_BY_MARKETPLACE)
FREED = LedgerAccount(Role.FREED_FEES)


def rounding_journal(invoice: InvoiceRow, posted_vat: int) -> Journal:
    """The VAT of an invoice is that of its sums: what it differs from the VAT of its fees is posted."""
    difference = MinorAmount.of(invoice.vat_amount, invoice.currency).minor - posted_vat
    return Journal(
        book_id=invoice.book_id,
        partner_id=invoice.partner_id,
        kind=Kind.INVOICE_ROUNDING,
        source_kind=SOURCE,
        source_id=str(invoice.id),
        entries=(debit(COMMISSION, difference), credit(VAT, difference)),
    )


async def credit_note_journal(db: AsyncSession, note: InvoiceRow) -> Journal:
    """A credit note that corrects an invoice gives fees back, as earnings in the network: the next payout pays them.

    They come out of the marketplace's funds, or it has to pay them in. In return what had been kept as fees is its own.
    """
    assert note.partner_id is not None, "it is for a partner"
    earnings = network_earnings(note.partner_id)
    await lock_balance(db, note.book_id, earnings)  # before the funds, as refunds do
    vat, total = (-MinorAmount.of(amount, note.currency).minor for amount in (note.vat_amount, note.total_amount))
    covered = min(total, await lock_balance(db, note.book_id, FUNDS))
    entries = (
        debit(COMMISSION, total - vat),
        debit(VAT, vat),
        credit(earnings, total),
        debit(FUNDS, covered),
        debit(OWED, total - covered),
        credit(FREED, total),
    )
    return Journal(
        book_id=note.book_id,
        partner_id=note.partner_id,
        kind=Kind.CREDIT_NOTE,
        source_kind=SOURCE,
        source_id=str(note.id),
        entries=entries,
    )

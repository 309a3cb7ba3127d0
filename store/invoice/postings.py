"""The journals of invoices: what the VAT of a sum differs from the sum of VAT, and what credit notes give back."""

from dataclasses import dataclass

from sqlmodel.ext.asyncio.session import AsyncSession

from schema.ledger import LedgerAccountRole as Role
from schema.ledger import LedgerJournalKind as Kind
from store.invoice.invoices import InvoiceRow
from store.ledger.accounts import LedgerAccount, network_earnings
from store.ledger.balances import lock_balance
from store.ledger.posting import Entry, Journal, credit, debit
from store.providers.money import MinorAmount

SOURCE = "invoice"
"""The kind of source of these journals."""
COMMISSION, VAT = LedgerAccount(Role.COMMISSION), LedgerAccount(Role.VAT_ON_COMMISSION)
MANAGEMENT_FEES = LedgerAccount(Role.MANAGEMENT_FEES)
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


async def credit_note_journal(db: AsyncSession, note: InvoiceRow, management: int) -> Journal:
    """A credit note that corrects an invoice gives fees back, `management` of them management fees, as earnings in the network:
    the next payout pays them.
    """
    assert note.partner_id is not None, "it is for a partner"
    vat, total = (-MinorAmount.of(amount, note.currency).minor for amount in (note.vat_amount, note.total_amount))
    return Journal(
        book_id=note.book_id,
        partner_id=note.partner_id,
        kind=Kind.CREDIT_NOTE,
        source_kind=SOURCE,
        source_id=str(note.id),
        entries=(*_income(total, vat, management), *await _give_back(db, note.book_id, note.partner_id, total)),
    )


@dataclass(frozen=True, slots=True)
class RetakenFee:
    """A fee that is taken again, with VAT, in minor units; negative if it is given back after all."""

    journal_id: int
    """The journal that had given it back a second time, or of the refund that failed."""
    amount: int
    vat: int
    management: int


async def retaken_journal(db: AsyncSession, book_id: int, partner_id: int, fee: RetakenFee) -> Journal:
    """A refund gave back a fee that a credit note had given back before: the partner has no longer earned it, or owes what
    was paid out. The marketplace has again what it paid for it.
    """
    if fee.amount < 0:
        moved = await _give_back(db, book_id, partner_id, -fee.amount)
    else:
        earnings = network_earnings(partner_id)
        covered = min(fee.amount, await lock_balance(db, book_id, earnings))
        await lock_balance(db, book_id, FUNDS)
        settled = min(covered, await lock_balance(db, book_id, OWED))
        moved = (
            debit(earnings, covered),
            debit(LedgerAccount(Role.OWED_BY_PARTNER, partner_id), fee.amount - covered),
            credit(OWED, settled),
            credit(FUNDS, covered - settled),
            debit(FREED, covered),
        )
    return Journal(
        book_id=book_id,
        partner_id=partner_id,
        kind=Kind.FEE_RETAKEN,
        source_kind="ledger_journal",
        source_id=str(fee.journal_id),
        entries=(*_income(-fee.amount, -fee.vat, -fee.management), *moved),
    )


def _income(total: int, vat: int, management: int) -> tuple[Entry, ...]:
    """The entries of income that is given back."""
    return debit(COMMISSION, total - vat - management), debit(MANAGEMENT_FEES, management), debit(VAT, vat)


async def _give_back(db: AsyncSession, book_id: int, partner_id: int, total: int) -> tuple[Entry, ...]:
    """The entries of what a partner gets: out of the marketplace's funds, or it has to pay it in. In return what had been
    kept as fees is its own.
    """
    earnings = network_earnings(partner_id)
    await lock_balance(db, book_id, earnings)  # before the funds, as refunds do
    covered = min(total, await lock_balance(db, book_id, FUNDS))
    return credit(earnings, total), debit(FUNDS, covered), debit(OWED, total - covered), credit(FREED, total)

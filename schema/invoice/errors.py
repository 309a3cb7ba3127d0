"""Conflicts of invoices."""

from schema.core.errors import Conflict


class NothingToInvoice(Conflict):
    """All fees until the end of last month are on invoices."""


class InvoiceIncomplete(Conflict):
    """The invoice still needs: {missing}."""

    meaning = "An invoice needs the name, address and numbers of the marketplace and the address of the partner."


class NothingToCredit(Conflict):
    """Nothing of this invoice is left to give back."""


class CreditNoteNotCorrectable(Conflict):
    """This is a credit note. Only invoices are corrected by credit notes."""

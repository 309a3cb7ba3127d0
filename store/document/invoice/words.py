"""The texts of invoices, in eight languages."""

from dataclasses import dataclass

from schema.invoice.invoice import InvoiceKind, InvoiceLineKind
from store.document.words import TEXTS


def N_(text: str) -> str:  # noqa: N802 - the name that gettext's tools know
    """Mark a text for translation and return it unchanged."""
    return text


KINDS = {InvoiceKind.INVOICE: N_("Invoice"), InvoiceKind.CREDIT_NOTE: N_("Credit note")}
LINES = {
    InvoiceLineKind.PAYMENTS: N_("Commission on payments by bank card"),
    InvoiceLineKind.USAGES: N_("Fees for usages of gift cards and vouchers of the network"),
}
FEES_OF = {InvoiceLineKind.PAYMENTS: N_("Payment"), InvoiceLineKind.USAGES: N_("Usage")}
FEE_BACK, FEE_AGAIN = N_("Refund"), N_("Failed refund")
NUMBER, INVOICING_DATE = N_("Number"), N_("Date of issue")
PERIOD = N_("Period")
CORRECTS = N_("Corrects invoice")
ABOUT = N_("Concerns invoices")
ISSUER, CUSTOMER = N_("From"), N_("Billed to")
DESCRIPTION, RATE = N_("Description"), N_("VAT rate")
NET, VAT, TOTAL = N_("Net"), N_("VAT"), N_("Total")
VAT_AT = N_("VAT %(rate)s")
NET_SUM = N_("Total without VAT")
DATE, REFERENCE, FEE, FEES = N_("Date"), N_("Reference"), N_("Fee"), N_("Fees in detail")
VAT_NUMBER, COMPANY_NUMBER = N_("VAT number %(number)s"), N_("Company number %(number)s")
PAID = N_("Nothing is left to pay: the fees were kept when the payments and usages were made.")
GIVEN_BACK = N_("These fees went back with the refunds of payments and usages.")
PAID_OUT = N_("This amount is paid out with the next payout.")
ATTACHED = N_("The fees are listed one by one in the attached file %(name)s.")
REVERSE_CHARGE = N_("Reverse charge: the VAT is owed by the recipient.")


@dataclass(frozen=True)
class InvoiceWords:
    """The texts in one language."""

    language: str

    def say(self, text: str, /, **values: object) -> str:
        """The translation, with the values in the place of `%(name)s`."""
        return TEXTS.translations(self.language).gettext(text) % values

    def count(self, kind: InvoiceLineKind, count: int, *, is_back: bool) -> str:
        """How many payments, usages or refunds a line sums up."""
        said = TEXTS.translations(self.language)
        if is_back:
            text = said.ngettext("%(count)s refund", "%(count)s refunds", count)
        elif kind is InvoiceLineKind.PAYMENTS:
            text = said.ngettext("%(count)s payment", "%(count)s payments", count)
        else:
            text = said.ngettext("%(count)s usage", "%(count)s usages", count)
        return text % {"count": count}

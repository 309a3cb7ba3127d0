"""The texts of the documents of payouts, in eight languages."""

from dataclasses import dataclass

from schema.ledger import LedgerJournalKind as Kind
from schema.payment.payout import PayoutSection
from store.document.words import TEXTS


def N_(text: str) -> str:  # noqa: N802 - the name that gettext's tools know
    """Mark a text for translation and return it unchanged."""
    return text


PAYOUT = N_("Payout statement")
PAID_OUT = N_("Paid out on %(date)s")
TO_BE_PAID_OUT = N_("To be paid out")
CANCELLED, FAILED = N_("Cancelled"), N_("Failed")
PERIOD = N_("Period")
NUMBER = N_("Payout number")
ACCOUNT = N_("Bank account")
AMOUNT = N_("Amount")
PAYER, PAYEE = N_("Paid by"), N_("Paid to")
SUMMARY, TOTAL = N_("Summary"), N_("Total")
DATE, REFERENCE = N_("Date"), N_("Reference")
DETAILS = N_("Details")
GROSS, FEES, NET = N_("Gross"), N_("Fees"), N_("Net")
TRANSFERS = N_("Transfers")
STATUS = N_("Status")
CURRENCY = N_("Currency")
NUMBER_OF_TRANSFER = N_("Transfer number")
NOTE = N_("This statement lists what is paid out. It is not an invoice.")
CODE_ENDING = N_("Code ending in %(end)s")
PRINTED = N_("%(printed)s of %(lines)s lines are printed. The attached file %(name)s has all of them.")
SECTION_NAMES = {
    PayoutSection.PAYMENTS: N_("Payments"),
    PayoutSection.USAGES: N_("Usages in the network"),
    PayoutSection.REFUNDS: N_("Refunds"),
    PayoutSection.OTHER: N_("Other"),
}
KIND_NAMES = {
    Kind.REFUND: N_("Refund"),
    Kind.REFUND_FAILED: N_("Failed refund"),
    Kind.REVERSAL: N_("Cancelled usage"),
    Kind.DISPUTE: N_("Dispute"),
    Kind.DISPUTE_WON: N_("Dispute won"),
    Kind.DISPUTE_LOST: N_("Dispute lost"),
    Kind.SETTLEMENT: N_("Settlement of a dispute"),
    Kind.RECOVERY: N_("Taken for what is owed"),
    Kind.ADJUSTMENT: N_("Adjustment"),
    Kind.PAYOUT_RETURNED: N_("Payout that came back"),
}
"""Payments and usages are told apart by their section."""


@dataclass(frozen=True)
class PayoutWords:
    """The texts in one language."""

    language: str

    def say(self, text: str, /, **values: object) -> str:
        """The translation, with the values in the place of `%(name)s`."""
        return TEXTS.translations(self.language).gettext(text) % values

    def section(self, section: PayoutSection) -> str:
        return self.say(SECTION_NAMES[section])

    def kind(self, kind: Kind) -> str:
        """What a line is; empty for payments and usages."""
        return self.say(KIND_NAMES[kind]) if kind in KIND_NAMES else ""

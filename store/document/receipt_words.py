"""The texts of receipts that we write, in eight languages."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from decimal import Decimal

from schema.payment_method import PaymentMethod
from store.core.localization.formats import Formats
from store.document.receipt import ReceiptLabels
from store.document.words import TEXTS


@dataclass(frozen=True)
class ReceiptWords:
    """The texts in one language."""

    language: str

    def say(self, text: str, /, **values: object) -> str:
        """The translation, with the values in the place of `%(name)s`."""
        return TEXTS.translations(self.language).gettext(text) % values

    @property
    def labels(self) -> ReceiptLabels:
        return ReceiptLabels(
            amount=self.say(N_("Amount paid")),
            payee=self.say(N_("Paid to")),
            payer=self.say(N_("Paid by")),
            paid_for=self.say(N_("What was paid for")),
            paid_with=self.say(N_("Paid with")),
            refunds=self.say(N_("Refunds")),
            note=self.say(N_("This receipt confirms a payment. It is not an invoice.")),
        )

    @property
    def invoice_labels(self) -> ReceiptLabels:
        """Those of the invoice of an order, without a note."""
        return replace(self.labels, payee=self.say(N_("From")), payer=self.say(N_("Billed to")), note="")

    def vat(self, rate: Decimal, net: str) -> str:
        return self.say(N_("Including VAT of %(rate)s on %(net)s"), rate=Formats(self.language).percent(rate), net=net)


def N_(text: str) -> str:  # noqa: N802 - the name that gettext's tools know
    """Mark a text for translation and return it unchanged."""
    return text


RECEIPT = N_("Receipt")
INVOICE, INVOICE_NUMBER, INVOICE_DATE = N_("Invoice"), N_("Invoice number"), N_("Date of issue")
NET_TOTAL, VAT_AT, VAT_ON = N_("Total without VAT"), N_("VAT %(rate)s"), N_("VAT %(rate)s on %(net)s")
NO_VAT_YET = N_("The sale of gift cards bears no VAT: it is charged on what they pay for.")
PAID_ON = N_("Paid on %(date)s")
PAYMENT_NUMBER = N_("Payment number")
ORDER_NUMBER = N_("Order number")
COMPANY_NUMBER = N_("Company number %(number)s")
VAT_NUMBER = N_("VAT number %(number)s")
PRICE = N_("Price")
DISCOUNT = N_("Discount")
COUPON = N_("Coupon %(code)s")
DELIVERY = N_("Delivery")
TOTAL = N_("Total")
METHODS: Mapping[PaymentMethod, str] = {
    PaymentMethod.CARD: N_("Bank card"),
    PaymentMethod.AMERICAN_EXPRESS: "American Express",
    PaymentMethod.BANCONTACT: "Bancontact",
    PaymentMethod.IDEAL: "iDEAL | Wero",
    PaymentMethod.APPLE_PAY: "Apple Pay",
    PaymentMethod.GOOGLE_PAY: "Google Pay",
}
GIFT_CARD_ENDING = N_("Gift card ending in %(end)s")
REFUNDED = N_("Refunded")
REFUND_MADE = N_("Refunded on %(date)s")
REFUND_UNDER_WAY = N_("Refund of %(date)s, on its way")
LEFT_PAID = N_("Paid after refunds")

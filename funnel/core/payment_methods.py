"""The methods to pay with, as pages name them and as forms send them."""

from collections.abc import Mapping
from dataclasses import dataclass

from funnel.core.messages import N_
from schema.payment_method import PaymentMethod


@dataclass(frozen=True, slots=True)
class MethodText:
    """The name of a method, and who can pay with it."""

    name: str
    text: str
    icon: str


METHOD_TEXTS: Mapping[PaymentMethod, MethodText] = {
    PaymentMethod.CARD: MethodText(N_("Bank card"), N_("CB, Visa or Mastercard."), "card"),
    PaymentMethod.AMERICAN_EXPRESS: MethodText("American Express", N_("With a card of American Express."), "card"),
    PaymentMethod.BANCONTACT: MethodText(
        "Bancontact", N_("With your Belgian card, or the app on your phone."), "phone"
    ),
    PaymentMethod.IDEAL: MethodText("iDEAL | Wero", N_("With the app of your Dutch bank."), "phone"),
    PaymentMethod.APPLE_PAY: MethodText("Apple Pay", N_("With a card on your device."), "phone"),
    PaymentMethod.GOOGLE_PAY: MethodText("Google Pay", N_("With a card on your device."), "phone"),
}


def chosen_method(form: Mapping[str, str]) -> PaymentMethod | None:
    """The method that a form names; None if it names none that exists."""
    named = form.get("method", "")
    return PaymentMethod(named) if named in list(PaymentMethod) else None

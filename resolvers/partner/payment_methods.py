"""The methods that the customers of a partner can pay with."""

from collections.abc import Sequence

from schema.core.errors import InvalidInput
from schema.core.message_names import TemplatedMessage
from schema.payment_method import BY_TOKEN, EURO_ONLY, HOME_COUNTRIES, PaymentMethod
from store.core.settings import Settings
from store.partner.partners import PartnerRow

EURO = "EUR"
NONE_FOR_ALL = "Apple Pay and Google Pay need another method beside them: not every browser has them."


def check_methods(settings: Settings, partner: PartnerRow) -> None:
    """Raise InvalidInput for a method that the account at the payment provider does not accept, and for none that works
    in every browser.
    """
    available = settings.available_payment_methods
    if not set(partner.payment_methods) <= set(available):
        message = TemplatedMessage("The account at the payment provider accepts {choices}.", choices=available)
        raise InvalidInput.at("payment_methods", message)
    if set(partner.payment_methods) <= BY_TOKEN:
        raise InvalidInput.at("payment_methods", NONE_FOR_ALL)


def methods_for(
    settings: Settings, accepted: Sequence[PaymentMethod], currency: str, country: str
) -> tuple[PaymentMethod, ...]:
    """What a customer can pay with on a page of the provider, of what a partner has `accepted`; that of the customer's
    country comes first.

    `country` is an ISO 3166 code; empty if unknown. If nothing is left of it, there is what the account at the provider
    accepts; without that in this currency, cards.
    """
    possible = [
        method
        for method in PaymentMethod
        if method not in BY_TOKEN
        and method in settings.available_payment_methods
        and (currency == EURO or method not in EURO_ONLY)
    ]
    offered = [method for method in possible if method in accepted] or possible
    offered.sort(key=lambda method: HOME_COUNTRIES.get(method) != country)
    return tuple(offered) or (PaymentMethod.CARD,)


def token_methods_for(settings: Settings, accepted: Sequence[PaymentMethod]) -> tuple[PaymentMethod, ...]:
    """Which of Apple Pay and Google Pay a customer can pay with, in a browser that has them."""
    possible = BY_TOKEN & set(accepted) & set(settings.available_payment_methods)
    return tuple(method for method in PaymentMethod if method in possible)

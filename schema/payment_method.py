"""The methods that customers pay with at the payment provider."""

from dataclasses import dataclass, field

from schema.core.columns import DescribedEnum, graphql_enum


@graphql_enum
class PaymentMethod(DescribedEnum):
    """What a customer pays with at the payment provider."""

    CARD = "card", "A bank card: CB, Visa or Mastercard."
    AMERICAN_EXPRESS = "american_express", "A card of American Express."
    BANCONTACT = "bancontact", "Bancontact, in Belgium. Euros only."
    IDEAL = "ideal", "iDEAL, which is becoming Wero, from a bank account in the Netherlands. Euros only."
    APPLE_PAY = "apple_pay", "A bank card in Apple Pay: Visa or Mastercard."
    GOOGLE_PAY = "google_pay", "A bank card in Google Pay: Visa or Mastercard."


HOME_COUNTRIES = {PaymentMethod.BANCONTACT: "BE", PaymentMethod.IDEAL: "NL"}
"""The ISO 3166 codes of the countries whose customers use a method before all others."""
EURO_ONLY = frozenset(HOME_COUNTRIES)
BY_TOKEN = frozenset({PaymentMethod.APPLE_PAY, PaymentMethod.GOOGLE_PAY})
"""The methods without a page at the provider: the browser hands over a token of the card."""


@dataclass(frozen=True, slots=True, kw_only=True)
class BuyerBrowser:
    """What a bank learns of the browser before it asks the buyer to confirm."""

    accept_header: str
    user_agent: str
    language: str
    """As browsers write it: `fr-FR`."""
    color_depth: int
    screen_height: int
    screen_width: int
    time_zone_offset: int
    """Minutes from the local time to UTC: -120 in a Central European summer."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CardToken:
    """The token of a card in Apple Pay or Google Pay, and where it comes from. It is neither stored nor logged."""

    data: str = field(repr=False)
    """JSON, encrypted for the payment provider."""
    transaction_id: str = field(default="", repr=False)
    """Apple's id of the payment; Google has none."""
    network: str = ""
    """The card's network as Apple names it; Google's is in `data`."""
    ip_address: str = field(default="", repr=False)
    browser: BuyerBrowser = field(repr=False)

"""The methods that customers pay with at the payment provider."""

from schema.core.columns import DescribedEnum, graphql_enum


@graphql_enum
class PaymentMethod(DescribedEnum):
    """What a customer pays with at the payment provider."""

    CARD = "card", "A bank card: CB, Visa or Mastercard."
    AMERICAN_EXPRESS = "american_express", "A card of American Express."
    BANCONTACT = "bancontact", "Bancontact, in Belgium. Euros only."
    IDEAL = "ideal", "iDEAL, which is becoming Wero, from a bank account in the Netherlands. Euros only."


HOME_COUNTRIES = {PaymentMethod.BANCONTACT: "BE", PaymentMethod.IDEAL: "NL"}
"""The ISO 3166 codes of the countries whose customers use a method before all others."""
EURO_ONLY = frozenset(HOME_COUNTRIES)

"""The currencies that money is in."""

from babel.numbers import get_territory_currencies

from schema.validation.countries import COUNTRIES

CURRENCIES: frozenset[str] = frozenset(
    str(currency) for country in COUNTRIES for currency in get_territory_currencies(country)
)
"""ISO 4217 codes of what is legal tender somewhere today: no gold, no test codes, nothing that was given up."""

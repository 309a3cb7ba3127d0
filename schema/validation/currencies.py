"""Currency codes."""

from babel.numbers import get_territory_currencies

from schema.validation.countries import COUNTRIES

CURRENCIES: frozenset[str] = frozenset(
    str(currency) for country in COUNTRIES for currency in get_territory_currencies(country)
)
"""ISO 4217 codes of currencies that are legal tender today; without gold, test codes and former currencies."""

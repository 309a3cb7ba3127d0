"""Currency codes."""

from functools import cache

from babel.numbers import get_currency_symbol, get_territory_currencies

from schema.validation.countries import COUNTRIES

CURRENCIES: frozenset[str] = frozenset(
    str(currency) for country in COUNTRIES for currency in get_territory_currencies(country)
)
"""ISO 4217 codes of currencies that are legal tender today; without gold, test codes and former currencies."""


@cache
def currency_symbol(code: str) -> str:
    """The symbol of a currency as it is known everywhere, such as €; its code if it has none of its own."""
    return str(get_currency_symbol(code, "en"))

"""Country codes and names."""

import unicodedata
from collections.abc import Mapping
from functools import cache

from babel import Locale
from babel.core import get_global

from schema.validation.languages import LANGUAGES

_EXCLUDED_TERRITORIES = frozenset({"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"})
"""Two-letter territories of CLDR that are not countries."""

COUNTRIES: frozenset[str] = frozenset(
    code
    for code in map(str, Locale("en").territories)
    if len(code) == 2 and code.isalpha() and code not in _EXCLUDED_TERRITORIES
)
"""ISO 3166 alpha-2 codes."""


def country_code(text: str) -> str | None:
    """The alpha-2 code for a country's alpha-2 or alpha-3 code, or its name in a supported language.

    Case, accents, spaces and hyphens are ignored. None if it is not a country.
    """
    return _codes().get(_fold(text))


def _fold(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if c.isalnum())


@cache
def _codes() -> Mapping[str, str]:
    """Folded name or code -> alpha-2 code. Codes take precedence over names, English over other languages."""
    names = {
        _fold(name): code
        for language in reversed(LANGUAGES)
        for code, name in Locale(language).territories.items()
        if code in COUNTRIES
    }
    aliases = get_global("territory_aliases").items()
    long = {code.casefold(): of[0] for code, of in aliases if len(code) == 3 and len(of) == 1 and of[0] in COUNTRIES}
    return names | long | {code.casefold(): code for code in COUNTRIES}

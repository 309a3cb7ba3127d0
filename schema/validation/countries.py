"""The countries there are."""

import unicodedata
from collections.abc import Mapping
from functools import cache

from babel import Locale
from babel.core import get_global

from schema.validation.languages import LANGUAGES

_NO_COUNTRIES = frozenset({"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"})
"""Two-letter territories of CLDR that are no country to send something to."""

COUNTRIES: frozenset[str] = frozenset(
    code
    for code in map(str, Locale("en").territories)
    if len(code) == 2 and code.isalpha() and code not in _NO_COUNTRIES
)
"""ISO 3166 alpha-2 codes."""


def country_code(text: str) -> str | None:
    """The alpha-2 code of a country: its alpha-2 or alpha-3 code, or its name in one of our languages.

    Capitals, accents, blanks and hyphens make no difference. None for what is no country.
    """
    return _codes().get(_folded(text))


def _folded(text: str) -> str:
    return "".join(c for c in unicodedata.normalize("NFKD", text.casefold()) if c.isalnum())


@cache
def _codes() -> Mapping[str, str]:
    """Each way to write a country, folded. A code goes before a name, English before the other languages."""
    names = {
        _folded(name): code
        for language in reversed(LANGUAGES)
        for code, name in Locale(language).territories.items()
        if code in COUNTRIES
    }
    aliases = get_global("territory_aliases").items()
    long = {code.casefold(): of[0] for code, of in aliases if len(code) == 3 and len(of) == 1 and of[0] in COUNTRIES}
    return names | long | {code.casefold(): code for code in COUNTRIES}

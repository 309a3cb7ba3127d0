"""The countries there are."""

from babel import Locale

_NO_COUNTRIES = frozenset({"AC", "CP", "CQ", "DG", "EA", "EU", "EZ", "IC", "QO", "TA", "UN", "XA", "XB", "ZZ"})
"""Two-letter territories of CLDR that are no country to send something to."""

COUNTRIES: frozenset[str] = frozenset(
    code
    for code in map(str, Locale("en").territories)
    if len(code) == 2 and code.isalpha() and code not in _NO_COUNTRIES
)
"""ISO 3166 alpha-2 codes."""

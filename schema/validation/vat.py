"""VAT numbers: those of the European Union are proved, of others only the country is."""

import re
from functools import lru_cache

from stdnum.ch import uid as swiss
from stdnum.eu import vat
from stdnum.exceptions import ValidationError
from stdnum.gb import vat as british
from stdnum.no import mva as norwegian

from schema.validation.countries import COUNTRIES

NO_STATES = frozenset({"EU", "IM", "XI"})
"""Prefixes of numbers of the Union that name no member state: of traders outside it, and of Northern Ireland, which is
outside for services.
"""
GREECE = "EL"
MEMBERS = frozenset(state.upper() for state in vat.MEMBER_STATES) - NO_STATES
BRITAIN, NORWAY, SWITZERLAND = "GB", "NO", "CH"
PREFIXES = {"GR": GREECE, "IM": BRITAIN, "MC": "FR", "LI": SWITZERLAND}
"""Countries whose numbers begin with something else than their ISO 3166 code."""
PROVED = MEMBERS | {GREECE, BRITAIN, NORWAY, SWITZERLAND}
_SWISS = re.compile(r"CHE[0-9]{9}(MWST|TVA|IVA|TPV)?")
_ANY_NUMBER = re.compile(r"(?=.*[0-9])[A-Z0-9]{4,20}")
_SEPARATORS = re.compile(r"[\s./-]+")
_NUMBER = re.compile(r"[A-Z]{2}[A-Z]?[0-9][A-Z0-9]+")


@lru_cache(maxsize=10_000)
def normal_vat_number(text: str) -> str:
    """A VAT number of the European Union in capitals, without separators, with the prefix of its country; empty if it is
    none.
    """
    try:
        number = str(vat.validate(text))
    except ValidationError:
        return ""
    if number[:2] in NO_STATES:
        return ""
    return f"{GREECE}{number[2:]}" if number.startswith("GR") else number


def vat_number(text: str) -> str:
    """A VAT number as it is printed: of the European Union, or with the prefix of another country; empty if it is none."""
    if number := normal_vat_number(text):
        return number
    plain = _SEPARATORS.sub("", text).upper()
    is_elsewhere = plain[:2] in COUNTRIES - MEMBERS - NO_STATES
    return plain if is_elsewhere and _NUMBER.fullmatch(plain) else ""


def buyer_vat_number(text: str, country: str) -> str:
    """The number of a company that buys, as it is printed on its invoice; empty if it is none.

    It may lack the prefix of its country, which is `country` (ISO 3166, or empty) then. Numbers of the European Union, the
    United Kingdom, Switzerland and Norway are proved; of companies elsewhere any number is taken.
    """
    plain = _SEPARATORS.sub("", text).upper()
    home = PREFIXES.get(country, country)
    for number in (plain, f"{home}{plain}"):
        if proved := _proved_number(number):
            return proved
    return plain if home not in PROVED and home and _ANY_NUMBER.fullmatch(plain) else ""


def _proved_number(number: str) -> str:
    """A number with its prefix as it is printed; empty if its country has no such number, or is none of these."""
    try:
        if number.startswith(BRITAIN):
            return f"{BRITAIN}{british.validate(number)}"
        if number.startswith(NORWAY):
            return f"{NORWAY}{norwegian.validate(number.removesuffix('MVA') + 'MVA')}"
        if found := _SWISS.fullmatch(number):
            return " ".join(filter(None, (swiss.format(swiss.validate(number[:12])), found[1])))
        return str(vat.validate(number)) if number.startswith("XI") else normal_vat_number(number)
    except ValidationError:
        return ""


def is_reverse_charge(seller: str, buyer: str) -> bool:
    """Whether the buyer owes the VAT of a service: both are businesses of different countries of the European Union.

    Source: articles 44 and 196 of directive 2006/112/EC.
    """
    selling, buying = normal_vat_number(seller), normal_vat_number(buyer)
    return bool(selling and buying) and selling[:2] != buying[:2]

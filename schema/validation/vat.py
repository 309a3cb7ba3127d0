"""VAT numbers: those of the European Union are proved, of others only the country is."""

import re
from functools import lru_cache

from stdnum.eu import vat
from stdnum.exceptions import ValidationError

from schema.validation.countries import COUNTRIES

NO_STATES = frozenset({"EU", "IM", "XI"})
"""Prefixes of numbers of the Union that name no member state: of traders outside it, and of Northern Ireland, which is
outside for services.
"""
GREECE = "EL"
MEMBERS = frozenset(state.upper() for state in vat.MEMBER_STATES) - NO_STATES
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


def is_reverse_charge(seller: str, buyer: str) -> bool:
    """Whether the buyer owes the VAT of a service: both are businesses of different countries of the European Union.

    Source: articles 44 and 196 of directive 2006/112/EC.
    """
    selling, buying = normal_vat_number(seller), normal_vat_number(buyer)
    return bool(selling and buying) and selling[:2] != buying[:2]

"""VAT numbers of the European Union."""

from functools import lru_cache

from stdnum.eu import vat
from stdnum.exceptions import ValidationError


@lru_cache(maxsize=10_000)
def normal_vat_number(text: str) -> str:
    """A VAT number of the European Union in capitals, without separators, with the prefix of its country; empty if it is
    none.
    """
    try:
        return str(vat.validate(text))
    except ValidationError:
        return ""


def is_reverse_charge(seller: str, buyer: str) -> bool:
    """Whether the buyer owes the VAT of a service: both are businesses of different countries of the European Union.

    Source: articles 44 and 196 of directive 2006/112/EC.
    """
    selling, buying = normal_vat_number(seller), normal_vat_number(buyer)
    return bool(selling and buying) and selling[:2] != buying[:2]

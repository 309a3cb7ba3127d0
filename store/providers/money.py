"""Amounts for payment providers: integers in the currency's smallest unit."""

from dataclasses import dataclass
from decimal import Context, Decimal, Inexact
from typing import Self

_EXPONENTS = {
    **dict.fromkeys(("BIF", "CLP", "DJF", "GNF", "ISK", "JPY", "KMF", "KRW", "PYG", "RWF", "UGX", "UYI"), 0),
    **dict.fromkeys(("VND", "VUV", "XAF", "XOF", "XPF"), 0),
    **dict.fromkeys(("BHD", "IQD", "JOD", "KWD", "LYD", "OMR", "TND"), 3),
    **dict.fromkeys(("CLF", "UYW"), 4),
}
_EXACT = Context(prec=60, traps=[Inexact])
"""Raises Inexact rather than rounding, whatever the current decimal context."""


def exponent(currency: str) -> int:
    """Number of decimals of an ISO 4217 currency: 2 for EUR, 0 for JPY, 3 for KWD."""
    return _EXPONENTS.get(currency, 2)


def smallest_unit(currency: str) -> Decimal:
    """The smallest amount of a currency that is stored: 0.01 for EUR, 1 for JPY."""
    return Decimal(1).scaleb(-min(exponent(currency), 2))


@dataclass(frozen=True, slots=True)
class MinorAmount:
    """An amount in the smallest unit of its currency: `MinorAmount("EUR", 1260)` is 12.60 €, `("JPY", 12)` is 12 ¥."""

    currency: str
    minor: int

    @classmethod
    def of(cls, amount: Decimal, currency: str) -> Self:
        """From major units. Raises ValueError for an amount that the currency cannot represent, such as 0.005 €."""
        scaled = amount.scaleb(exponent(currency), _EXACT)
        minor = int(scaled)
        if minor != scaled:
            raise ValueError(f"{amount} {currency} has more decimals than the currency.")
        return cls(currency, minor)

    @property
    def decimal(self) -> Decimal:
        """In major units, with the currency's number of decimals: `Decimal("12.60")`."""
        return Decimal(self.minor).scaleb(-exponent(self.currency), _EXACT)

    def __add__(self, other: "MinorAmount") -> "MinorAmount":
        return MinorAmount(self._common_currency(other), self.minor + other.minor)

    def __sub__(self, other: "MinorAmount") -> "MinorAmount":
        return MinorAmount(self._common_currency(other), self.minor - other.minor)

    def _common_currency(self, other: "MinorAmount") -> str:
        if self.currency != other.currency:
            raise ValueError(f"{self.currency} and {other.currency} cannot be combined.")
        return self.currency

"""Exchange rates between the provider's currencies: fixed, so that results can be predicted."""

from collections.abc import Mapping
from decimal import ROUND_HALF_UP, Decimal

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ParamError

PER_EURO: Mapping[str, str] = {
    "AED": "4.00", "AUD": "1.65", "CAD": "1.50", "CHF": "0.95", "CNH": "7.80", "CZK": "25.00",
    "DKK": "7.46", "EUR": "1", "GBP": "0.85", "HKD": "8.50", "HUF": "390", "ILS": "4.00",
    "JPY": "160", "MXN": "19.00", "NOK": "11.60", "NZD": "1.80", "PLN": "4.30", "RON": "4.97",
    "SAR": "4.10", "SEK": "11.30", "SGD": "1.45", "TRY": "35.00", "USD": "1.09", "ZAR": "20.00",
}  # fmt: skip
WITHOUT_CENTS = frozenset({"JPY"})
"""Currencies whose smallest unit is the currency itself."""
MARGIN = Decimal("0.5")
"""The provider's margin in percent."""


def market_rate(debited: str, credited: str) -> Decimal:
    """How much of the credited currency one of the debited currency is worth."""
    return Decimal(PER_EURO[credited]) / Decimal(PER_EURO[debited])


def client_rate(debited: str, credited: str, margin: Decimal = Decimal(0)) -> Decimal:
    """The market's rate without the provider's margin and the platform's own, both in percent."""
    return market_rate(debited, credited) * (100 - MARGIN - margin) / 100


def convert(amount: int, rate: Decimal, source: str, target: str) -> int:
    """An amount in smallest units of another currency, rounded half up."""
    scale = {currency: 1 if currency in WITHOUT_CENTS else 100 for currency in (source, target)}
    return int((amount * rate * scale[target] / scale[source]).quantize(Decimal(1), ROUND_HALF_UP))


def present(session: SandboxSession, debited: str, credited: str, rate: Decimal) -> Json:
    """A rate in the provider's format."""
    return {
        "DebitedCurrency": debited,
        "CreditedCurrency": credited,
        "ClientRate": f"{rate:.5f}",
        "MarketRate": f"{market_rate(debited, credited):.5f}",
        "MarketRateDate": int(session.now),
    }


def read(session: SandboxSession, call: HttpCall) -> Json:
    """GET /conversions/rate/{debited}/{credited}"""
    debited, credited = call.path["debited"].upper(), call.path["credited"].upper()
    for field, currency in (("DebitedCurrency", debited), ("CreditedCurrency", credited)):
        if currency not in PER_EURO:
            raise ParamError({field: f"The currency {currency} is unknown."})
    return present(session, debited, credited, client_rate(debited, credited))


ENDPOINTS = (WireEndpoint("GET", "/conversions/rate/{debited}/{credited}", read),)

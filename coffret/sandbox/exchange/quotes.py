"""Prices of conversions: amounts, fees and rate. A quote holds a price until it expires."""

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.exchange import rates
from coffret.sandbox.resources import Collection
from coffret.sandbox.wire.bodies import Body, Currency, Tag
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import ParamError

QUOTES = Collection("conversions/quote", "quote_m_")
ACTIVE, EXPIRED = "ACTIVE", "EXPIRED"


class ConvertedFunds(Body):
    """One side of a conversion. One side has an amount, and determines the other; 0 stands for none."""

    currency: Currency
    amount: Annotated[int | None, Field(ge=1), BeforeValidator(lambda amount: amount or None)] = None


class ConversionFees(Body):
    """The fees: an amount, or a percentage of the debited funds."""

    currency: Currency
    type: Literal["FIXED", "PERCENTAGE"] = "FIXED"
    amount: Annotated[int, Field(ge=0)] | None = None
    value: Annotated[float, Field(ge=0, le=100)] | None = None


class UserMargin(Body):
    """The platform's own margin in percent, besides that of the provider."""

    type: Literal["PERCENTAGE"] = "PERCENTAGE"
    value: Annotated[float, Field(ge=0, le=100)]


class ConversionTerms(Body):
    """What determines the price of a conversion."""

    debited_funds: ConvertedFunds
    credited_funds: ConvertedFunds
    fees: ConversionFees | None = None
    user_margin: UserMargin | None = None
    tag: Tag | None = None


class NewQuote(ConversionTerms):
    """The body of POST /conversions/quote."""

    duration: Annotated[int, Field(ge=90, le=24 * 3600)]


def price(session: SandboxSession, terms: ConversionTerms) -> Json:
    """The amounts and the rate of a conversion. Raises ParamError."""
    debited, credited = terms.debited_funds, terms.credited_funds
    if debited.currency == credited.currency:
        raise ParamError({"CreditedFunds.Currency": "The currencies must differ."})
    if terms.fees and terms.fees.currency != debited.currency:
        raise ParamError({"Fees.Currency": "Fees and DebitedFunds must be of the same currency."})
    margin = Decimal(str(terms.user_margin.value)) if terms.user_margin else Decimal(0)
    rate = rates.client_rate(debited.currency, credited.currency, margin)
    paid, fees, received = amounts(terms, rate)
    return {
        "DebitedFunds": {"Currency": debited.currency, "Amount": paid},
        "CreditedFunds": {"Currency": credited.currency, "Amount": received},
        "Fees": {"Currency": debited.currency, "Amount": fees},
        "RequestedFees": terms.fees.to_wire() if terms.fees else None,
        "ConversionRateResponse": rates.present(session, debited.currency, credited.currency, rate),
        "MarginsResponse": {
            "Mangopay": {"Type": "PERCENTAGE", "Value": float(rates.MARGIN)},
            "User": terms.user_margin.to_wire() if terms.user_margin else None,
        },
    }


def amounts(terms: ConversionTerms, rate: Decimal) -> tuple[int, int, int]:
    """What is debited, the fees in it, and what is credited. Raises ParamError."""
    debited, credited = terms.debited_funds, terms.credited_funds
    if debited.amount is not None:
        fees = fees_of(terms.fees, debited.amount)
        if fees >= debited.amount:
            raise ParamError({"Fees.Amount": "Fees must be below DebitedFunds."})
        net = debited.amount - fees
        received = rates.convert(net, rate, debited.currency, credited.currency)
        if not received:
            raise ParamError({"DebitedFunds.Amount": "The amount is too small to be converted."})
        return debited.amount, fees, received
    if credited.amount is None:
        raise ParamError({"DebitedFunds.Amount": "One of DebitedFunds and CreditedFunds must have an Amount."})
    net = max(1, rates.convert(credited.amount, 1 / rate, credited.currency, debited.currency))
    fees = fees_of(terms.fees, net)
    return net + fees, fees, credited.amount


def fees_of(fees: ConversionFees | None, amount: int) -> int:
    """The fees for an amount."""
    if fees is None:
        return 0
    if fees.type == "PERCENTAGE":
        return round(amount * (fees.value or 0) / 100)
    return fees.amount or 0


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /conversions/quote"""
    body = call.json(NewQuote)
    expires = session.now + body.duration
    quote = {
        **price(session, body),
        "Status": ACTIVE,
        "Duration": body.duration,
        "ExpirationDate": int(expires),
        "Tag": body.tag,
    }
    return QUOTES.add(session, quote, due_at=expires)


def settle_due(session: SandboxSession) -> None:
    """Expire quotes that were not used in time."""
    for quote in QUOTES.due(session):
        QUOTES.change(session, quote["Id"], {"Status": EXPIRED})


ENDPOINTS = (
    WireEndpoint("POST", "/conversions/quote", create),
    WireEndpoint("GET", "/conversions/quote/{id}", QUOTES.read),
)

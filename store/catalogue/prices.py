"""Prices of voucher prototypes for a party, and validation of the party."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from sqlalchemy import ColumnElement, case, func
from sqlalchemy.orm import Mapped
from sqlmodel import col

from schema.catalogue.prototype import VoucherPrototypeType
from schema.core.errors import InvalidInput, Problem
from schema.core.message_names import TemplatedMessage
from store.catalogue.catalogue import VoucherPrototypeRow

MAX_PERSONS = 999
MAX_NIGHTS = 365


class PricedPrototype(Protocol):
    """The prototype's fields that determine a price; a row and an offered prototype both have them."""

    @property
    def type(self) -> VoucherPrototypeType: ...
    @property
    def price_scope(self) -> int: ...
    @property
    def min_capacity(self) -> int: ...
    @property
    def max_capacity(self) -> int: ...
    @property
    def nb_nights(self) -> int: ...


@dataclass(frozen=True, slots=True)
class PrototypeRates:
    """The prices of a prototype, VAT included. None: persons of that kind cannot be added."""

    stay: Decimal
    adult: Decimal | None
    child: Decimal | None
    baby: Decimal | None

    @classmethod
    def from_row(cls, row: VoucherPrototypeRow) -> "PrototypeRates":
        return cls(row.stay_price_amount, row.adults_price_amount, row.children_price_amount, row.baby_price_amount)


@dataclass(frozen=True, slots=True)
class Party:
    """The number of persons and nights. `nights` applies to stays only; 0 means the minimum."""

    adults: int
    children: int = 0
    babies: int = 0
    nights: int = 0

    @property
    def persons(self) -> int:
        return self.adults + self.children + self.babies


def nights_of(prototype: PricedPrototype, party: Party) -> int:
    """The nights of a voucher: the chosen ones for a stay, the fixed number for a fixed stay, else 0."""
    if prototype.type is VoucherPrototypeType.STAY:
        return party.nights or fewest_nights(prototype)
    return prototype.nb_nights if prototype.type is VoucherPrototypeType.FIXED_STAY else 0


def fewest_nights(prototype: PricedPrototype) -> int:
    return max(prototype.nb_nights, 1)


def persons_over_scope(prototype: PricedPrototype, party: Party) -> tuple[int, int, int]:
    """Adults, children and babies beyond the price's scope. Its places are filled in that order."""
    left, over = max(prototype.price_scope, 0), []
    for count in (party.adults, party.children, party.babies):
        placed = min(left, count)
        left -= placed
        over.append(count - placed)
    return over[0], over[1], over[2]


def party_problems(prototype: PricedPrototype, rates: PrototypeRates, party: Party) -> Sequence[Problem]:
    """Problems with a party, located by the field names of `Party`; empty if it can be ordered."""
    numbers = {"adults": party.adults, "children": party.children, "babies": party.babies}
    problems = [
        Problem((name,), "OUT_OF_RANGE", TemplatedMessage("Choose from 0 to {most}.", most=MAX_PERSONS))
        for name, number in numbers.items()
        if not 0 <= number <= MAX_PERSONS
    ]
    if problems:
        return problems
    if party.persons < max(prototype.min_capacity, 1):
        least = max(prototype.min_capacity, 1)
        problems.append(
            Problem(
                ("adults",), "TOO_FEW_PERSONS", TemplatedMessage("This is for at least {least} persons.", least=least)
            )
        )
    if prototype.max_capacity and party.persons > prototype.max_capacity:
        problems.append(
            Problem(
                ("adults",),
                "TOO_MANY_PERSONS",
                TemplatedMessage("This is for at most {most}.", most=prototype.max_capacity),
            )
        )
    for name, over, rate in zip(numbers, persons_over_scope(prototype, party), _extra_rates(rates), strict=True):
        if over and rate is None:
            problems.append(Problem((name,), "CANNOT_BE_ADDED", "This cannot be booked for so many."))
    if prototype.type is VoucherPrototypeType.STAY and party.nights:
        least = fewest_nights(prototype)
        if not least <= party.nights <= MAX_NIGHTS:
            problems.append(
                Problem(
                    ("nights",),
                    "OUT_OF_RANGE",
                    TemplatedMessage("Choose from {least} to {most} nights.", least=least, most=MAX_NIGHTS),
                )
            )
    return problems


def rent_price(prototype: PricedPrototype, rates: PrototypeRates, party: Party) -> Decimal:
    """The price of a prototype for a party, without options. Raises InvalidInput for an invalid party."""
    if problems := party_problems(prototype, rates, party):
        raise InvalidInput(*problems)
    more = zip(persons_over_scope(prototype, party), _extra_rates(rates), strict=True)
    a_night = rates.stay + sum((count * rate for count, rate in more if rate is not None), Decimal("0.00"))
    return a_night * (nights_of(prototype, party) if prototype.type is VoucherPrototypeType.STAY else 1)


def _extra_rates(rates: PrototypeRates) -> tuple[Decimal | None, Decimal | None, Decimal | None]:
    return rates.adult, rates.child, rates.baby


def price_varies(prototype: PricedPrototype, rates: PrototypeRates) -> bool:
    """True if a voucher can cost more than the lowest price, without options: for more nights or other persons."""
    if prototype.type is VoucherPrototypeType.STAY:
        return True
    extra = {rate for rate in _extra_rates(rates) if rate is not None}
    least, most = max(prototype.min_capacity, 1), prototype.max_capacity or MAX_PERSONS
    return any(extra) and most > prototype.price_scope and (most > least or len(extra) > 1)


def lowest_price() -> ColumnElement[Decimal]:
    """The lowest price of a prototype's voucher without options, as an SQL expression.

    It is the price for the minimum number of persons and nights: one adult, and the cheapest kind of person for the
    rest.
    """
    table = VoucherPrototypeRow
    least, scope = func.greatest(table.min_capacity, 1), func.greatest(table.price_scope, 0)
    others = func.greatest(least - func.greatest(scope, 1), 0)
    adult = _extra_price(func.greatest(1 - scope, 0), col(table.adults_price_amount))
    rates = (table.adults_price_amount, table.children_price_amount, table.baby_price_amount)
    # LEAST ignores null, the price of persons who cannot be added.
    cheapest = func.least(*(adult + _extra_price(others, col(rate)) for rate in rates))
    nights = case((col(table.type) == VoucherPrototypeType.STAY, func.greatest(table.nb_nights, 1)), else_=1)
    return (col(table.stay_price_amount) + func.coalesce(cheapest, 0)) * nights


def _extra_price(count: ColumnElement[int], rate: Mapped[Decimal | None]) -> ColumnElement[Decimal | None]:
    """The extra price for `count` persons: 0 for none, null if persons of that kind cannot be added."""
    return case((count == 0, 0), else_=count * rate)

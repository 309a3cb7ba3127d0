"""What an experience costs, and for whom it can be bought: a prototype and a party in, amounts out."""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from sqlalchemy import ColumnElement, case, func
from sqlalchemy.orm import Mapped
from sqlmodel import col

from schema.catalogue.prototype import VoucherPrototypeType
from schema.core.errors import InvalidInput, Problem
from store.catalogue.catalogue import VoucherPrototypeRow

MOST_PERSONS = 999
MOST_NIGHTS = 365


class PricedPrototype(Protocol):
    """What a price depends on: a row of a prototype, or what a shop offers of it."""

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
class Rates:
    """The prices of a prototype, VAT included; None: nobody of that kind may be added."""

    stay: Decimal
    adult: Decimal | None
    child: Decimal | None
    baby: Decimal | None

    @classmethod
    def of(cls, row: VoucherPrototypeRow) -> "Rates":
        """Those of a prototype's row."""
        return cls(row.stay_price_amount, row.adults_price_amount, row.children_price_amount, row.baby_price_amount)


@dataclass(frozen=True, slots=True)
class Party:
    """For whom, and for how long. `nights` counts for a stay only; 0 is the fewest."""

    adults: int
    children: int = 0
    babies: int = 0
    nights: int = 0

    @property
    def persons(self) -> int:
        """All of them."""
        return self.adults + self.children + self.babies


def nights_of(prototype: PricedPrototype, party: Party) -> int:
    """The nights of a voucher: those chosen for a stay, those of a fixed stay, 0 for anything else."""
    if prototype.type is VoucherPrototypeType.STAY:
        return party.nights or fewest_nights(prototype)
    return prototype.nb_nights if prototype.type is VoucherPrototypeType.FIXED_STAY else 0


def fewest_nights(prototype: PricedPrototype) -> int:
    """The fewest nights that a stay can be bought for."""
    return max(prototype.nb_nights, 1)


def over_scope(prototype: PricedPrototype, party: Party) -> tuple[int, int, int]:
    """How many adults, children and babies the price is not for: places are filled in that order."""
    left, over = max(prototype.price_scope, 0), []
    for count in (party.adults, party.children, party.babies):
        placed = min(left, count)
        left -= placed
        over.append(count - placed)
    return over[0], over[1], over[2]


def party_problems(prototype: PricedPrototype, rates: Rates, party: Party) -> Sequence[Problem]:
    """What is wrong with a party, by the names of `Party`; nothing when it can be bought for."""
    numbers = {"adults": party.adults, "children": party.children, "babies": party.babies}
    problems = [
        Problem((name,), "OUT_OF_RANGE", f"Choose from 0 to {MOST_PERSONS}.")
        for name, number in numbers.items()
        if not 0 <= number <= MOST_PERSONS
    ]
    if problems:
        return problems
    if party.persons < max(prototype.min_capacity, 1):
        least = max(prototype.min_capacity, 1)
        problems.append(Problem(("adults",), "TOO_FEW_PERSONS", f"This is for at least {least} persons."))
    if prototype.max_capacity and party.persons > prototype.max_capacity:
        problems.append(Problem(("adults",), "TOO_MANY_PERSONS", f"This is for at most {prototype.max_capacity}."))
    for name, over, rate in zip(numbers, over_scope(prototype, party), _by_kind(rates), strict=True):
        if over and rate is None:
            problems.append(Problem((name,), "CANNOT_BE_ADDED", "This cannot be booked for so many."))
    if prototype.type is VoucherPrototypeType.STAY and party.nights:
        least = fewest_nights(prototype)
        if not least <= party.nights <= MOST_NIGHTS:
            problems.append(Problem(("nights",), "OUT_OF_RANGE", f"Choose from {least} to {MOST_NIGHTS} nights."))
    return problems


def rent_price(prototype: PricedPrototype, rates: Rates, party: Party) -> Decimal:
    """What a prototype costs a party, options left out. Raises InvalidInput for a party it cannot be bought for."""
    if problems := party_problems(prototype, rates, party):
        raise InvalidInput(*problems)
    more = zip(over_scope(prototype, party), _by_kind(rates), strict=True)
    a_night = rates.stay + sum((count * rate for count, rate in more if rate is not None), Decimal("0.00"))
    return a_night * (nights_of(prototype, party) if prototype.type is VoucherPrototypeType.STAY else 1)


def _by_kind(rates: Rates) -> tuple[Decimal | None, Decimal | None, Decimal | None]:
    return rates.adult, rates.child, rates.baby


def lowest_price() -> ColumnElement[Decimal]:
    """The least that a voucher of a prototype costs, options left out, as a column of its table: of the fewest persons and
    nights, with one adult, and adults, children or babies besides, whoever of them costs least.
    """
    table = VoucherPrototypeRow
    least, scope = func.greatest(table.min_capacity, 1), func.greatest(table.price_scope, 0)
    others = func.greatest(least - func.greatest(scope, 1), 0)
    adult = _for(func.greatest(1 - scope, 0), col(table.adults_price_amount))
    rates = (table.adults_price_amount, table.children_price_amount, table.baby_price_amount)
    cheapest = func.least(*(adult + _for(others, col(rate)) for rate in rates))  # those that cannot be added are null
    nights = case((col(table.type) == VoucherPrototypeType.STAY, func.greatest(table.nb_nights, 1)), else_=1)
    return (col(table.stay_price_amount) + func.coalesce(cheapest, 0)) * nights


def _for(count: ColumnElement[int], rate: Mapped[Decimal | None]) -> ColumnElement[Decimal | None]:
    """What so many cost besides: nothing for nobody, also of those who cannot be added."""
    return case((count == 0, 0), else_=count * rate)

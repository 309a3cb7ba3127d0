"""What an experience costs: places filled by adults, then children, then babies; who is over pays."""

from dataclasses import dataclass
from decimal import Decimal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from schema.catalogue.prototype import VoucherPrototypeType
from schema.core.errors import InvalidInput
from store.catalogue.prices import (
    MAX_NIGHTS,
    Party,
    PrototypeRates,
    fewest_nights,
    nights_of,
    party_problems,
    persons_over_scope,
    rent_price,
)

STAY, STANDARD, FIXED = VoucherPrototypeType.STAY, VoucherPrototypeType.STANDARD, VoucherPrototypeType.FIXED_STAY
RATES = PrototypeRates(Decimal("100.00"), Decimal("50.00"), Decimal("20.00"), Decimal("0.00"))


@dataclass(frozen=True)
class Prototype:
    """What a price depends on."""

    type: VoucherPrototypeType = STANDARD
    price_scope: int = 2
    min_capacity: int = 1
    max_capacity: int = 0
    nb_nights: int = 0


@pytest.mark.parametrize(
    ("prototype", "party", "price"),
    [
        (Prototype(), Party(1), "100.00"),
        (Prototype(), Party(2), "100.00"),
        (Prototype(), Party(3, 1, 1), "170.00"),
        (Prototype(), Party(1, 2), "120.00"),
        (Prototype(), Party(0, 1, 2), "100.00"),
        (Prototype(price_scope=0), Party(1, 1, 1), "170.00"),
        (Prototype(STAY, nb_nights=2), Party(2), "200.00"),
        (Prototype(STAY, nb_nights=2), Party(2, nights=3), "300.00"),
        (Prototype(STAY), Party(3, nights=2), "300.00"),
        (Prototype(STAY), Party(2), "100.00"),
        (Prototype(FIXED, nb_nights=3), Party(3, nights=9), "150.00"),
        (Prototype(nb_nights=3), Party(2, nights=9), "100.00"),
    ],
)
def test_who_is_over_pays_and_stays_are_by_the_night(prototype: Prototype, party: Party, price: str) -> None:
    assert rent_price(prototype, RATES, party) == Decimal(price)


@pytest.mark.parametrize(
    ("prototype", "rates", "party", "wrong"),
    [
        (Prototype(), RATES, Party(0), ("adults", "TOO_FEW_PERSONS")),
        (Prototype(min_capacity=3), RATES, Party(2), ("adults", "TOO_FEW_PERSONS")),
        (Prototype(max_capacity=3), RATES, Party(2, 1, 1), ("adults", "TOO_MANY_PERSONS")),
        (
            Prototype(),
            PrototypeRates(Decimal(1), None, Decimal(1), Decimal(1)),
            Party(3),
            ("adults", "CANNOT_BE_ADDED"),
        ),
        (
            Prototype(),
            PrototypeRates(Decimal(1), Decimal(1), None, Decimal(1)),
            Party(2, 1),
            ("children", "CANNOT_BE_ADDED"),
        ),
        (
            Prototype(),
            PrototypeRates(Decimal(1), Decimal(1), Decimal(1), None),
            Party(2, 0, 1),
            ("babies", "CANNOT_BE_ADDED"),
        ),
        (Prototype(), RATES, Party(1, -1), ("children", "OUT_OF_RANGE")),
        (Prototype(), RATES, Party(1000), ("adults", "OUT_OF_RANGE")),
        (Prototype(STAY, nb_nights=2), RATES, Party(1, nights=1), ("nights", "OUT_OF_RANGE")),
        (Prototype(STAY), RATES, Party(1, nights=-1), ("nights", "OUT_OF_RANGE")),
        (Prototype(STAY), RATES, Party(1, nights=MAX_NIGHTS + 1), ("nights", "OUT_OF_RANGE")),
    ],
)
def test_a_party_that_cannot_be_is_refused(
    prototype: Prototype, rates: PrototypeRates, party: Party, wrong: tuple[str, str]
) -> None:
    assert [(p.path[0], p.code) for p in party_problems(prototype, rates, party)] == [wrong]
    with pytest.raises(InvalidInput):
        rent_price(prototype, rates, party)


money = st.decimals(0, 999, places=2)
maybe = st.none() | money
counts = st.integers(0, 6)
prototypes = st.builds(
    Prototype,
    type=st.sampled_from(VoucherPrototypeType),
    price_scope=st.integers(0, 6),
    min_capacity=st.integers(0, 4),
    max_capacity=st.just(0) | st.integers(4, 12),
    nb_nights=st.integers(0, 5),
)
parties = st.builds(Party, adults=counts, children=counts, babies=counts, nights=st.just(0) | st.integers(1, 9))


@settings(max_examples=300, deadline=None)
@given(prototypes, st.builds(PrototypeRates, stay=money, adult=maybe, child=maybe, baby=maybe), parties)
def test_any_party_is_refused_or_pays_person_by_person(
    prototype: Prototype, rates: PrototypeRates, party: Party
) -> None:
    people = [rates.adult] * party.adults + [rates.child] * party.children + [rates.baby] * party.babies
    over = people[prototype.price_scope :]
    assert sum(persons_over_scope(prototype, party)) == len(over)
    persons = max(prototype.min_capacity, 1) <= len(people) <= (prototype.max_capacity or 99)
    nights = prototype.type is not STAY or not party.nights or party.nights >= fewest_nights(prototype)
    if not (persons and nights) or None in over:
        with pytest.raises(InvalidInput):
            rent_price(prototype, rates, party)
    else:
        times = nights_of(prototype, party) if prototype.type is STAY else 1
        assert times >= 1
        each = rates.stay + sum((p for p in over if p is not None), Decimal(0))
        assert rent_price(prototype, rates, party) == times * each

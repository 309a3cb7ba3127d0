"""Amounts in the smallest unit, and words of failure."""

import re
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.providers.keys import new_idempotency_key
from store.providers.money import MinorAmount, exponent


@pytest.mark.parametrize(
    ("amount", "currency", "minor", "back"),
    [
        ("12.60", "EUR", 1260, "12.60"),
        ("12", "EUR", 1200, "12.00"),
        ("12.00", "JPY", 12, "12"),
        ("1.234", "KWD", 1234, "1.234"),
        ("0.0001", "CLF", 1, "0.0001"),
        ("-1.00", "EUR", -100, "-1.00"),
        ("0", "JPY", 0, "0"),
    ],
)
def test_an_amount_is_told_in_either_unit(amount: str, currency: str, minor: int, back: str) -> None:
    told = MinorAmount.of(Decimal(amount), currency)
    assert told == MinorAmount(currency, minor)
    assert str(told.decimal) == back


@pytest.mark.parametrize(("amount", "currency"), [("0.005", "EUR"), ("12.50", "JPY"), ("0.0001", "KWD")])
def test_what_a_currency_cannot_pay_exactly_is_refused(amount: str, currency: str) -> None:
    with pytest.raises(ValueError, match="more decimals"):
        MinorAmount.of(Decimal(amount), currency)


@given(st.integers(-(10**30), 10**30), st.sampled_from(["EUR", "JPY", "KWD", "CLF"]))
def test_nothing_is_lost_on_the_way_there_and_back(minor: int, currency: str) -> None:
    amount = MinorAmount(currency, minor)
    assert MinorAmount.of(amount.decimal, currency) == amount


def test_amounts_add_up_within_one_currency() -> None:
    assert MinorAmount("EUR", 5) + MinorAmount("EUR", 3) - MinorAmount("EUR", 10) == MinorAmount("EUR", -2)
    with pytest.raises(ValueError, match="EUR and JPY"):
        MinorAmount("EUR", 5) + MinorAmount("JPY", 3)


def test_most_currencies_have_cents() -> None:
    assert [exponent(code) for code in ("EUR", "USD", "GBP", "HUF")] == [2, 2, 2, 2]


def test_every_key_is_one_that_providers_take() -> None:
    first, second = new_idempotency_key(), new_idempotency_key()
    assert first != second
    assert re.fullmatch("[A-Za-z0-9-]{16,36}", first)

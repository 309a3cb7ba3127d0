"""Whole numbers and amounts, however a client writes them."""

import contextlib
import math
from decimal import Decimal
from typing import Annotated, Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError

from schema.validation.numbers import (
    LARGEST_AMOUNT,
    LARGEST_ID,
    LARGEST_INTEGER,
    AmountRule,
    MoneyAmount,
    PositiveAmount,
    RowId,
    SignedAmount,
    WholeNumber,
    WholeNumberRule,
)

WHOLE = TypeAdapter(WholeNumber)
MONEY = TypeAdapter(MoneyAmount)
SIGNED = TypeAdapter(SignedAmount)

CENTS = st.decimals(min_value=0, max_value=LARGEST_AMOUNT, places=2, allow_nan=False)


def refusal_message(adapter: TypeAdapter[Any], value: object) -> str:
    """The one message a value is refused with."""
    with pytest.raises(ValidationError) as refusal:
        adapter.validate_python(value)
    (error,) = refusal.value.errors()
    assert error["loc"] == ()
    return error["msg"]


@pytest.mark.parametrize("value", [5, "5", " 5 ", "+5", 5.0, "5.0", "005"])
def test_five_is_five_however_it_is_written(value: object) -> None:
    read = WHOLE.validate_python(value)
    assert read == 5
    assert type(read) is int


@pytest.mark.parametrize(
    "value", [True, False, 5.5, "5.5", "1_0", "٥", "five", "", None, [], {}, math.inf, math.nan, 1e30, "9" * 50, "0x5"]
)
def test_what_is_no_whole_number_is_refused_in_one_sentence(value: object) -> None:
    assert refusal_message(WHOLE, value) == "Send a whole number."


@given(st.integers(min_value=-LARGEST_INTEGER - 1, max_value=LARGEST_INTEGER))
def test_a_whole_number_of_64_bits_keeps_its_value(number: int) -> None:
    assert WHOLE.validate_python(number) == number
    assert WHOLE.validate_python(str(number)) == number


@pytest.mark.parametrize("value", [LARGEST_INTEGER + 1, str(LARGEST_INTEGER + 1), -LARGEST_INTEGER - 2, 10**100])
def test_a_whole_number_beyond_64_bits_is_refused(value: object) -> None:
    assert refusal_message(WHOLE, value).startswith("Input should be")


@pytest.mark.parametrize("value", [0, -1, LARGEST_ID + 1, "0"])
def test_no_row_has_such_an_id(value: object) -> None:
    refusal_message(TypeAdapter(RowId), value)


def test_the_bounds_of_a_whole_number_are_told() -> None:
    adapter = TypeAdapter(Annotated[int, WholeNumberRule(ge=0, le=9)])
    assert adapter.json_schema() == {"type": "integer", "minimum": 0, "maximum": 9}
    assert refusal_message(adapter, 10).endswith("less than or equal to 9")
    assert refusal_message(adapter, -1).endswith("greater than or equal to 0")


@given(CENTS)
def test_an_amount_survives_every_way_of_writing_it(amount: Decimal) -> None:
    as_float: float = orjson.loads(orjson.dumps(float(amount)))
    for written in (amount, str(amount), as_float):
        read = MONEY.validate_python(written)
        assert read == amount
        assert read.as_tuple().exponent == -2


@given(st.decimals(min_value=0, max_value=10**6, places=2), st.floats(min_value=-0.0000009, max_value=0.0000009))
def test_a_number_near_a_cent_is_that_cent(amount: Decimal, noise: float) -> None:
    assert SIGNED.validate_python(float(amount) + noise) == amount


@given(st.integers(min_value=0, max_value=10**9), st.sampled_from(["001", "999", "0001", "500", "010"]))
def test_more_than_two_decimals_are_refused(units: int, decimals: str) -> None:
    assert refusal_message(MONEY, f"{units}.{decimals}") == "An amount has two decimals at most."


@given(st.integers(min_value=0, max_value=10**6), st.floats(min_value=0.0011, max_value=0.0089))
def test_a_number_between_two_cents_is_refused(units: int, between: float) -> None:
    assert refusal_message(MONEY, units + between) == "An amount has two decimals at most."


@pytest.mark.parametrize("value", ["10.000", "0.001", 0.001, 10.005, "1e-3", Decimal("1.005")])
def test_no_amount_is_rounded(value: object) -> None:
    assert refusal_message(MONEY, value) == "An amount has two decimals at most."


@pytest.mark.parametrize(
    "value",
    [
        True,
        False,
        None,
        "",
        " ",
        "abc",
        "NaN",
        "Infinity",
        "-inf",
        "1_0",
        "١",
        "1,50",
        "1e99999",
        "0x1",
        [],
        {},
        b"1",
        math.nan,
        math.inf,
        -math.inf,
        Decimal("NaN"),
        Decimal("Infinity"),
        Decimal("sNaN"),
        "--1",
        "+",
        ".",
        "1e",
    ],
)
def test_what_is_no_amount_is_refused(value: object) -> None:
    assert refusal_message(SIGNED, value) == "Send an amount, such as 12.50."


@pytest.mark.parametrize("value", ["1e400", "10000000000", 10**10, 10**400, 1e300, -1e300, "1e9999", Decimal("1E+50")])
def test_what_no_column_holds_is_refused(value: object) -> None:
    assert refusal_message(SIGNED, value) == "This is more than 9999999999.99."


@pytest.mark.parametrize(
    ("value", "amount"),
    [
        ("1e2", "100.00"),
        (100.0, "100.00"),
        (" 5 ", "5.00"),
        ("5.", "5.00"),
        (".5", "0.50"),
        (0.1 + 0.2, "0.30"),
        (-0.0, "0.00"),
        ("-0", "0.00"),
        (9999999999.99, "9999999999.99"),
        ("1e-2", "0.01"),
    ],
)
def test_amounts_are_exact(value: object, amount: str) -> None:
    assert str(SIGNED.validate_python(value)) == amount


@given(st.one_of(st.floats(), st.text(), st.integers(), st.decimals(), st.booleans(), st.none()))
def test_any_value_is_an_amount_of_cents_or_refused(value: object) -> None:
    with contextlib.suppress(ValidationError):
        amount = SIGNED.validate_python(value)
        assert abs(amount) <= LARGEST_AMOUNT
        assert amount.as_tuple().exponent == -2
        assert abs(amount - Decimal(str(value).strip())) <= Decimal("0.000001")


def test_the_bounds_of_an_amount_are_told() -> None:
    assert refusal_message(MONEY, "-0.01") == "Send at least 0."
    assert refusal_message(TypeAdapter(PositiveAmount), 0) == "Send an amount above zero."
    assert refusal_message(TypeAdapter(Annotated[Decimal, AmountRule(le=Decimal(5))]), "5.01") == "Send at most 5."
    assert TypeAdapter(PositiveAmount).json_schema()["anyOf"][0]["exclusiveMinimum"] == 0

"""Numbers that are sent over GraphQL are read as strictly as over REST."""

from decimal import Decimal

import pytest
from strawberry.exceptions import StrawberryInputCoercionError

from schema.graph.scalars import SCALARS

READ = SCALARS[Decimal].parse_value


@pytest.mark.parametrize(
    ("value", "read"),
    [("12.50", "12.50"), (" 5 ", "5"), ("-0.5", "-0.5"), (".5", "0.5"), ("1e3", "1000"), (5, "5"), (5.005, "5.005")],
)
def test_a_decimal_number_is_read_as_it_stands(value: object, read: str) -> None:
    assert READ is not None
    assert READ(value) == Decimal(read)


@pytest.mark.parametrize(
    "value",
    ["1_0", "٣", "９", "1,00", "", " ", "NaN", "Infinity", "1e41", "0x10", "5\n0", True, None, float("inf"), 10**41],
)
def test_what_is_no_decimal_number_is_refused(value: object) -> None:
    assert READ is not None
    with pytest.raises(StrawberryInputCoercionError, match="Decimal cannot be read"):
        READ(value)

"""What is wrong with a limit has a code of its own."""

from decimal import Decimal
from typing import Annotated, Any

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from schema.core.messages import problems_of


@pytest.mark.parametrize(
    ("kind", "value", "code"),
    [
        (Annotated[str, Field(max_length=2)], "abc", "TOO_LONG"),
        (Annotated[list[int], Field(max_length=2)], [1, 2, 3], "TOO_MANY"),
        (Annotated[int, Field(ge=1)], 0, "OUT_OF_RANGE"),
        (Annotated[int, Field(gt=1)], 1, "OUT_OF_RANGE"),
        (Annotated[int, Field(le=1)], 2, "OUT_OF_RANGE"),
        (Annotated[Decimal, Field(lt=1)], 2, "OUT_OF_RANGE"),
        (int, "x", "INVALID"),
        (Annotated[str, Field(min_length=2)], "a", "INVALID"),
    ],
)
def test_limits_have_codes(kind: Any, value: Any, code: str) -> None:
    with pytest.raises(ValidationError) as raised:
        TypeAdapter(kind).validate_python(value)
    assert [problem.code for problem in problems_of(raised.value)] == [code]

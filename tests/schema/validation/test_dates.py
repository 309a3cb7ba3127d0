"""Days as clients send them."""

import datetime as dt
from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from schema.catalogue.prototype_input import CreateVoucherPrototype
from schema.core.messages import problems_of
from schema.partner.input import OptionalBirthday
from schema.validation.dates import Day, OptionalDay

DAY = dt.date(1980, 4, 5)


@pytest.mark.parametrize(
    "value",
    [DAY, "1980-04-05", "1980-04-05T00:00:00.000000Z", "1980-04-05T00:00:00"],
    ids=["date", "day", "answered", "bare"],
)
def test_a_day_is_read_as_it_is_written_and_as_it_was_answered(value: Any) -> None:
    assert TypeAdapter(Day).validate_python(value) == DAY


@pytest.mark.parametrize(
    "value", ["0", "86400", "19800405", "-1", "1e3", "٢٠٢٦-01-01", "5/4/1980", "", 0, 86400, 1.5, True, [], {}]
)
def test_seconds_since_1970_are_no_day(value: Any) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Day).validate_python(value)
    assert [problem.message for problem in problems_of(refused.value)] == ["Send a date, such as 2030-12-31."]


@pytest.mark.parametrize(
    ("value", "message"),
    [("1980-02-30", "Send a date, such as 2030-12-31."), ("1980-04-05T12:00:00Z", "Send a date without a time.")],
)
def test_a_day_that_there_is_not_or_with_a_time_is_refused(value: str, message: str) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(Day).validate_python(value)
    assert [problem.message for problem in problems_of(refused.value)] == [message]


def test_no_day_is_null_or_empty() -> None:
    assert [TypeAdapter(OptionalDay).validate_python(nothing) for nothing in (None, "")] == [None, None]


def test_days_of_partners_and_prototypes_are_read_so() -> None:
    birthday = TypeAdapter(OptionalBirthday)
    assert birthday.validate_python("1980-04-05") == DAY
    for kind in (birthday, TypeAdapter(CreateVoucherPrototype)):
        sent: Any = "86400" if kind is birthday else {"last_active_day": "86400"}
        with pytest.raises(ValidationError) as refused:
            kind.validate_python(sent)
        assert "Send a date, such as 2030-12-31." in {problem.message for problem in problems_of(refused.value)}

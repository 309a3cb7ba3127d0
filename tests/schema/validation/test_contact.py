"""Texts of inputs: how long they may be, and what is empty."""

from typing import Any

import pytest
from pydantic import TypeAdapter, ValidationError

from schema.catalogue.option_input import SourceId
from schema.core.messages import problems_of
from schema.media import MediaName
from schema.partner.input import City
from schema.validation.contact import Email, Phone

LIMITS = pytest.mark.parametrize(("kind", "longest"), [(City, 120), (Email, 254), (Phone, 40), (SourceId, 80)])


@LIMITS
def test_a_text_that_is_too_long_is_told_so_in_characters(kind: Any, longest: int) -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(kind).validate_python("1" * (longest + 1))
    assert [problem.message for problem in problems_of(refused.value)] == [f"Use at most {longest} characters."]
    assert TypeAdapter(kind).json_schema()["maxLength"] == longest


@LIMITS
def test_null_and_blanks_are_an_empty_text(kind: Any, longest: int) -> None:
    for nothing in (None, "", " " * (longest + 1)):
        assert TypeAdapter(kind).validate_python(nothing) == ""


def test_a_text_that_must_be_there_is_asked_for() -> None:
    with pytest.raises(ValidationError) as refused:
        TypeAdapter(MediaName).validate_python("  ")
    assert [problem.message for problem in problems_of(refused.value)] == ["Use 1 or more characters."]

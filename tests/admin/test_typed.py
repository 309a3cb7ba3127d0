"""What is typed becomes the variables of a mutation."""

import pytest

from admin.forms.form_fields import FormBuilder
from admin.forms.kinds import Kind
from admin.forms.typed import Typed, without_removed_rows
from admin.graph.schema_types import input_of

PROTOTYPE, BEFORE = input_of("updateVoucherPrototype"), {"imageIds.5": "1", "imageIds.3": "1"}


@pytest.mark.parametrize(
    ("form", "ids"),
    [
        ({"imageIds.3": "1", "imageIds.5": "1"}, None),
        ({"imageIds": "3\r\n5\r\n"}, None),
        ({"imageIds.3": "1", "imageIds.5": "1", "imageIds.9": "1"}, [5, 3, 9]),
        ({"imageIds": "9\n3"}, [3, 9]),
        ({}, []),
    ],
)
def test_references_keep_their_order_ticked_or_typed(form: dict[str, str], ids: list[int] | None) -> None:
    typed = Typed(form, "UTC", BEFORE)
    assert typed.read(PROTOTYPE, {}).get("imageIds") == ids
    assert typed.problems == []


def test_what_is_too_many_to_choose_from_is_typed() -> None:
    field = next(each for each in FormBuilder(BEFORE).build(PROTOTYPE, frozenset()) if each.name == "imageIds")
    assert (field.kind, field.value) == (Kind.LINES, "5\n3")
    choices = {"imageIds": [("5", "Garden"), ("7", "Pool")]}
    field = next(
        each for each in FormBuilder(BEFORE, {}, choices).build(PROTOTYPE, frozenset()) if each.name == "imageIds"
    )
    assert (field.kind, [value for value, _ in field.choices], field.checked) == (
        Kind.REFERENCES,
        ["5", "7", "3"],
        frozenset({"5", "3"}),
    )


def test_rows_behind_a_removed_one_move_up() -> None:
    form = {
        "rates.#": "3",
        "rates.0.price": "1",
        "rates.1.price": "2",
        "rates.1.-": "1",
        "rates.2.price": "3",
        "x": "y",
    }
    left = {"rates.#": "2", "rates.0.price": "1", "rates.1.price": "3", "x": "y"}
    assert without_removed_rows(form) == left
    assert without_removed_rows(left) == left

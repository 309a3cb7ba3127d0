"""The page of an export has words for its filter and its order, and a unit for its size."""

from typing import Any

import pytest

from admin.core.values import Reader
from admin.graph.schema_types import object_type
from store.core.localization.formats import Formats


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("size", 422, "422 B"),
        ("size", 1_234_567, "1.2 MB"),
        ("orderBy", "NEWEST", "Newest"),
        ("filter", {}, ""),
        (
            "filter",
            {"status": "PAID", "states": ["NEEDS_ACTION"], "isActive": True, "number": 6},
            "Status: Paid, States: Needs action, Active: Yes, Number: 6",
        ),
    ],
)
def test_the_values_of_an_export_are_words(name: str, value: Any, shown: str) -> None:
    reader = Reader(Formats("en"), "UTC", lambda text: text)
    assert reader.text(object_type("Export").fields[name], name, value) == shown

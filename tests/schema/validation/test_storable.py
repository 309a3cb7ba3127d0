"""Texts that no database takes: where they stand, and what is left of the data."""

import json
from typing import Any

import pytest

from schema.validation.storable import drop_unstorable, may_hold_unstorable


@pytest.mark.parametrize("bad", ["\0", "a\0b", "\ud800", "a\udfff"])
def test_a_text_and_a_key_are_dropped_wherever_they_stand(bad: str) -> None:
    data = {"a": bad, "b": [1, bad, {"c": bad, bad: [bad]}], "d": {"e": "fine"}}
    left, dropped = drop_unstorable(data)
    assert left == {"a": None, "b": [1, None, {"c": None}], "d": {"e": "fine"}}
    assert sorted(dropped, key=str) == sorted([("a",), ("b", 1), ("b", 2), ("b", 2, "c")], key=str)
    assert drop_unstorable(bad) == (None, [()])


@pytest.mark.parametrize("data", [None, 1, "fine", [], {}, {"a": ["\U0001f600", {"b": "\\u0000"}]}])
def test_all_else_stays(data: Any) -> None:
    assert drop_unstorable(data) == (data, [])


def test_two_bad_keys_of_an_object_are_one_problem() -> None:
    assert drop_unstorable({"a": {"\0": 1, "\ud800": 2}}) == ({"a": {}}, [("a",)])


@pytest.mark.parametrize("level", ["[{}]", '{{"a":{}}}'])
def test_data_may_nest_deeper_than_calls(level: str) -> None:
    text = '"\\u0000"'
    for _ in range(900):
        text = level.format(text)
    assert len(drop_unstorable(json.loads(text))[1]) == 1


@pytest.mark.parametrize("text", ["\0", "a\ud800"])
def test_json_that_may_hold_one(text: str) -> None:
    assert may_hold_unstorable(json.dumps({"a": text}).encode())
    assert may_hold_unstorable(json.dumps({text: 1}).encode())


@pytest.mark.parametrize("text", ["", "a", "é", "\n", "\x01"])
def test_json_that_holds_none_is_known_by_its_bytes(text: str) -> None:
    assert not may_hold_unstorable(json.dumps({"a": text}).encode())

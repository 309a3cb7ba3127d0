"""Which route a path leads to, and what its parameters are."""

import uuid
from typing import Annotated, Any

import pytest
from pydantic import Field

from rest_compat.http.paths import PathTable, PathValues

TABLE = PathTable(
    [
        (["GET"], "/a/", "list"),
        (["POST"], "/a/", "create"),
        (["GET"], "/a/{id}/", "read"),
        (["PATCH", "PUT"], "/a/{other}/", "update"),
        (["POST"], "/a/create/", "own create"),
        (["GET"], "/a/{id}/b/{name}/", "inner"),
        (["GET"], "/a/{id}/b/c.d/", "fixed"),
        (["GET"], "/a/x/{part}/{name}/", "x"),
    ]
)


@pytest.mark.parametrize(
    ("path", "methods", "values"),
    [
        ("/a/", {"GET": "list", "HEAD": "list", "POST": "create"}, []),
        ("/a/1/", {"GET": "read", "HEAD": "read", "PATCH": "update", "PUT": "update"}, ["1"]),
        ("/a/create/", {"POST": "own create"}, []),
        ("/a/1/b/two words/", {"GET": "inner", "HEAD": "inner"}, ["1", "two words"]),
        ("/a/1/b/c.d/", {"GET": "fixed", "HEAD": "fixed"}, ["1"]),
        ("/a/1/b/c-d/", {"GET": "inner", "HEAD": "inner"}, ["1", "c-d"]),
        ("/a/x/b/c.d/", {"GET": "x", "HEAD": "x"}, ["b", "c.d"]),
        ("/a/new\nline/", {"GET": "read", "HEAD": "read", "PATCH": "update", "PUT": "update"}, ["new\nline"]),
    ],
)
def test_a_path_leads_to_its_targets(path: str, methods: dict[str, str], values: list[str]) -> None:
    for written in (path, path.removesuffix("/")):
        found = TABLE.find(written)
        assert found is not None
        assert (found[0], list(found[1])) == (methods, values)


@pytest.mark.parametrize("path", ["/", "/b/", "/a//", "/a/1//", "/a/1/b/", "/a/1/b/2/3/", "//a/", "/a/1/b//"])
def test_other_paths_lead_nowhere(path: str) -> None:
    assert TABLE.find(path) is None


def test_two_targets_of_one_method_and_path_are_refused() -> None:
    with pytest.raises(ValueError, match="Two routes answer GET"):
        PathTable([(["GET"], "/a/{id}/", 1), (["GET"], "/a/{name}/", 2)])


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (str, "AB 12", "AB 12"),
        (str, "a\0b", None),
        (int, "12", 12),
        (int | None, "12", 12),
        (int, "01", None),
        (int | None, "01", None),
        (int, "+1", None),
        (int, "0", None),
        (int, "12345678901", None),
        (int, "x", None),
        (uuid.UUID, "0b0d2cf4-6f0f-4c3c-9a51-3f4f0c6a7c11", uuid.UUID("0b0d2cf4-6f0f-4c3c-9a51-3f4f0c6a7c11")),
        (uuid.UUID, "check", None),
    ],
)
def test_the_value_of_a_parameter(kind: Any, text: str, value: Any) -> None:
    found = PathValues(["one"], {"one": kind}).read([text])
    assert found == (None if value is None else {"one": value})


def test_a_type_with_rules_of_its_own_keeps_them() -> None:
    values = PathValues(["code"], {"code": Annotated[str, Field(max_length=3)]})
    assert values.read(["abc"]) == {"code": "abc"}
    assert values.read(["abcd"]) is None


def test_a_type_that_may_be_null_is_stricter_in_a_path_too() -> None:
    values = PathValues(["id"], {"id": int | None})
    assert values.read(["7"]) == {"id": 7}
    assert values.read(["07"]) is None

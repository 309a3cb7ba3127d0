"""Groups of fields of an input are flat keys in REST: read, described, and named when something is wrong."""

from typing import Any

import pytest
import strawberry
from pydantic import Field

from rest_compat.http.inputs import InputReader
from rest_compat.openapi.schemas import Components
from schema.core.inputs import RejectedInput, graphql_input
from schema.core.resource import SchemaModel


@graphql_input
class PlaceInput(SchemaModel):
    """A place."""

    town: str = Field(max_length=5, description="Town.")
    street: str = Field(default="", description="Street.")


@graphql_input
class PersonInput(SchemaModel):
    """A person."""

    name: str = Field(description="Name.")
    home: PlaceInput = Field(description="Home.")
    work: strawberry.Maybe[PlaceInput] = Field(description="Work.")


KEYS = {"home_town": "home.town", "street": "home.street", "work_town": "work.town", "full_name": "name"}
READER = InputReader(PersonInput, KEYS)


def test_keys_become_the_fields_of_their_groups() -> None:
    made: Any = READER.read({"full_name": "Ada", "home_town": "Lyon", "street": "4 rue", "work_town": "Metz"}, {})
    assert (made.name, made.home, made.work.value) == (
        "Ada",
        PlaceInput(town="Lyon", street="4 rue"),
        PlaceInput(town="Metz"),
    )


def test_a_group_that_nothing_was_sent_of_was_left_out() -> None:
    made: Any = READER.read({"full_name": "Ada", "home_town": "Lyon"}, {})
    assert made.work is None


def test_names_of_ours_are_no_keys() -> None:
    sent = {"full_name": "Ada", "home_town": "Lyon", "work": {"town": "Metz"}, "home": {"town": "Nice"}, "name": "Eve"}
    made: Any = READER.read(sent, {})
    assert (made.name, made.home.town, made.work) == ("Ada", "Lyon", None)


@pytest.mark.parametrize(
    ("body", "wrong"),
    [
        ({}, {("full_name",), ("home_town",)}),
        ({"full_name": "Ada", "home_town": "London"}, {("home_town",)}),
        ({"full_name": "Ada", "home_town": "Lyon", "work_town": 7}, {("work_town",)}),
    ],
)
def test_what_is_wrong_is_told_at_its_key(body: dict[str, Any], wrong: set[tuple[str, ...]]) -> None:
    refused = READER.read(body, {})
    assert isinstance(refused, RejectedInput)
    assert {problem.path for problem in refused.problems} == wrong
    assert READER.key_path_of(("work", "town")) == ("work_town",)


def test_the_description_has_the_keys() -> None:
    schema = Components().input(READER)
    assert set(schema["properties"]) == set(KEYS)
    assert set(schema["required"]) == {"home_town", "full_name"}
    assert schema["properties"]["home_town"]["maxLength"] == 5


def test_a_key_of_what_there_is_not_stops_the_start() -> None:
    with pytest.raises(LookupError, match=r"PersonInput has no home\.garden"):
        InputReader(PersonInput, {"garden": "home.garden"})

"""Messages that each transport tells in its own names."""

import enum
from decimal import Decimal

from pydantic import TypeAdapter, ValidationError

from schema.core.errors import InvalidTransition
from schema.core.message_names import FieldName, MessageAmount, TemplatedMessage
from schema.core.messages import problems_of
from schema.graph.errors import ENGLISH
from schema.partner.input import CreatePartnerStatus


class Colour(enum.StrEnum):
    """A closed set that is kept in short."""

    RED = "r"
    DARK_BLUE = "db"
    GREEN = "g"


def test_rest_and_graphql_have_names_of_their_own() -> None:
    told = TemplatedMessage(
        "Send {choices}, or {key}: {least} at least.", choices=list(Colour), key=FieldName("dark_colour"), least=3
    )
    assert told == "Send r, db or g, or dark_colour: 3 at least."
    assert ENGLISH.word(told) == "Send RED, DARK_BLUE or GREEN, or darkColour: 3 at least."
    assert ENGLISH.word("Send r.") == "Send r."


def test_amounts_have_their_currency() -> None:
    left = TemplatedMessage("Only {left} is left.", left=MessageAmount(Decimal("40.00"), "CHF"))
    assert (str(left), ENGLISH.word(left)) == ("Only 40.00 CHF is left.", "Only 40.00 CHF is left.")


def test_one_choice_needs_no_or() -> None:
    assert ENGLISH.word(TemplatedMessage("Send {choices}.", choices=(Colour.RED,))) == "Send RED."


def test_errors_of_the_catalogue_name_members() -> None:
    error = InvalidTransition(thing="A thing", old=Colour.RED, new=Colour.GREEN)
    assert str(error) == "A thing cannot go from r to g."
    assert ENGLISH.word(error.problems[0].message) == "A thing cannot go from RED to GREEN."


def test_checks_of_inputs_name_members() -> None:
    try:
        TypeAdapter(CreatePartnerStatus).validate_python("n")
    except ValidationError as error:
        (problem,) = problems_of(error)
    assert problem.message.endswith("Send a, i or t.")
    assert ENGLISH.word(problem.message).endswith("Send ACTIVE, INACTIVE or TEST.")

"""What customers type about themselves: tidied, checked, and never more than an order can hold."""

from typing import Any

import pytest

from resolvers.buyers import LENGTHS, validated
from schema.checkout import Buyer
from schema.errors import InvalidInput
from store.orders import OrderRow
from store.rows import column

OF_BUYER = ("first_name", "last_name", "email", "phone")


def buyer(**typed: str) -> Buyer:
    return Buyer(**{"first_name": "Ada", "last_name": "Martin", "email": "ada@example.com", **typed})


def checked(**typed: str) -> Buyer:
    return validated(buyer(**typed), None, "FR")


def told(**typed: str) -> set[tuple[Any, str]]:
    with pytest.raises(InvalidInput) as refused:
        checked(**typed)
    return {(problem.path[0], problem.code) for problem in refused.value.problems}


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("Jean\N{NO-BREAK SPACE}Paul", "Jean Paul"),
        ("Jean\tPaul", "Jean Paul"),
        ("  Jean   Paul\n", "Jean Paul"),
        ("Jean\r\nPaul", "Jean Paul"),
        ("O’Neil\x00\ud800\N{RIGHT-TO-LEFT OVERRIDE}", "O’Neil"),
        ("Ñandú 张伟", "Ñandú 张伟"),
    ],
)
def test_words_stay_words(typed: str, kept: str) -> None:
    assert checked(first_name=typed).first_name == kept


def test_a_message_keeps_its_lines() -> None:
    assert checked(message=" Dear\tAda,\r\n\r\nhappy birthday!\n").message == "Dear Ada,\n\nhappy birthday!"


@pytest.mark.parametrize("typed", ["\N{NO-BREAK SPACE}", "\x00\x01", "\t\n"])
def test_what_cannot_be_seen_fills_in_nothing(typed: str) -> None:
    assert told(first_name=typed) == {("first_name", "REQUIRED")}


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("06 12 34 56 78", "+33 6 12 34 56 78"),
        ("0032 2 555 12 12", "+32 2 555 12 12"),
        ("+1 (650) 253-0000 ext. 12", "+1 650-253-0000 ext. 12"),
        ("06\N{NO-BREAK SPACE}12\N{NARROW NO-BREAK SPACE}34 56 78", "+33 6 12 34 56 78"),
    ],
)
def test_telephone_numbers_are_written_alike(typed: str, kept: str) -> None:
    assert checked(phone=typed).phone == kept


@pytest.mark.parametrize("typed", ["+33612345678;ext=12345678901234567890", "call me", "12", "+999 123"])
def test_what_is_no_telephone_number_is_told(typed: str) -> None:
    """The first is one that becomes longer than an order can hold when it is written with its blanks."""
    assert told(phone=typed) == {("phone", "INVALID_PHONE")}


def test_whatever_passes_fits_an_order() -> None:
    """An order is written after the card was charged: nothing of it may be too long then."""
    columns = [column(OrderRow, f"buyer_{name}" if name in OF_BUYER else name) for name in LENGTHS]
    assert {name: c.type.length for name, c in zip(LENGTHS, columns, strict=True)} == LENGTHS

"""Codes that people type: nobody can guess one, and a slip of the finger is found."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from store.core.codes import (
    ALPHABET,
    HYPHENS,
    LENGTH,
    check_character,
    format_code,
    generate_code,
    looks_valid,
    normalize,
)

CODES = st.text(ALPHABET, min_size=LENGTH - 1, max_size=LENGTH - 1).map(lambda body: body + check_character(body))


def test_the_alphabet_has_no_look_alikes() -> None:
    assert len(set(ALPHABET)) == len(ALPHABET) == 30
    assert not set(ALPHABET) & set("01OILU")
    assert ALPHABET.upper() == ALPHABET


def test_codes_are_drawn_in_groups_of_four_and_look_right() -> None:
    drawn = {generate_code() for _ in range(500)}
    assert len(drawn) == 500
    assert all(looks_valid(code) and [len(group) for group in code.split("-")] == [4, 4, 4, 4] for code in drawn)
    assert set("".join(drawn)) == set(ALPHABET) | {"-"}


@given(CODES)
def test_every_single_wrong_character_is_found(code: str) -> None:
    assert looks_valid(code)
    for position in range(LENGTH):
        for other in ALPHABET.replace(code[position], ""):
            assert not looks_valid(code[:position] + other + code[position + 1 :])


@given(CODES)
def test_neighbours_that_changed_places_are_found_but_for_one_pair(code: str) -> None:
    first, last = ALPHABET[0], ALPHABET[-1]
    for position, (left, right) in enumerate(pairwise(code)):
        swapped = code[:position] + right + left + code[position + 2 :]
        assert looks_valid(swapped) is (left == right or {left, right} == {first, last})


@given(
    CODES, st.lists(st.sampled_from([*HYPHENS, " ", "\t", "\u00a0", "\u200b", "\u00ad", "\n"]), max_size=6), st.data()
)
def test_case_spaces_hyphens_and_what_cannot_be_seen_do_not_matter(
    code: str, noise: list[str], data: st.DataObject
) -> None:
    typed = code
    for mark in noise:
        position = data.draw(st.integers(0, len(typed)))
        typed = typed[:position] + mark + typed[position:]
    assert normalize(typed.lower()) == code
    assert looks_valid(typed.lower())
    assert normalize(format_code(code)) == code


@given(st.text())
def test_a_normal_code_is_one_that_a_database_takes_and_stays_as_it_is(typed: str) -> None:
    code = normalize(typed)
    assert normalize(code) == code
    assert "\x00" not in code
    code.encode()


def test_imported_codes_stay_as_they_are() -> None:
    assert format_code("Été-2030/x") == "Été-2030/x"
    assert format_code("ABCD") == "ABCD"
    assert not looks_valid("ABCD")
    assert not looks_valid("")
    assert normalize("Welcome 10") == normalize("WELCOME-10") == "WELCOME10"


@pytest.mark.parametrize("strange", ["O", "0", "I", "É", "-"])
def test_a_character_outside_the_alphabet_does_not_look_right(strange: str) -> None:
    code = normalize(generate_code())
    assert not looks_valid(strange + code[1:])

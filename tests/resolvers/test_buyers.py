"""Who buys: what must be known, and what is wrong with what was typed, field by field."""

import dataclasses
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolvers.buyers import ADDRESS, LENGTHS, REQUIRED, missing_of, required_of, validated
from schema.checkout import Buyer, DeliveryOption
from schema.delivery import DeliveryKind
from schema.errors import InvalidInput, Problem
from schema.values import Text
from tests.shop_world import BUYER


def option(kind: DeliveryKind, *countries: str) -> DeliveryOption:
    return DeliveryOption(1, kind, Text(), Text(), Decimal(0), None, countries, is_available=True)


HOME = option(DeliveryKind.HOME_DELIVERY)
COLLECT = option(DeliveryKind.CLICK_AND_COLLECT, "FR")
PERSON = Buyer(first_name="Ada", last_name="Martin", email="ada@example.com")


def problems_of(buyer: Buyer, delivery: DeliveryOption | None, region: str) -> Sequence[Problem]:
    try:
        validated(buyer, delivery, region)
    except InvalidInput as error:
        return error.problems
    return ()


def told(buyer: Buyer, delivery: DeliveryOption | None = HOME, region: str = "FR") -> set[tuple[Any, str]]:
    found = problems_of(buyer, delivery, region)
    assert all(len(problem.path) == 1 and problem.message for problem in found)
    return {(problem.path[0], problem.code) for problem in found}


def with_(**fields: str) -> Buyer:
    return dataclasses.replace(BUYER, **fields)


def test_every_field_of_a_buyer_has_its_length() -> None:
    assert set(LENGTHS) == {field.name for field in dataclasses.fields(Buyer)}


def test_a_complete_buyer_is_taken_as_it_is() -> None:
    assert validated(BUYER, HOME, "FR") == BUYER
    assert missing_of(BUYER, HOME) == []


@pytest.mark.parametrize("name", [*REQUIRED, *ADDRESS])
def test_home_delivery_needs_an_address(name: str) -> None:
    for blank in ("", "   ", "\x00\u200b"):
        assert told(with_(**{name: blank})) == {(name, "REQUIRED")}
    assert missing_of(with_(**{name: ""}), HOME) == [name]


@pytest.mark.parametrize("delivery", [COLLECT, option(DeliveryKind.DIGITAL), None])
def test_other_deliveries_need_none(delivery: DeliveryOption | None) -> None:
    assert required_of(delivery) == REQUIRED
    assert told(PERSON, delivery) == set()
    assert told(Buyer(), delivery) == {(name, "REQUIRED") for name in REQUIRED}


def test_all_that_is_wrong_is_told_at_once() -> None:
    wrong = with_(first_name="", email="nobody", phone="x", postal_code="1" * 21)
    assert told(wrong) == {
        ("first_name", "REQUIRED"),
        ("email", "INVALID_EMAIL"),
        ("phone", "INVALID_PHONE"),
        ("postal_code", "TOO_LONG"),
    }


@pytest.mark.parametrize("name", sorted(LENGTHS))
def test_each_field_has_its_length(name: str) -> None:
    long = {"email": f"{'a' * 250}@example.com", "country": "FRA", "phone": "1" * 41}.get(
        name, "a" * (LENGTHS[name] + 1)
    )
    assert {code for at, code in told(with_(**{name: long})) if at == name} >= {"TOO_LONG"}
    if name not in {"email", "country", "phone"}:
        assert told(with_(**{name: "a" * LENGTHS[name]})) == set()


@pytest.mark.parametrize(
    ("typed", "kept"),
    [
        ("ada@example.com", "ada@example.com"),
        ("  Ada@EXAMPLE.com ", "Ada@example.com"),
        ("ada+shop@sub.example.co.uk", "ada+shop@sub.example.co.uk"),
        ("adé@exämple.com", "adé@exämple.com"),
    ],
)
def test_addresses_are_tidied(typed: str, kept: str) -> None:
    assert validated(with_(email=typed), HOME, "FR").email == kept


@pytest.mark.parametrize(
    "typed",
    ["ada", "ada@", "@example.com", "ada@@example.com", "ada@example", "ada example@example.com", "ada@exa mple.com",
     "ada@example.com,bob@example.com", "Ada <ada@example.com>", "ada@-example.com"],
)  # fmt: skip
def test_what_is_no_address_is_told(typed: str) -> None:
    assert told(with_(email=typed)) == {("email", "INVALID_EMAIL")}


@pytest.mark.parametrize(
    ("typed", "country", "region", "kept"),
    [
        ("06 12 34 56 78", "FR", "FR", "+33 6 12 34 56 78"),
        ("+33612345678", "BE", "FR", "+33 6 12 34 56 78"),
        ("0033 6 12 34 56 78", "FR", "", "+33 6 12 34 56 78"),
        ("0470 12 34 56", "BE", "FR", "+32 470 12 34 56"),
        ("", "FR", "FR", ""),
    ],
)
def test_numbers_are_written_for_the_world(typed: str, country: str, region: str, kept: str) -> None:
    assert validated(with_(phone=typed, country=country), HOME, region).phone == kept


def test_a_number_without_a_country_is_of_the_shops() -> None:
    assert validated(dataclasses.replace(PERSON, phone="0470 12 34 56"), COLLECT, "BE").phone == "+32 470 12 34 56"
    assert told(dataclasses.replace(PERSON, phone="0470 12 34 56"), COLLECT, "") == {("phone", "INVALID_PHONE")}


@pytest.mark.parametrize(
    "typed", ["12", "call me", "+999 123", "06 12", "+33 6 12 34 56 78 90 12", "+33612345678x12345678901234567890"]
)
def test_what_is_no_number_is_told(typed: str) -> None:
    assert told(with_(phone=typed)) == {("phone", "INVALID_PHONE")}


@pytest.mark.parametrize(("typed", "kept"), [("fr", "FR"), (" be ", "BE")])
def test_countries_are_written_in_capitals(typed: str, kept: str) -> None:
    assert validated(with_(country=typed), HOME, "FR").country == kept


@pytest.mark.parametrize("typed", ["ZZ", "EU", "UN", "F1", "É!", "12", "F"])
def test_what_is_no_country_is_told(typed: str) -> None:
    for delivery in (HOME, COLLECT, None):
        assert told(with_(country=typed), delivery) == {("country", "INVALID")}


def test_home_delivery_goes_where_it_goes() -> None:
    assert told(with_(country="BE"), option(DeliveryKind.HOME_DELIVERY, "BE", "FR")) == set()
    assert told(with_(country="US"), option(DeliveryKind.HOME_DELIVERY, "BE", "FR")) == {("country", "NOT_DELIVERED")}
    assert told(with_(country="US"), COLLECT) == set()


def test_what_cannot_be_seen_is_left_out_and_messages_keep_their_lines() -> None:
    kept = validated(with_(first_name=" A\x00da\u202e\n ", message=" Happy\r\nbirthday\x07 "), HOME, "FR")
    assert kept.first_name == "Ada"
    assert kept.message == "Happy\nbirthday"


BUYERS = st.builds(Buyer, **{name: st.text(max_size=60) | st.just(getattr(BUYER, name)) for name in LENGTHS})


@settings(max_examples=300, deadline=None)
@given(BUYERS, st.sampled_from([HOME, COLLECT, None]), st.sampled_from(["FR", ""]))
def test_whatever_is_typed_is_taken_or_told(buyer: Buyer, delivery: DeliveryOption | None, region: str) -> None:
    found = problems_of(buyer, delivery, region)
    assert {problem.path[0] for problem in found} <= set(LENGTHS)
    if not found:
        kept = validated(buyer, delivery, region)
        assert validated(kept, delivery, region) == kept, "what was tidied stays as it is"
        assert missing_of(kept, delivery) == []
        assert all(len(getattr(kept, name)) <= limit for name, limit in LENGTHS.items())
        assert "\x00" not in str(dataclasses.astuple(kept))

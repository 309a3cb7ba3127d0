"""Who buys: what must be known, and what is wrong with what was typed, field by field."""

import dataclasses
from collections.abc import Sequence
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resolvers.checkout.buyer import ADDRESS, LENGTHS, REQUIRED, missing_of, required_of, validate_buyer
from schema.checkout.checkout import Buyer, DeliveryOption
from schema.core.errors import InvalidInput, Problem
from schema.core.text import Text
from schema.delivery.delivery import DeliveryKind
from schema.validation.countries import COUNTRIES
from schema.validation.postal_codes import FORMATS, example_postal_code, is_postal_code
from store.database.loaders import column
from store.order.orders import OrderRow
from tests.fixtures.shop import BUYER


def option(kind: DeliveryKind, *countries: str) -> DeliveryOption:
    return DeliveryOption(1, kind, Text(), Text(), Decimal(0), None, countries)


HOME = option(DeliveryKind.HOME_DELIVERY)
COLLECT = option(DeliveryKind.CLICK_AND_COLLECT, "FR")
COMPANY_ADDRESS = {
    "billing_line_1": "2 quai du Lac",
    "billing_postal_code": "74000",
    "billing_city": "Annecy",
    "billing_country": "FR",
}
OF_COMPANY = ("company_name", "vat_id")
OF_BUYER = ("first_name", "last_name", "email", "phone")
PERSON = Buyer(first_name="Ada", last_name="Martin", email="ada@example.com")


def problems_of(buyer: Buyer, delivery: DeliveryOption | None, region: str) -> Sequence[Problem]:
    try:
        validate_buyer(buyer, delivery, region)
    except InvalidInput as error:
        return error.problems
    return ()


def problem_codes(buyer: Buyer, delivery: DeliveryOption | None = HOME, region: str = "FR") -> set[tuple[Any, str]]:
    found = problems_of(buyer, delivery, region)
    assert all(len(problem.path) == 1 and problem.message for problem in found)
    return {(problem.path[0], problem.code) for problem in found}


def with_(**fields: str) -> Buyer:
    return dataclasses.replace(BUYER, **fields)


def test_every_field_of_a_buyer_has_its_length() -> None:
    assert set(LENGTHS) == {field.name for field in dataclasses.fields(Buyer)}


def test_a_complete_buyer_is_taken_as_it_is() -> None:
    assert validate_buyer(BUYER, HOME, "FR") == BUYER
    assert missing_of(BUYER, HOME) == []


@pytest.mark.parametrize("name", [*REQUIRED, *ADDRESS])
def test_home_delivery_needs_an_address(name: str) -> None:
    for blank in ("", "   ", "\x00\u200b"):
        assert problem_codes(with_(**{name: blank})) == {(name, "REQUIRED")}
    assert missing_of(with_(**{name: ""}), HOME) == [name]


@pytest.mark.parametrize("delivery", [COLLECT, option(DeliveryKind.DIGITAL), None])
def test_other_deliveries_need_none(delivery: DeliveryOption | None) -> None:
    assert required_of(delivery) == REQUIRED
    assert problem_codes(PERSON, delivery) == set()
    assert problem_codes(Buyer(), delivery) == {(name, "REQUIRED") for name in REQUIRED}


def test_all_that_is_wrong_is_told_at_once() -> None:
    wrong = with_(first_name="", email="nobody", phone="x", postal_code="1" * 21)
    assert problem_codes(wrong) == {
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
    assert {code for at, code in problem_codes(with_(**{name: long})) if at == name} >= {"TOO_LONG"}
    if name not in {"email", "country", "phone", "postal_code", "vat_id", "billing_country", "billing_postal_code"}:
        company = {"company_name": "Analytical Engines", **COMPANY_ADDRESS} if name.startswith("billing_") else {}
        assert problem_codes(with_(**company | {name: "a" * LENGTHS[name]})) == set()


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("ada@example.com", "ada@example.com"),
        ("  Ada@EXAMPLE.com ", "Ada@example.com"),
        ("ada+shop@sub.example.co.uk", "ada+shop@sub.example.co.uk"),
        ("adé@exämple.com", "adé@exämple.com"),
    ],
)
def test_addresses_are_tidied(typed: str, stored: str) -> None:
    assert validate_buyer(with_(email=typed), HOME, "FR").email == stored


@pytest.mark.parametrize(
    "typed",
    ["ada", "ada@", "@example.com", "ada@@example.com", "ada@example", "ada example@example.com", "ada@exa mple.com",
     "ada@example.com,bob@example.com", "Ada <ada@example.com>", "ada@-example.com"],
)  # fmt: skip
def test_what_is_no_address_is_told(typed: str) -> None:
    assert problem_codes(with_(email=typed)) == {("email", "INVALID_EMAIL")}


@pytest.mark.parametrize(
    ("typed", "country", "region", "stored"),
    [
        ("06 12 34 56 78", "FR", "FR", "+33 6 12 34 56 78"),
        ("+33612345678", "BE", "FR", "+33 6 12 34 56 78"),
        ("0033 6 12 34 56 78", "FR", "", "+33 6 12 34 56 78"),
        ("0470 12 34 56", "BE", "FR", "+32 470 12 34 56"),
        ("", "FR", "FR", ""),
    ],
)
def test_numbers_are_written_with_their_country_code(typed: str, country: str, region: str, stored: str) -> None:
    buyer = with_(phone=typed, country=country, postal_code=example_postal_code(country))
    assert validate_buyer(buyer, HOME, region).phone == stored


@pytest.mark.parametrize(
    ("country", "good", "bad"),
    [
        (
            "FR",
            ["75001", "75 001", "f-75001", "F75001", "98000", "\uff17\uff15\uff10\uff10\uff11"],
            ["7501", "ABCDE", "750011", "2A004"],
        ),
        ("BE", ["1000", "B-1000"], ["10000", "100"]),
        ("NL", ["1012 AB", "1012ab", "1012-AB"], ["1012", "1012 A"]),
        ("PT", ["1100-148", "1100 – 148", "1100"], ["11001"]),
        ("GB", ["SW1A 1AA", "sw1a1aa", "M1 1AE", "GIR 0AA", "BFPO 57"], ["75001", "SW1A"]),
        ("IE", ["D02 X285", "d02-x285", "Dublin 2"], ["DUBLIN"]),
        ("CA", ["K1A 0B1", "K1A-0B1"], ["K1A"]),
        ("US", ["10001", "10001-1234", "100011234"], ["1000"]),
        ("JP", ["100-0001", "〒100-0001"], ["100"]),
        ("SE", ["111 20", "111-20"], ["1112"]),
        ("MT", ["VLT 1117", "VLT-1117", "VLT 05"], ["1117"]),
        ("MX", ["06000", "C.P. 06000"], ["0600"]),
        ("BR", ["01310-100", "01.310-100"], ["01310"]),
        ("KE", ["anything"], []),
    ],
)
def test_postal_codes_are_those_of_the_country(country: str, good: list[str], bad: list[str]) -> None:
    for code in good:
        assert problem_codes(with_(country=country, postal_code=code)) == set(), code
    for code in bad:
        assert problem_codes(with_(country=country, postal_code=code)) == {("postal_code", "INVALID_POSTAL_CODE")}, code


def test_each_example_is_a_postal_code_of_its_country() -> None:
    for country, known in FORMATS.items():
        assert country in COUNTRIES
        assert is_postal_code(known.example, country), country
        assert not is_postal_code("ABCDEFG", country), country


def test_a_postal_code_that_is_not_asked_for_is_no_problem() -> None:
    wrong = with_(country="FR", postal_code="7501")
    assert problem_codes(wrong, COLLECT) == set()
    assert problem_codes(wrong, HOME) == {("postal_code", "INVALID_POSTAL_CODE")}


def test_a_number_without_a_country_is_of_the_shops() -> None:
    assert validate_buyer(dataclasses.replace(PERSON, phone="0470 12 34 56"), COLLECT, "BE").phone == "+32 470 12 34 56"
    assert problem_codes(dataclasses.replace(PERSON, phone="0470 12 34 56"), COLLECT, "") == {
        ("phone", "INVALID_PHONE")
    }


@pytest.mark.parametrize(("typed", "stored"), [("fr", "FR"), (" be ", "BE")])
def test_countries_are_written_in_capitals(typed: str, stored: str) -> None:
    assert validate_buyer(with_(country=typed, postal_code=example_postal_code(stored)), HOME, "FR").country == stored


@pytest.mark.parametrize("typed", ["ZZ", "EU", "UN", "F1", "É!", "12", "F"])
def test_what_is_no_country_is_told(typed: str) -> None:
    for delivery in (HOME, COLLECT, None):
        assert problem_codes(with_(country=typed), delivery) == {("country", "INVALID")}


def test_home_delivery_goes_where_it_goes() -> None:
    assert (
        problem_codes(with_(country="BE", postal_code="1000"), option(DeliveryKind.HOME_DELIVERY, "BE", "FR")) == set()
    )
    assert problem_codes(with_(country="US", postal_code="10001"), option(DeliveryKind.HOME_DELIVERY, "BE", "FR")) == {
        ("country", "NOT_DELIVERED")
    }
    assert problem_codes(with_(country="US"), COLLECT) == set()


# ---- a company that buys


COMPANY = {"company_name": "Analytical Engines", "vat_id": "40303265045", **COMPANY_ADDRESS}


def test_a_company_is_optional_and_whole() -> None:
    for delivery in (HOME, COLLECT, None):
        kept = validate_buyer(with_(**COMPANY), delivery, "FR")
        assert (kept.company_name, kept.vat_id, kept.billing_city) == ("Analytical Engines", "FR40303265045", "Annecy")
        assert problem_codes(with_(**COMPANY | {"vat_id": ""}), delivery) == set()
    assert validate_buyer(with_(billing_country="BE"), COLLECT, "FR").billing_country == "", (
        "what the page has filled in"
    )


@pytest.mark.parametrize("name", ["company_name", *COMPANY_ADDRESS])
def test_what_is_missing_of_a_company_is_told(name: str) -> None:
    for delivery in (HOME, COLLECT):
        assert problem_codes(with_(**COMPANY | {name: "", "vat_id": ""}), delivery) == {(name, "REQUIRED")}
        assert missing_of(with_(**COMPANY | {name: ""}), delivery) == [name]


def test_a_company_is_where_its_order_goes_unless_it_says_so() -> None:
    at_home = with_(company_name="Analytical Engines", vat_id="40303265045", billing_country="BE")
    assert problem_codes(at_home, HOME) == set()
    assert validate_buyer(at_home, HOME, "FR").billing_country == ""
    assert validate_buyer(at_home, HOME, "FR").vat_id == "FR40303265045", "its country is that of the delivery"
    assert problem_codes(dataclasses.replace(at_home, billing_country=""), COLLECT) == {
        ("vat_id", "INVALID_VAT_ID"),
        *((name, "REQUIRED") for name in COMPANY_ADDRESS),
    }


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"vat_id": "FR40303265046"}, ("vat_id", "INVALID_VAT_ID")),
        ({"billing_postal_code": "7400"}, ("billing_postal_code", "INVALID_POSTAL_CODE")),
        ({"billing_country": "ZZ"}, ("billing_country", "INVALID")),
        ({"company_name": "a" * 161}, ("company_name", "TOO_LONG")),
    ],
)
def test_what_is_wrong_of_a_company_is_told(fields: dict[str, str], problem: tuple[str, str]) -> None:
    typed = COMPANY | {"vat_id": ""} | fields
    assert problem_codes(with_(**typed), COLLECT) == {problem}
    assert problem in problem_codes(with_(**typed), HOME)


# ---- what is typed


def typed_in(**fields: str) -> Buyer:
    return dataclasses.replace(PERSON, **fields)


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("Jean\N{NO-BREAK SPACE}Paul", "Jean Paul"),
        ("Jean\tPaul", "Jean Paul"),
        ("  Jean   Paul\n", "Jean Paul"),
        ("Jean\r\nPaul", "Jean Paul"),
        ("O’Neil\x00\ud800\N{RIGHT-TO-LEFT OVERRIDE}", "O’Neil"),
        ("Ñandú 张伟", "Ñandú 张伟"),
    ],
)
def test_words_stay_words(typed: str, stored: str) -> None:
    assert validate_buyer(typed_in(first_name=typed), None, "FR").first_name == stored


def test_a_message_keeps_its_lines() -> None:
    assert (
        validate_buyer(typed_in(message=" Dear\tAda,\r\n\r\nhappy birthday!\n"), None, "FR").message
        == "Dear Ada,\n\nhappy birthday!"
    )


@pytest.mark.parametrize("typed", ["\N{NO-BREAK SPACE}", "\x00\x01", "\t\n"])
def test_what_cannot_be_seen_fills_in_nothing(typed: str) -> None:
    assert problem_codes(typed_in(first_name=typed), None) == {("first_name", "REQUIRED")}


@pytest.mark.parametrize(
    ("typed", "stored"),
    [
        ("06 12 34 56 78", "+33 6 12 34 56 78"),
        ("0032 2 555 12 12", "+32 2 555 12 12"),
        ("+1 (650) 253-0000 ext. 12", "+1 650-253-0000 ext. 12"),
        ("06\N{NO-BREAK SPACE}12\N{NARROW NO-BREAK SPACE}34 56 78", "+33 6 12 34 56 78"),
    ],
)
def test_telephone_numbers_are_written_alike(typed: str, stored: str) -> None:
    assert validate_buyer(typed_in(phone=typed), None, "FR").phone == stored


@pytest.mark.parametrize("typed", ["+33612345678;ext=12345678901234567890", "call me", "12", "06 12", "+999 123"])
def test_what_is_no_telephone_number_is_told(typed: str) -> None:
    """The first is one that becomes longer than an order can hold when it is written with its blanks."""
    assert problem_codes(typed_in(phone=typed), None) == {("phone", "INVALID_PHONE")}


def test_whatever_passes_fits_an_order() -> None:
    """An order is written after the card was charged: nothing of it may be too long then."""
    prefixes = dict.fromkeys(OF_BUYER, "buyer_") | dict.fromkeys(OF_COMPANY, "billing_")
    columns = [column(OrderRow, f"{prefixes.get(name, '')}{name}") for name in LENGTHS]
    assert {name: c.type.length for name, c in zip(LENGTHS, columns, strict=True)} == LENGTHS


KNOWN = dataclasses.replace(BUYER, **COMPANY)
BUYERS = st.builds(
    Buyer,
    **{name: st.text(max_size=60) | st.sampled_from([getattr(BUYER, name), getattr(KNOWN, name)]) for name in LENGTHS},
)


@settings(max_examples=100)
@given(BUYERS, st.sampled_from([HOME, COLLECT, None]), st.sampled_from(["FR", ""]))
def test_whatever_is_typed_is_taken_or_told(buyer: Buyer, delivery: DeliveryOption | None, region: str) -> None:
    found = problems_of(buyer, delivery, region)
    assert {problem.path[0] for problem in found} <= set(LENGTHS)
    if not found:
        kept = validate_buyer(buyer, delivery, region)
        assert validate_buyer(kept, delivery, region) == kept, "what was tidied stays as it is"
        assert missing_of(kept, delivery) == []
        assert all(len(getattr(kept, name)) <= limit for name, limit in LENGTHS.items())
        assert "\x00" not in str(dataclasses.astuple(kept))

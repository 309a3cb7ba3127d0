"""What a partner may hold: numbers by their check digits, banks by their country, countries by any of their names."""

import datetime as dt
import string
from typing import Any

import pytest
from babel import Locale
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter, ValidationError
from schwifty import IBAN
from stdnum import luhn

from schema.core.errors import InvalidInput
from schema.partner.partner import PartnerStatus
from schema.validation.characters import clean_line
from schema.validation.contact import Bic, Country, Iban, phone_number
from schema.validation.countries import COUNTRIES, country_code
from schema.validation.languages import LANGUAGES
from store.partner.checks import check_partner, company_number
from store.partner.partners import PartnerRow

TODAY = dt.date(2026, 11, 21)
SPACED = st.text(alphabet=" .-", max_size=2)


def checked(**columns: Any) -> PartnerRow:
    """A new partner that passed."""
    row = PartnerRow(**{"status": PartnerStatus.ACTIVE, **columns})
    check_partner(row, TODAY)
    return row


def refused_fields(**columns: Any) -> set[str]:
    """The fields at which a new partner is refused."""
    with pytest.raises(InvalidInput) as caught:
        checked(**columns)
    return {str(problem.path[-1]) for problem in caught.value.problems}


@given(code=st.sampled_from(sorted(COUNTRIES)), language=st.sampled_from(LANGUAGES))
def test_every_country_is_known_by_its_names(code: str, language: str) -> None:
    name = Locale(language).territories[code]
    for written in (code, code.lower(), name, name.upper(), f" {name} "):
        assert country_code(written) == code
    assert checked(hq_country=name).hq_country_code == code


@given(st.text(max_size=30))
def test_whatever_is_sent_as_a_country_is_one_or_refused(text: str) -> None:
    adapter = TypeAdapter[str](Country)
    try:
        kept = adapter.validate_python(text)
    except ValidationError:
        assert country_code(text) is None
    else:
        assert kept.strip() == clean_line(text), "as it was sent, but for what cannot be seen and blanks around it"
        assert not kept or country_code(kept) in COUNTRIES


@given(st.text(alphabet=string.digits, min_size=8, max_size=8), st.text(alphabet=string.digits, min_size=4, max_size=4))
def test_of_fourteen_digits_one_in_ten_is_a_siret(company: str, office: str) -> None:
    siren = company + luhn.calc_check_digit(company)
    good = siren + office + luhn.calc_check_digit(siren + office)
    assert checked(siret_number=f"{good[:9]} {good[9:]}").siret_number == good
    bad = good[:-1] + str((int(good[-1]) + 1) % 10)
    if not siren.startswith("356000000"):  # the post office counts its branches otherwise
        assert refused_fields(siret_number=bad) == {"siret_number"}
        assert refused_fields(siret_number=bad, hq_country="France") == {"siret_number"}
    assert checked(siret_number=bad, status=PartnerStatus.TEST).siret_number == bad
    assert checked(siret_number=bad, hq_country="Suisse").siret_number == bad


@given(st.sampled_from(["FR", "DE", "BE", "ES", "IT", "NL", "PT", "AD", "GB", "CH"]), st.integers(0, 33), SPACED)
def test_an_iban_with_another_digit_is_none(country: str, at: int, between: str) -> None:
    iban = str(IBAN.random(country_code=country).compact)
    adapter = TypeAdapter[str](Iban)
    blanks = between.replace(".", " ").replace("-", " ")
    assert adapter.validate_python(blanks.join([iban[:4], iban[4:].lower()])) == iban
    at = 2 + at % (len(iban) - 2)
    if iban[at].isdigit():
        with pytest.raises(ValidationError):
            adapter.validate_python(f"{iban[:at]}{(int(iban[at]) + 1) % 10}{iban[at + 1 :]}")


@pytest.mark.parametrize(
    ("iban", "bic", "agree"),
    [
        ("FR1420041010050500013M02606", "PSSTFRPPPAR", True),
        ("FR1420041010050500013M02606", "CEPAGPGP", True),
        ("GB33BUKB20201555555555", "BARCJESH", True),
        ("GB33BUKB20201555555555", "DEUTDEFF", False),
        ("DE89370400440532013000", "PSSTFRPP", False),
        ("DE89370400440532013000", "", True),
        ("", "PSSTFRPP", True),
    ],
)
def test_bank_and_account_are_in_one_country(iban: str, bic: str, agree: bool) -> None:
    TypeAdapter(Bic).validate_python(bic)
    if agree:
        checked(iban=iban, bic=bic)
    else:
        assert refused_fields(iban=iban, bic=bic) == {"bic"}


@pytest.mark.parametrize(
    ("country", "typed", "stored"),
    [
        ("FR", "FR44732829320", "FR44732829320"),
        ("FR", "44732829320", "FR44732829320"),
        ("Greece", "094259216", "EL094259216"),
        ("CH", "CHE-116.281.710", "CHE116281710"),
        ("CH", "FR44732829320", "FR44732829320"),
        ("", "ATU13585627", "ATU13585627"),
        ("US", "12-3456789", "123456789"),
        ("FR", "FR44732829321", None),
        ("FR", "44732829321", None),
        ("CH", "ATU13585626", None),
        ("US", "12%", None),
    ],
)
def test_a_vat_number_is_that_of_its_country(country: str, typed: str, stored: str | None) -> None:
    if stored is None:
        assert refused_fields(hq_country=country, vat_id=typed) == {"vat_id"}
    else:
        assert checked(hq_country=country, vat_id=typed).vat_id == stored


@given(st.text(max_size=25), st.sampled_from(["", "FR", "US"]))
def test_what_is_a_telephone_number_stays_one(text: str, country: str) -> None:
    number = phone_number(text, country)
    if number is not None:
        assert number.startswith("+")
        assert phone_number(number, "") == number


@pytest.mark.parametrize(
    ("born", "good"),
    [("2008-11-21", True), ("2008-11-22", False), ("1906-11-21", True), ("1905-11-20", False), ("2026-11-22", False)],
)
def test_a_representative_is_of_age(born: str, good: bool) -> None:
    day = dt.date.fromisoformat(born)
    if good:
        checked(legal_representative_birthday=day)
    else:
        assert refused_fields(legal_representative_birthday=day) == {"birthday"}


def test_numbers_are_compared_without_what_separates_their_digits() -> None:
    assert company_number("hrb 12.345-b") == "HRB12345B"
    assert company_number("732\u00a0829\u202f320") == "732829320"

"""How somebody is reached and paid, as clients send it: checked by the libraries that know, tidied, never guessed.

Each type refuses what it cannot be with a sentence; empty is nothing, and null is empty. What takes more than the value
itself to judge (a telephone number needs its country) is in `store.partner.checks`.
"""

from collections.abc import Callable
from typing import Annotated, Any

import phonenumbers
from email_validator import EmailNotValidError, validate_email
from pydantic import AfterValidator, AnyHttpUrl, BeforeValidator, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError
from schwifty import BIC, IBAN
from schwifty.exceptions import SchwiftyException

from schema.validation.characters import up_to
from schema.validation.countries import COUNTRIES, country_code

_URL = TypeAdapter(AnyHttpUrl)


def _nothing_is_empty(value: Any) -> Any:
    return "" if value is None else value


def _empty_is_nothing(value: Any) -> Any:
    return None if value == "" else value


def _filled(value: str) -> str:
    if not value:
        raise PydanticCustomError("blank", "Fill this in.")
    return value


def _unless_empty(check: Callable[[str], str]) -> AfterValidator:
    return AfterValidator(lambda value: check(value) if value else value)


def email_address(value: str) -> str:
    """An e-mail address as mail servers write it. Raises ValueError; asks no name server."""
    try:
        return validate_email(value, check_deliverability=False, test_environment=True).normalized
    except EmailNotValidError:
        raise PydanticCustomError("email", "Send an e-mail address like name@example.com.") from None


def phone_number(text: str, country: str) -> str | None:
    """A telephone number in its international form; None for what is none. `country` (may be empty) is where one without
    a country code is dialled."""
    try:
        number = phonenumbers.parse(text, country or None)
    except phonenumbers.NumberParseException:
        return None
    if not phonenumbers.is_possible_number(number):
        return None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)


def _web_address(value: str) -> str:
    try:
        read = _URL.validate_python(value)
    except ValidationError:
        raise PydanticCustomError("url", "Send an address that starts with http:// or https://.") from None
    if read.username or read.password:
        raise PydanticCustomError("url", "An address with user information is not accepted.")
    return value


def _iban(value: str) -> str:
    try:
        return str(IBAN(value).compact)
    except SchwiftyException:
        raise PydanticCustomError("iban", "This is no IBAN: compare its digits with the bank's papers.") from None


def _bic(value: str) -> str:
    try:
        return str(BIC(value).compact)
    except SchwiftyException:
        raise PydanticCustomError("bic", "This is no BIC: it has 8 or 11 letters and digits.") from None


def _known_country(value: str) -> str:
    if country_code(value) is None:
        raise PydanticCustomError("country", "Send a country: its ISO 3166 code, or its name.")
    return value


def _country_code(value: str) -> str:
    if value.upper() not in COUNTRIES:
        raise PydanticCustomError("country_code", "Send the two letters of a country, such as FR.")
    return value.upper()


EmptyIsNothing = BeforeValidator(_empty_is_nothing)
"""For what is no text and may be empty: older shops send back the "" that they were answered."""
NothingIsEmpty = BeforeValidator(_nothing_is_empty)
Filled = AfterValidator(_filled)


Email = Annotated[str, up_to(254), NothingIsEmpty, _unless_empty(email_address)]
FilledEmail = Annotated[str, up_to(254), Filled, AfterValidator(email_address)]
WebAddress = Annotated[str, up_to(2048), NothingIsEmpty, _unless_empty(_web_address)]
FilledWebAddress = Annotated[str, up_to(2048), Filled, AfterValidator(_web_address)]
Phone = Annotated[str, up_to(40), NothingIsEmpty]
Iban = Annotated[str, up_to(60), NothingIsEmpty, _unless_empty(_iban)]
"""Sent with blanks or without; kept without."""
Bic = Annotated[str, up_to(20), NothingIsEmpty, _unless_empty(_bic)]
Country = Annotated[str, up_to(100), NothingIsEmpty, _unless_empty(_known_country)]
"""An ISO 3166 code, or a name in one of our languages; kept as it was sent."""
FilledCountry = Annotated[str, up_to(100), Filled, AfterValidator(_known_country)]
CountryCode = Annotated[str, up_to(20), NothingIsEmpty, _unless_empty(_country_code)]
"""ISO 3166 alpha-2."""

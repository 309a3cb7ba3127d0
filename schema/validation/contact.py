"""Types for contact and bank data, checked and normalized by libraries.

Each type rejects invalid values with a sentence. Empty values are allowed, and null is empty. Checks that need other
fields (a telephone number needs its country) are in `store.partner.checks`.
"""

from collections.abc import Callable
from typing import Annotated, Any

from email_validator import EmailNotValidError, validate_email
from pydantic import AfterValidator, AnyHttpUrl, BeforeValidator, TypeAdapter, ValidationError
from pydantic_core import PydanticCustomError

from schema.validation.characters import line_up_to
from schema.validation.countries import COUNTRIES, country_code

_URL = TypeAdapter(AnyHttpUrl)


def _none_to_empty(value: Any) -> Any:
    return "" if value is None else value


def _empty_to_none(value: Any) -> Any:
    return None if value == "" else value


def _require_filled(value: str) -> str:
    if not value:
        raise PydanticCustomError("blank", "Fill this in.")
    return value


def _if_not_empty(check: Callable[[str], str]) -> AfterValidator:
    return AfterValidator(lambda value: check(value) if value else value)


def email_address(value: str) -> str:
    """A normalized e-mail address. Raises ValueError; makes no DNS query."""
    try:
        return validate_email(value, check_deliverability=False, test_environment=True).normalized
    except EmailNotValidError:
        raise PydanticCustomError("email", "Send an e-mail address like name@example.com.") from None


def phone_number(text: str, country: str) -> str | None:
    """A telephone number in international format; None if it is not one. `country` (may be empty) applies to numbers
    without a country code.
    """
    import phonenumbers  # as with schwifty below: most processes check no partner's data

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
    from schwifty import IBAN
    from schwifty.exceptions import SchwiftyException

    try:
        return str(IBAN(value).compact)
    except SchwiftyException:
        raise PydanticCustomError("iban", "This is not a valid IBAN: check its characters.") from None


def _bic(value: str) -> str:
    from schwifty import BIC
    from schwifty.exceptions import SchwiftyException

    try:
        return str(BIC(value).compact)
    except SchwiftyException:
        raise PydanticCustomError("bic", "This is not a valid BIC: it has 8 or 11 letters and digits.") from None


def _known_country(value: str) -> str:
    if country_code(value) is None:
        raise PydanticCustomError("country", "Send a country: its ISO 3166 code, or its name.")
    return value


def _country_code(value: str) -> str:
    if value.upper() not in COUNTRIES:
        raise PydanticCustomError("country_code", "Send the two letters of a country, such as FR.")
    return value.upper()


EmptyToNone = BeforeValidator(_empty_to_none)
"""For types other than text that may be empty: older shops send back the "" of an earlier response."""
NoneToEmpty = BeforeValidator(_none_to_empty)
NotBlank = AfterValidator(_require_filled)


Email = Annotated[str, line_up_to(254), NoneToEmpty, _if_not_empty(email_address)]
RequiredEmail = Annotated[str, line_up_to(254), NotBlank, AfterValidator(email_address)]
WebAddress = Annotated[str, line_up_to(2048), NoneToEmpty, _if_not_empty(_web_address)]
RequiredWebAddress = Annotated[str, line_up_to(2048), NotBlank, AfterValidator(_web_address)]
Phone = Annotated[str, line_up_to(40), NoneToEmpty]
Iban = Annotated[str, line_up_to(60), NoneToEmpty, _if_not_empty(_iban)]
"""Accepted with or without spaces; stored without."""
Bic = Annotated[str, line_up_to(20), NoneToEmpty, _if_not_empty(_bic)]
Country = Annotated[str, line_up_to(100), NoneToEmpty, _if_not_empty(_known_country)]
"""ISO 3166 code, or a name in a supported language; stored as sent."""
RequiredCountry = Annotated[str, line_up_to(100), NotBlank, AfterValidator(_known_country)]
CountryCode = Annotated[str, line_up_to(20), NoneToEmpty, _if_not_empty(_country_code)]
"""ISO 3166 alpha-2."""

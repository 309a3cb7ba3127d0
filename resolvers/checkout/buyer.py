"""Validation and cleaning of buyer data and of other persons' data."""

from collections.abc import Mapping, Sequence

from resolvers.checkout.billing import LENGTHS as COMPANY_LENGTHS
from resolvers.checkout.billing import check_company, missing_of_company
from schema.checkout.checkout import Buyer, DeliveryOption
from schema.core.errors import InvalidInput, Problem
from schema.core.message_names import TemplatedMessage
from schema.delivery.delivery import DeliveryKind
from schema.validation.characters import clean_text
from schema.validation.contact import email_address, phone_number
from schema.validation.countries import COUNTRIES
from schema.validation.postal_codes import example_postal_code, is_postal_code

REQUIRED = ("first_name", "last_name", "email")
ADDRESS = ("address_line_1", "postal_code", "city", "country")
CONTACT_LENGTHS = {
    "first_name": 80,
    "last_name": 80,
    "email": 254,
    "phone": 40,
    "address_line_1": 120,
    "address_line_2": 120,
    "postal_code": 20,
    "city": 80,
    "country": 2,
}
POSTAL_CODE_ERROR = "INVALID_POSTAL_CODE"
NO_COUNTRY = Problem(("country",), "INVALID", "Choose a country.")
LENGTHS = {**CONTACT_LENGTHS, "recipient_name": 160, "message": 1000, **COMPANY_LENGTHS}


def needs_address(delivery: DeliveryOption | None) -> bool:
    """True if the delivery needs the buyer's postal address."""
    return delivery is not None and delivery.kind is DeliveryKind.HOME_DELIVERY and not delivery.to_giftees


def required_of(delivery: DeliveryOption | None) -> tuple[str, ...]:
    return (*REQUIRED, *ADDRESS) if needs_address(delivery) else REQUIRED


def missing_of(buyer: Buyer, delivery: DeliveryOption | None) -> list[str]:
    missing = [name for name in required_of(delivery) if not getattr(buyer, name)]
    return [*missing, *missing_of_company(buyer, has_address=needs_address(delivery))]


def validate_buyer(buyer: Buyer, delivery: DeliveryOption | None, region: str) -> Buyer:
    """The buyer with cleaned fields, as in `check_buyer`. Raises InvalidInput with a problem for each invalid field."""
    checked, problems = check_buyer(buyer, delivery, region)
    if problems:
        raise InvalidInput(*problems)
    return checked


def check_buyer(buyer: Buyer, delivery: DeliveryOption | None, region: str) -> tuple[Buyer, list[Problem]]:
    """The buyer with cleaned fields, and a problem for each invalid field.

    `region` is the country code for telephone numbers without a country prefix, if the buyer's country is unknown.
    """
    tidied, problems = clean_person({name: getattr(buyer, name) for name in LENGTHS}, LENGTHS, region)
    company, wrong = check_company(tidied, tidied["country"] if needs_address(delivery) else "")
    told = {problem.path[0] for problem in problems}
    problems += [problem for problem in wrong if problem.path[0] not in told]
    result = Buyer(**tidied | company)
    if not needs_address(delivery):  # the field is not shown, so that its value cannot be mended
        problems = _without_postal_code(problems)
    reported = {problem.path[0] for problem in problems}
    missing = [Problem((name,), "REQUIRED", "Fill this in.") for name in missing_of(result, delivery)]
    problems = [*missing, *problems]
    countries = delivery.countries if delivery and needs_address(delivery) else ()
    if result.country and countries and result.country not in countries and "country" not in reported:
        problems = _without_postal_code(problems)  # of a country that is wrong
        problems.append(Problem(("country",), "NOT_DELIVERED", "This delivery does not go to this country."))
    return result, problems


def _without_postal_code(problems: Sequence[Problem]) -> list[Problem]:
    return [problem for problem in problems if (problem.path, problem.code) != (("postal_code",), POSTAL_CODE_ERROR)]


def chosen_country(country: str) -> str:
    """The cleaned country code. Raises InvalidInput for an unknown country."""
    code = clean_field(country, "country")
    if code and code not in COUNTRIES:
        raise InvalidInput(NO_COUNTRY)
    return code


def clean_person(
    fields: Mapping[str, str], lengths: Mapping[str, int], region: str
) -> tuple[dict[str, str], list[Problem]]:
    """Cleaned fields of a person, and the problems with them; `region` as in `check_buyer`.

    Empty fields are no problem. `fields` has a value for each key of `lengths`, including `email`, `phone` and
    `country`.
    """
    cleaned = {name: clean_field(fields[name], name) for name in lengths}
    problems = [
        Problem((name,), "TOO_LONG", TemplatedMessage("Use at most {most} characters.", most=limit))
        for name, limit in lengths.items()
        if len(cleaned[name]) > limit
    ]
    if cleaned["country"] and cleaned["country"] not in COUNTRIES:
        problems.append(NO_COUNTRY)
    reported = {problem.path[0] for problem in problems}
    if wrong := _postal_code(cleaned["postal_code"], cleaned["country"]):
        problems += [wrong] if "postal_code" not in reported else []
    cleaned["email"], wrong = _email(cleaned["email"])
    if wrong and "email" not in reported:
        problems.append(wrong)
    cleaned["phone"], wrong = _phone(cleaned["phone"], cleaned["country"] or region)
    if wrong and "phone" not in reported:
        problems.append(wrong)
    return cleaned, problems


def clean_field(value: str, name: str) -> str:
    """The value without control characters, with every run of white space (tabs, non-breaking spaces) as one space, and
    trimmed. Line breaks stay in `message` only.
    """
    text = value.encode(errors="ignore").decode()  # drops lone surrogates
    lines = [" ".join(line.split()) for line in clean_text(text).splitlines()]
    cleaned = ("\n" if name == "message" else " ").join(lines).strip()
    return cleaned.upper() if name.endswith("country") else cleaned


def _email(value: str) -> tuple[str, Problem | None]:
    if not value:
        return "", None
    try:
        return email_address(value), None
    except ValueError:
        return value, Problem(("email",), "INVALID_EMAIL", "Write an e-mail address like name@example.com.")


def _postal_code(value: str, country: str) -> Problem | None:
    if not value or is_postal_code(value, country):
        return None
    example = example_postal_code(country)
    return Problem(
        ("postal_code",),
        POSTAL_CODE_ERROR,
        TemplatedMessage("Write a postal code of this country, such as {example}.", example=example),
    )


def _phone(value: str, country: str) -> tuple[str, Problem | None]:
    if not value:
        return "", None
    wrong = Problem(("phone",), "INVALID_PHONE", "Write a telephone number, such as +33 6 12 34 56 78.")
    written = phone_number(value, country)
    if written is None or len(written) > LENGTHS["phone"]:
        return value, wrong
    return written, None

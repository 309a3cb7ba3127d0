"""Who buys: what must be known, and what is wrong with what was typed."""

from collections.abc import Mapping

from schema.checkout.checkout import Buyer, DeliveryOption
from schema.core.errors import InvalidInput, Problem
from schema.delivery import DeliveryKind
from schema.validation.characters import in_lines
from schema.validation.contact import email_address, phone_number
from schema.validation.countries import COUNTRIES

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
NO_COUNTRY = Problem(("country",), "INVALID", "Choose a country.")
LENGTHS = {**CONTACT_LENGTHS, "recipient_name": 160, "message": 1000}


def needs_address(delivery: DeliveryOption | None) -> bool:
    """Whether something is sent to the buyer's address."""
    return delivery is not None and delivery.kind is DeliveryKind.HOME_DELIVERY and not delivery.to_giftees


def required_of(delivery: DeliveryOption | None) -> tuple[str, ...]:
    """The fields that must be filled in for a delivery."""
    return (*REQUIRED, *ADDRESS) if needs_address(delivery) else REQUIRED


def missing_of(buyer: Buyer, delivery: DeliveryOption | None) -> list[str]:
    """The required fields that are still empty."""
    return [name for name in required_of(delivery) if not getattr(buyer, name)]


def validated(buyer: Buyer, delivery: DeliveryOption | None, region: str) -> Buyer:
    """The buyer, tidied; InvalidInput with a problem for each field that can't be used.

    `region` is the country that telephone numbers without a country code are of, where the buyer's is not known.
    """
    tidied, problems = tidy_person({name: getattr(buyer, name) for name in LENGTHS}, LENGTHS, region)
    result = Buyer(**tidied)
    told = {problem.path[0] for problem in problems}
    missing = [Problem((name,), "REQUIRED", "Fill this in.") for name in missing_of(result, delivery)]
    problems = [*missing, *problems]
    countries = delivery.countries if delivery and needs_address(delivery) else ()
    if result.country and countries and result.country not in countries and "country" not in told:
        problems.append(Problem(("country",), "NOT_DELIVERED", "This delivery does not go to this country."))
    if problems:
        raise InvalidInput(*problems)
    return result


def chosen_country(given: str) -> str:
    """The country that somebody chose for a delivery, by its code; InvalidInput for one that there is not."""
    code = tidy(given, "country")
    if code and code not in COUNTRIES:
        raise InvalidInput(NO_COUNTRY)
    return code


def tidy_person(
    given: Mapping[str, str], lengths: Mapping[str, int], region: str
) -> tuple[dict[str, str], list[Problem]]:
    """What was typed about somebody, tidied, and what cannot be used of it; `region` as in `validated`.

    What is empty is no problem. `given` has a value for each name of `lengths`, `email`, `phone` and `country` among them.
    """
    kept = {name: tidy(given[name], name) for name in lengths}
    problems = [
        Problem((name,), "TOO_LONG", f"Use at most {limit} characters.")
        for name, limit in lengths.items()
        if len(kept[name]) > limit
    ]
    if kept["country"] and kept["country"] not in COUNTRIES:
        problems.append(NO_COUNTRY)
    told = {problem.path[0] for problem in problems}
    kept["email"], wrong = _email(kept["email"])
    if wrong and "email" not in told:
        problems.append(wrong)
    kept["phone"], wrong = _phone(kept["phone"], kept["country"] or region)
    if wrong and "phone" not in told:
        problems.append(wrong)
    return kept, problems


def tidy(value: str, name: str) -> str:
    """Without characters that no form sends by intent; whatever separates words (a tab, a blank that does not break) as one
    blank, none at the ends."""
    sent = value.encode(errors="ignore").decode()  # half a character is none
    lines = [" ".join(line.split()) for line in in_lines(sent).splitlines()]
    kept = ("\n" if name == "message" else " ").join(lines).strip()
    return kept.upper() if name == "country" else kept


def _email(value: str) -> tuple[str, Problem | None]:
    if not value:
        return "", None
    try:
        return email_address(value), None
    except ValueError:
        return value, Problem(("email",), "INVALID_EMAIL", "Write an e-mail address like name@example.com.")


def _phone(value: str, country: str) -> tuple[str, Problem | None]:
    if not value:
        return "", None
    wrong = Problem(("phone",), "INVALID_PHONE", "Write a telephone number, such as +33 6 12 34 56 78.")
    written = phone_number(value, country)
    if written is None or len(written) > LENGTHS["phone"]:
        return value, wrong
    return written, None

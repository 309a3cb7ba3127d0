"""The way through a session of strong authentication: what each step asks, and what a right answer leads to."""

import re
from collections.abc import Mapping

import phonenumbers

from coffret.sandbox import sca, users
from coffret.sandbox.database import Session
from coffret.sandbox.sca import Authentication, Outcome, Stage
from coffret.sandbox.wire.endpoints import Json

CODE = "000000"
"""The code that every text message would hold."""
WRONG_CODES = 3
"""So many wrong codes end a session."""
PIN = re.compile("[0-9]{6}")
EXAMPLE_REGION = "FR"
TICKED = "yes"
CONSENTS = {
    "consent_person": "consent_person_missing",
    "consent_data": "consent_data_missing",
    "consent_proxy": "consent_proxy_missing",
}
"""The boxes of consent, and what is told of one that is left empty."""

Problems = Mapping[str, str]
"""The name of a field, and of the text that tells what is wrong with it. Empty when the step is done."""


def answer(session: Session, page: Authentication, stage: str, typed: Mapping[str, str]) -> Problems:
    """Answer the step that the person saw. Where the session has moved on meanwhile, nothing happens."""
    if page.outcome is not None or stage != page.stage:
        return {}
    if page.stage is Stage.CODE:
        return enter_code(session, page, typed.get("code", ""))
    found = problems(session, page, typed)
    if not found:
        end = phone_end(typed["phone"], region(session, page)) if page.stage is Stage.PHONE else ""
        move_on(session, page, end)
    return found


def problems(session: Session, page: Authentication, typed: Mapping[str, str]) -> Problems:
    """What is wrong with the answer to a step other than the code."""
    match page.stage:
        case Stage.TERMS:
            return {} if typed.get("terms") == TICKED else {"terms": "sca_terms_missing"}
        case Stage.CONSENTS:
            return {box: CONSENTS[box] for box in consents(page) if typed.get(box) != TICKED}
        case Stage.EMAIL:
            expected = users.email(users.present(session, page.user_id))
            return email_problem(typed.get("email", "").strip(), expected)
        case Stage.PIN:
            return pin_problems(typed.get("pin", ""), typed.get("pin_again", "") if chooses_pin(page) else None)
        case Stage.PHONE:
            return {} if phone_end(typed.get("phone", ""), region(session, page)) else {"phone": "sca_phone_invalid"}
        case _:
            return {}


def consents(page: Authentication) -> tuple[str, ...]:
    """The boxes to tick."""
    return ("consent_proxy",) if page.purpose == "consent" else ("consent_person", "consent_data")


def chooses_pin(page: Authentication) -> bool:
    """Whether the PIN is new, and so typed twice. It is compared and forgotten: the sandbox keeps none."""
    return page.purpose == "enrolment"


def email_problem(given: str, expected: str) -> Problems:
    """Only the address of who acts for the user will do."""
    if "@" not in given:
        return {"email": "sca_email_missing"}
    return {} if given.casefold() == expected.casefold() else {"email": "sca_email_wrong"}


def pin_problems(pin: str, again: str | None) -> Problems:
    """Six digits, twice the same where it is chosen."""
    if not PIN.fullmatch(pin):
        return {"pin": "sca_pin_invalid"}
    return {"pin_again": "sca_pin_differs"} if again is not None and again != pin else {}


def phone_end(typed: str, region: str) -> str:
    """The last two digits of a telephone number; empty when it is none. More than these is not kept."""
    try:
        number = phonenumbers.parse(typed, region)
    except phonenumbers.NumberParseException:
        return ""
    if not phonenumbers.is_possible_number(number):
        return ""
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)[-2:]


def example_number(region: str) -> str:
    """A mobile number of a country, as an example."""
    kind = phonenumbers.PhoneNumberType.MOBILE
    number = phonenumbers.example_number_for_type(region, kind) or phonenumbers.example_number_for_type(
        EXAMPLE_REGION, kind
    )
    assert number is not None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)


def region(session: Session, page: Authentication) -> str:
    """The country whose numbers may be typed without its code: that of whoever acts for the user."""
    person = representative(users.present(session, page.user_id))
    return str(person["CountryOfResidence"] or EXAMPLE_REGION)


def representative(user: Json) -> Json:
    """Who acts for a user: itself, if it is natural."""
    person: Json = user["LegalRepresentative"] if user["PersonType"] == users.LEGAL else user
    return person


def enter_code(session: Session, page: Authentication, code: str) -> Problems:
    """The right code ends the session well; the third wrong one ends it badly."""
    if code.strip() == CODE:
        sca.end(session, page.token, Outcome.SUCCEEDED)
        return {}
    session.change("UPDATE authentication SET wrong_codes = wrong_codes + 1 WHERE token = ?", page.token)
    if page.wrong_codes + 1 >= WRONG_CODES:
        sca.end(session, page.token, Outcome.FAILED)
        return {}
    return {"code": "code_wrong"}


def move_on(session: Session, page: Authentication, phone_end: str = "") -> None:
    """Take a session to its next step, if it is still at this one."""
    following = page.stages[page.stages.index(page.stage) + 1]
    session.change(
        "UPDATE authentication SET stage = ?, phone_end = ? WHERE token = ? AND stage = ? AND outcome IS NULL",
        following,
        phone_end or page.phone_end,
        page.token,
        page.stage,
    )

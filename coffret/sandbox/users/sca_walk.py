"""The steps of an authentication session: validation of answers, and the transition to the next step."""

import re
from collections.abc import Mapping

import phonenumbers

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.users import sca, users
from coffret.sandbox.users.sca import ScaOutcome, ScaSession, ScaStage
from coffret.sandbox.wire.endpoints import Json

CODE = "000000"
"""The code that every text message would contain."""
WRONG_CODES = 3
"""Number of wrong codes after which a session fails."""
PIN = re.compile("[0-9]{6}")
EXAMPLE_REGION = "FR"
TICKED = "yes"
CONSENTS = {
    "consent_person": "consent_person_missing",
    "consent_data": "consent_data_missing",
    "consent_proxy": "consent_proxy_missing",
}
"""The consent checkboxes, each with the error text for an unchecked one."""

Problems = Mapping[str, str]
"""Fields with the names of their error texts. Empty if the step is complete."""


def answer(session: SandboxSession, page: ScaSession, stage: str, typed: Mapping[str, str]) -> Problems:
    """Answer the step that the form showed. Has no effect if the session has moved on."""
    if page.outcome is not None or stage != page.stage:
        return {}
    if page.stage is ScaStage.CODE:
        return enter_code(session, page, typed.get("code", ""))
    found = problems(session, page, typed)
    if not found:
        end = phone_end(typed["phone"], region(session, page)) if page.stage is ScaStage.PHONE else ""
        move_on(session, page, end)
    return found


def problems(session: SandboxSession, page: ScaSession, typed: Mapping[str, str]) -> Problems:
    """The errors of an answer to any step but the code."""
    match page.stage:
        case ScaStage.TERMS:
            return {} if typed.get("terms") == TICKED else {"terms": "sca_terms_missing"}
        case ScaStage.CONSENTS:
            return {box: CONSENTS[box] for box in consents(page) if typed.get(box) != TICKED}
        case ScaStage.EMAIL:
            expected = users.email(users.present(session, page.user_id))
            return email_problem(typed.get("email", "").strip(), expected)
        case ScaStage.PIN:
            return pin_problems(typed.get("pin", ""), typed.get("pin_again", "") if chooses_pin(page) else None)
        case ScaStage.PHONE:
            return {} if phone_end(typed.get("phone", ""), region(session, page)) else {"phone": "sca_phone_invalid"}
        case _:
            return {}


def consents(page: ScaSession) -> tuple[str, ...]:
    """The consent checkboxes of a session."""
    return ("consent_proxy",) if page.purpose == "consent" else ("consent_person", "consent_data")


def chooses_pin(page: ScaSession) -> bool:
    """True if the user chooses a new PIN, which must be typed twice. The sandbox does not store it."""
    return page.purpose == "enrolment"


def email_problem(address: str, expected: str) -> Problems:
    """The address must be that of the person who acts for the user."""
    if "@" not in address:
        return {"email": "sca_email_missing"}
    return {} if address.casefold() == expected.casefold() else {"email": "sca_email_wrong"}


def pin_problems(pin: str, again: str | None) -> Problems:
    """Six digits; a new PIN must be repeated."""
    if not PIN.fullmatch(pin):
        return {"pin": "sca_pin_invalid"}
    return {"pin_again": "sca_pin_differs"} if again is not None and again != pin else {}


def phone_end(typed: str, region: str) -> str:
    """The last two digits of a phone number, the only part that is stored; empty if the number is invalid."""
    try:
        number = phonenumbers.parse(typed, region)
    except phonenumbers.NumberParseException:
        return ""
    if not phonenumbers.is_possible_number(number):
        return ""
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)[-2:]


def example_number(region: str) -> str:
    """An example of a mobile number of a region."""
    kind = phonenumbers.PhoneNumberType.MOBILE
    number = phonenumbers.example_number_for_type(region, kind) or phonenumbers.example_number_for_type(
        EXAMPLE_REGION, kind
    )
    assert number is not None
    return phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.INTERNATIONAL)


def region(session: SandboxSession, page: ScaSession) -> str:
    """The region whose numbers need no country code: the residence of the person who acts for the user."""
    person = representative(users.present(session, page.user_id))
    return str(person["CountryOfResidence"] or EXAMPLE_REGION)


def representative(user: Json) -> Json:
    """The person who acts for a user: a natural user itself."""
    person: Json = user["LegalRepresentative"] if user["PersonType"] == users.LEGAL else user
    return person


def enter_code(session: SandboxSession, page: ScaSession, code: str) -> Problems:
    """The right code completes the session; the third wrong one fails it."""
    if code.strip() == CODE:
        sca.end(session, page.token, ScaOutcome.SUCCEEDED)
        return {}
    session.change("UPDATE authentication SET wrong_codes = wrong_codes + 1 WHERE token = ?", page.token)
    if page.wrong_codes + 1 >= WRONG_CODES:
        sca.end(session, page.token, ScaOutcome.FAILED)
        return {}
    return {"code": "code_wrong"}


def move_on(session: SandboxSession, page: ScaSession, phone_end: str = "") -> None:
    """Move a session to its next step if it is still at this one."""
    following = page.stages[page.stages.index(page.stage) + 1]
    session.change(
        "UPDATE authentication SET stage = ?, phone_end = ? WHERE token = ? AND stage = ? AND outcome IS NULL",
        following,
        phone_end or page.phone_end,
        page.token,
        page.stage,
    )

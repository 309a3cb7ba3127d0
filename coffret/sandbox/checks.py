"""What a hosted check of an identity finds: its single checks, the verified data in them, and why one was refused."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from coffret.sandbox import levels, users
from coffret.sandbox.database import Session
from coffret.sandbox.wire.endpoints import Json

DOCUMENT, NAMES, AGE = "IDENTITY_DOCUMENT_VERIFICATION", "IDV_NAME_MATCH_CHECK", "IDV_AGE_CHECK"
COMPANY, INSIGHTS, OWNERS = "BUSINESS_VERIFICATION", "BUSINESS_INSIGHTS_MATCH", "PERSONS_SIGNIFICANT_CONTROL"

MADE: dict[str, tuple[str, ...]] = {
    "NATURAL": (DOCUMENT, NAMES, AGE),
    "SOLETRADER": (COMPANY, DOCUMENT, NAMES, AGE),
    "ORGANIZATION": (COMPANY, INSIGHTS, DOCUMENT, NAMES, AGE),
    "BUSINESS": (COMPANY, INSIGHTS, OWNERS, DOCUMENT, NAMES, AGE),
}
"""The checks of each kind of user, in their order. Partnerships can't be checked this way."""


class Reason(StrEnum):
    """Why the document of a hosted check is refused."""

    DOCUMENT_NOT_ACCEPTED = "DOCUMENT_NOT_ACCEPTED"
    FACE_MATCH_FAIL = "FACE_MATCH_FAIL"
    DOCUMENT_FALSIFIED = "DOCUMENT_FALSIFIED"
    DOCUMENT_UNREADABLE = "DOCUMENT_UNREADABLE"
    DOCUMENT_HAS_EXPIRED = "DOCUMENT_HAS_EXPIRED"


PRESET = {
    Reason.DOCUMENT_NOT_ACCEPTED: "The document is of a kind that is not accepted.",
    Reason.FACE_MATCH_FAIL: "The face on the picture is not the face on the document.",
    Reason.DOCUMENT_FALSIFIED: "The document seems to be forged.",
    Reason.DOCUMENT_UNREADABLE: "The document can't be read.",
    Reason.DOCUMENT_HAS_EXPIRED: "The document has expired.",
}
"""What an automatic refusal says; a person who reviews writes something of their own."""

PERSON = {
    "FIRST_NAME": "FirstName",
    "LAST_NAME": "LastName",
    "BIRTHDATE": "Birthday",
    "NATIONALITY": "Nationality",
}
NATURAL_DATA = {name: (field,) for name, field in PERSON.items()}
LEGAL_DATA = {
    "COMPANY_NAME": ("Name",),
    "COMPANY_NUMBER": ("CompanyNumber",),
    **{f"LEGAL_REPRESENTATIVE_{name}": ("LegalRepresentative", field) for name, field in PERSON.items()},
}
"""Verified data by its name in a check, and the field of the user that it overwrites."""


def data_of(user: Json) -> Mapping[str, tuple[str, ...]]:
    """Which data a check of this user verifies."""
    return NATURAL_DATA if user["PersonType"] == users.NATURAL else LEGAL_DATA


def verified(user: Json, found: Mapping[str, str]) -> dict[str, str]:
    """What the check reads from document and register: what the user declared, unless it found something else.

    Documents print names in capitals, and so does the provider.
    """
    data: dict[str, str] = {}
    for name, path in data_of(user).items():
        declared = value_at(user, path)
        if name in found or declared is not None:
            capitals = name.endswith(("FIRST_NAME", "LAST_NAME"))
            data[name] = found.get(name) or (str(declared).upper() if capitals else str(declared))
    return data


def overwrite(session: Session, user: Json, data: Mapping[str, str]) -> None:
    """Put verified data in the place of what the user declared."""
    changes: Json = {}
    for name, (*group, field) in data_of(user).items():
        if name in data:
            value = int(data[name]) if field == "Birthday" else data[name]
            target = changes.setdefault(group[0], dict(user[group[0]])) if group else changes
            target[field] = value
    named = {**user, **changes}
    natural = user["PersonType"] == users.NATURAL
    name = f"{named['FirstName']} {named['LastName']}" if natural else named["Name"]
    users.rewrite(session, user["Id"], changes, name)


@dataclass(frozen=True, slots=True)
class Findings:
    """What a session's checks are written from: whose they are, what they verify, when, and those that a review saw before."""

    session: Session
    user: Json
    data: Mapping[str, str]
    at: float
    earlier: Sequence[Json] = ()

    def passed(self) -> list[Json]:
        """Every check is good; the data stand in those that verified them."""
        return [self._check(type, "VALIDATED") for type in self._types()]

    def undecided(self) -> list[Json]:
        """The register has no clear answer: a person at the provider has to look."""
        return [self._check(COMPANY, "REVIEW"), self._check(DOCUMENT, "VALIDATED")]

    def failed(self, reason: Reason, comment: str) -> list[Json]:
        """The document is refused, and what comes after it was not checked at all."""
        types = self._types()
        good = [self._check(type, "VALIDATED") for type in types[: types.index(DOCUMENT)]]
        return [*good, self._check(DOCUMENT, "REFUSED", [{"Type": reason, "Value": comment or PRESET[reason]}])]

    def _types(self) -> tuple[str, ...]:
        """A partnership gets here only if it was something else when its session began, and is checked as a business."""
        return MADE.get(levels.kind(self.user), MADE["BUSINESS"])

    def _check(self, type: str, status: str, reasons: Sequence[Json] = ()) -> Json:
        before = next((check for check in self.earlier if check["Type"] == type), None)
        shown = {name: value for name, value in self.data.items() if belongs(name, type) and status == "VALIDATED"}
        return {
            "CheckId": before["CheckId"] if before else self.session.mint("idnchc_"),
            "Type": type,
            "CheckStatus": status,
            "CreationDate": before["CreationDate"] if before else int(self.at),
            "LastUpdate": int(self.at),
            "Data": [{"Type": name, "Value": value} for name, value in shown.items()],
            "Reasons": list(reasons),
        }


def belongs(name: str, type: str) -> bool:
    """Whether a check of this type verifies this data: the company's stand in its own check, a person's in the document's."""
    return type == (COMPANY if name.startswith("COMPANY") else DOCUMENT)


def value_at(user: Json, path: tuple[str, ...]) -> object:
    """A field of the user."""
    value: object = user
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value

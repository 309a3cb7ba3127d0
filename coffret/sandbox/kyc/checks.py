"""The checks of a hosted identity verification: their results, verified data and refusal reasons."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.users import levels, users
from coffret.sandbox.wire.endpoints import Json

DOCUMENT, NAMES, AGE = "IDENTITY_DOCUMENT_VERIFICATION", "IDV_NAME_MATCH_CHECK", "IDV_AGE_CHECK"
COMPANY, INSIGHTS, OWNERS = "BUSINESS_VERIFICATION", "BUSINESS_INSIGHTS_MATCH", "PERSONS_SIGNIFICANT_CONTROL"

CHECKS_BY_KIND: dict[str, tuple[str, ...]] = {
    "NATURAL": (DOCUMENT, NAMES, AGE),
    "SOLETRADER": (COMPANY, DOCUMENT, NAMES, AGE),
    "ORGANIZATION": (COMPANY, INSIGHTS, DOCUMENT, NAMES, AGE),
    "BUSINESS": (COMPANY, INSIGHTS, OWNERS, DOCUMENT, NAMES, AGE),
}
"""The checks of each kind of user, in order. Partnerships cannot be verified this way."""


class CheckRefusalReason(StrEnum):
    """Why the document of a hosted verification is refused."""

    DOCUMENT_NOT_ACCEPTED = "DOCUMENT_NOT_ACCEPTED"
    FACE_MATCH_FAIL = "FACE_MATCH_FAIL"
    DOCUMENT_FALSIFIED = "DOCUMENT_FALSIFIED"
    DOCUMENT_UNREADABLE = "DOCUMENT_UNREADABLE"
    DOCUMENT_HAS_EXPIRED = "DOCUMENT_HAS_EXPIRED"


PRESET = {
    CheckRefusalReason.DOCUMENT_NOT_ACCEPTED: "The document is of a kind that is not accepted.",
    CheckRefusalReason.FACE_MATCH_FAIL: "The face on the picture is not the face on the document.",
    CheckRefusalReason.DOCUMENT_FALSIFIED: "The document seems to be forged.",
    CheckRefusalReason.DOCUMENT_UNREADABLE: "The document can't be read.",
    CheckRefusalReason.DOCUMENT_HAS_EXPIRED: "The document has expired.",
}
"""The messages of automatic refusals. A human reviewer writes a comment instead."""

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
"""Names of verified data, each with the path of the user's field that it overwrites."""


def data_of(user: Json) -> Mapping[str, tuple[str, ...]]:
    """The data that a verification of this user covers."""
    return NATURAL_DATA if user["PersonType"] == users.NATURAL else LEGAL_DATA


def verified_data(user: Json, body: Mapping[str, str]) -> dict[str, str]:
    """The verified data: the user's declared values, overridden by those in `found`.

    The provider writes names in capitals, as documents do.
    """
    data: dict[str, str] = {}
    for name, path in data_of(user).items():
        declared = value_at(user, path)
        if name in body or declared is not None:
            capitals = name.endswith(("FIRST_NAME", "LAST_NAME"))
            data[name] = body.get(name) or (str(declared).upper() if capitals else str(declared))
    return data


def overwrite(session: SandboxSession, user: Json, data: Mapping[str, str]) -> None:
    """Replace the user's declared values by the verified data."""
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
class CheckFindings:
    """Builds the checks of a session. `earlier` are the checks that a review has already written."""

    session: SandboxSession
    user: Json
    data: Mapping[str, str]
    at: float
    earlier: Sequence[Json] = ()

    def passed_checks(self) -> list[Json]:
        """All checks succeed and contain their verified data."""
        return [self._check(type, "VALIDATED") for type in self._types()]

    def checks_under_review(self) -> list[Json]:
        """The register gives no clear answer: a human must review."""
        return [self._check(COMPANY, "REVIEW"), self._check(DOCUMENT, "VALIDATED")]

    def failed_checks(self, reason: CheckRefusalReason, comment: str) -> list[Json]:
        """The document is refused; later checks are not made."""
        types = self._types()
        good = [self._check(type, "VALIDATED") for type in types[: types.index(DOCUMENT)]]
        return [*good, self._check(DOCUMENT, "REFUSED", [{"Type": reason, "Value": comment or PRESET[reason]}])]

    def _types(self) -> tuple[str, ...]:
        """The check types of the user's kind.

        A user that became a partnership during its session is checked as a business.
        """
        return CHECKS_BY_KIND.get(levels.kind(self.user), CHECKS_BY_KIND["BUSINESS"])

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
    """True if a check of this type verifies this data: company data by the company's check, personal data by the
    document's.
    """
    return type == (COMPANY if name.startswith("COMPANY") else DOCUMENT)


def value_at(user: Json, path: tuple[str, ...]) -> object:
    value: object = user
    for part in path:
        value = value.get(part) if isinstance(value, dict) else None
    return value

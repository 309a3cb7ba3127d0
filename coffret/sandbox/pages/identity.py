"""The page of an identity verification. In the sandbox the visitor chooses the result."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from pydantic import ValidationError

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.kyc import identity, owners
from coffret.sandbox.kyc.checks import CheckRefusalReason
from coffret.sandbox.kyc.identity import VerificationDecision, VerificationOutcome, VerificationStatus
from coffret.sandbox.pages import owners as owner_pages
from coffret.sandbox.pages import visits
from coffret.sandbox.pages.visits import HostedPageRequest, NoticeLink, PageRedirect, PageResponse, RenderedPage
from coffret.sandbox.users import levels, users
from coffret.sandbox.wire.errors import OutOfTurn

REASONS = {
    CheckRefusalReason.DOCUMENT_NOT_ACCEPTED: "document_not_accepted",
    CheckRefusalReason.FACE_MATCH_FAIL: "face_match_fail",
    CheckRefusalReason.DOCUMENT_FALSIFIED: "document_falsified",
    CheckRefusalReason.DOCUMENT_UNREADABLE: "document_unreadable",
    CheckRefusalReason.DOCUMENT_HAS_EXPIRED: "document_has_expired",
}
"""The name of each reason's text."""
REVIEWS = {
    f"{VerificationOutcome.REVIEW_VALIDATE}": "review_validate",
    f"{VerificationOutcome.REVIEW_REFUSE}:{CheckRefusalReason.DOCUMENT_NOT_ACCEPTED}": "review_refuse",
}
"""The possible results of a review as form values, each with the name of its text."""
VALIDATE_OWNERS = "validate_owners"
"""The form value that validates a business of two owners, who then prove their own identities."""
SECOND_OWNER = owners.DeclaredOwner(first_name="Camille", last_name="Martin")
ENDED = {
    VerificationStatus.REVIEW: ("identity_in_review", "wait", 200),
    VerificationStatus.VALIDATED: ("identity_validated", "good", 410),
    VerificationStatus.REFUSED: ("identity_refused", "bad", 410),
    VerificationStatus.EXPIRED: ("identity_expired", "bad", 410),
    VerificationStatus.OUT_OF_DATE: ("identity_out_of_date", "bad", 410),
}
"""The notice of a session that can no longer be submitted: text, mood, HTTP status."""


def show(session: SandboxSession, visit: HostedPageRequest) -> PageResponse:
    """The choice of the result, or a notice if the session has ended."""
    row = identity.of_token(session, visit.token)
    if row is None:
        return show_owner(session, visit)
    if row["status"] == VerificationStatus.PENDING:
        return choices(session, visit, row)
    name, mood, status = ENDED[VerificationStatus(row["status"])]
    return notice(visit, name, mood, [NoticeLink(row["return_url"], "identity_back")], status)


def decide(session: SandboxSession, visit: HostedPageRequest) -> PageResponse:
    """Apply the chosen result. A repeated submission redirects to the same URL."""
    row = identity.of_token(session, visit.token)
    if row is None:
        return show_owner(session, visit, submitted=True)
    if row["status"] in {VerificationStatus.EXPIRED, VerificationStatus.OUT_OF_DATE}:
        return show(session, visit)
    if row["status"] == VerificationStatus.PENDING:
        try:
            identity.decide(session, row["id"], decision_of(session, row, visit.typed.get("choice", "")))
        except (ValidationError, OutOfTurn):
            return choices(session, visit, row, status=400)
    return PageRedirect(row["return_url"])


def decision_of(session: SandboxSession, row: sqlite3.Row, choice: str) -> VerificationDecision:
    """The decision of a form value. Raises ValidationError for one that the page does not offer."""
    if choice == VALIDATE_OWNERS:
        person = users.present(session, row["user_id"])["LegalRepresentative"]
        first = owners.DeclaredOwner(first_name=person["FirstName"], last_name=person["LastName"])
        return VerificationDecision(outcome=VerificationOutcome.VALIDATE, owners=[first, SECOND_OWNER])
    outcome, _, reason = choice.partition(":")
    return VerificationDecision.model_validate({"outcome": outcome, "reason": reason or None})


def show_owner(session: SandboxSession, visit: HostedPageRequest, *, submitted: bool = False) -> PageResponse:
    """The page of one owner, or the response to its form."""
    row = owners.of_token(session, visit.token)
    if row is None:
        return notice(visit, "identity_unknown", "bad", (), 404)
    back = owner_pages.return_url(session, row)
    if row["status"] != owners.OwnerStatus.PENDING_VALIDATION:
        if submitted:
            return PageRedirect(back)
        name, mood = owner_pages.ENDED[owners.OwnerStatus(row["status"])]
        return notice(visit, name, mood, [NoticeLink(back, "identity_back")], 410)
    if submitted and owner_pages.submit(session, row, visit.typed.get("choice", "")):
        return PageRedirect(back)
    return owner_pages.choices(session, visit, row, address(visit), status=400 if submitted else 200)


def choices(session: SandboxSession, visit: HostedPageRequest, row: sqlite3.Row, *, status: int = 200) -> RenderedPage:
    """The page. Only sessions of legal users offer reviews."""
    user = users.find(session, row["user_id"])
    values = {
        "account": user["name"],
        "open_until": row["due_at"],
        "refusals": {f"{VerificationOutcome.REFUSE}:{reason}": (text, reason) for reason, text in REASONS.items()},
        "reviews": REVIEWS if user["person_type"] == users.LEGAL else {},
        "validate": VerificationOutcome.VALIDATE,
        "validate_owners": VALIDATE_OWNERS if levels.kind(users.present_row(user)) in owners.KINDS else "",
        "here": address(visit),
        "leave": row["return_url"],
    }
    return RenderedPage("identity.html", visit.texts(), status, values)


def notice(visit: HostedPageRequest, name: str, mood: str, links: Sequence[NoticeLink], status: int) -> RenderedPage:
    """A page with one message and links."""
    return replace(visits.notice(visit.texts(), name, mood, links, status=status), template="identity_notice.html")


def address(visit: HostedPageRequest) -> str:
    """The page's URL in the selected language."""
    return f"{visit.base}/identity/{visit.token}" + (
        f"?{visit.language_parameter[1:]}" if visit.language_parameter else ""
    )

"""Visits of the page where somebody would prove an identity: in the sandbox the visitor chooses how the check ends."""

import sqlite3
from collections.abc import Sequence
from dataclasses import replace

from pydantic import ValidationError

from coffret.sandbox import identity, users
from coffret.sandbox.checks import Reason
from coffret.sandbox.database import Session
from coffret.sandbox.identity import Decision, Outcome, Status
from coffret.sandbox.pages import visits
from coffret.sandbox.pages.visits import Answer, Link, Sent, Shown, Visit
from coffret.sandbox.wire.errors import OutOfTurn

REASONS = {
    Reason.DOCUMENT_NOT_ACCEPTED: "document_not_accepted",
    Reason.FACE_MATCH_FAIL: "face_match_fail",
    Reason.DOCUMENT_FALSIFIED: "document_falsified",
    Reason.DOCUMENT_UNREADABLE: "document_unreadable",
    Reason.DOCUMENT_HAS_EXPIRED: "document_has_expired",
}
"""The text of each reason."""
REVIEWS = {
    f"{Outcome.REVIEW_VALIDATE}": "review_validate",
    f"{Outcome.REVIEW_REFUSE}:{Reason.DOCUMENT_NOT_ACCEPTED}": "review_refuse",
}
"""What a review can end with, as the form sends it, and the text of each."""
ENDED = {
    Status.REVIEW: ("identity_in_review", "wait", 200),
    Status.VALIDATED: ("identity_validated", "good", 410),
    Status.REFUSED: ("identity_refused", "bad", 410),
    Status.EXPIRED: ("identity_expired", "bad", 410),
    Status.OUT_OF_DATE: ("identity_out_of_date", "bad", 410),
}
"""What is told of a session that can't be handed in any more: its text, its mood, its status."""


def show(session: Session, visit: Visit) -> Answer:
    """The choice of how the check ends, or how it has ended."""
    row = identity.of_token(session, visit.token)
    if row is None:
        return notice(visit, "identity_unknown", "bad", (), 404)
    if row["status"] == Status.PENDING:
        return choices(session, visit, row)
    name, mood, status = ENDED[Status(row["status"])]
    return notice(visit, name, mood, [Link(row["return_url"], "identity_back")], status)


def decide(session: Session, visit: Visit) -> Answer:
    """The choice was made; made again, it leads to where the first one led."""
    row = identity.of_token(session, visit.token)
    if row is None or row["status"] in {Status.EXPIRED, Status.OUT_OF_DATE}:
        return show(session, visit)
    if row["status"] == Status.PENDING:
        outcome, _, reason = visit.typed.get("choice", "").partition(":")
        try:
            identity.decide(session, row["id"], Decision.model_validate({"outcome": outcome, "reason": reason or None}))
        except (ValidationError, OutOfTurn):
            return choices(session, visit, row, status=400)
    return Sent(row["return_url"])


def choices(session: Session, visit: Visit, row: sqlite3.Row, *, status: int = 200) -> Shown:
    """The page itself. Only sessions of legal users can be reviewed."""
    user = users.find(session, row["user_id"])
    values = {
        "account": user["name"],
        "open_until": row["due_at"],
        "refusals": {f"{Outcome.REFUSE}:{reason}": (text, reason) for reason, text in REASONS.items()},
        "reviews": REVIEWS if user["person_type"] == users.LEGAL else {},
        "validate": Outcome.VALIDATE,
        "here": address(visit),
        "leave": row["return_url"],
    }
    return Shown("identity.html", visit.texts(), status, values)


def notice(visit: Visit, name: str, mood: str, links: Sequence[Link], status: int) -> Shown:
    """A page that tells one thing and shows the way on."""
    return replace(visits.notice(visit.texts(), name, mood, links, status=status), template="identity_notice.html")


def address(visit: Visit) -> str:
    """The page's address, in the language that was chosen."""
    return f"{visit.base}/identity/{visit.token}" + (f"?{visit.language[1:]}" if visit.language else "")

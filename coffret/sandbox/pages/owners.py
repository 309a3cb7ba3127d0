"""The page on which one owner of a business proves an identity. In the sandbox the visitor chooses the result."""

import sqlite3

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.kyc import identity, owners
from coffret.sandbox.kyc.checks import CheckRefusalReason
from coffret.sandbox.kyc.owners import OwnerDecision, OwnerStatus
from coffret.sandbox.pages.visits import HostedPageRequest, RenderedPage
from coffret.sandbox.users import users
from coffret.sandbox.wire.endpoints import Json

CHOICES = {"validate": OwnerDecision(outcome="validate"), "reject": OwnerDecision(outcome="reject")}
ENDED = {
    OwnerStatus.VALIDATED: ("identity_validated", "good"),
    OwnerStatus.REJECTED: ("identity_refused", "bad"),
    OwnerStatus.ABANDONED: ("identity_out_of_date", "bad"),
}
"""The notice of a session that has ended: text and mood."""


def return_url(session: SandboxSession, row: sqlite3.Row) -> str:
    """Where the page leads back: to the address of the business's session."""
    return str(identity.find(session, row["verification_id"])["return_url"])


def choices(
    session: SandboxSession, visit: HostedPageRequest, row: sqlite3.Row, here: str, *, status: int
) -> RenderedPage:
    """The page of a pending session."""
    values: Json = {
        "account": f"{row['first_name']} {row['last_name']} ({users.name(session, row['user_id'])})",
        "open_until": row["due_at"],
        "refusals": {"reject": ("face_match_fail", CheckRefusalReason.FACE_MATCH_FAIL)},
        "reviews": {},
        "validate": "validate",
        "validate_owners": "",
        "here": here,
        "leave": return_url(session, row),
    }
    return RenderedPage("identity.html", visit.texts(), status, values)


def submit(session: SandboxSession, row: sqlite3.Row, choice: str) -> bool:
    """Apply a choice to a pending session. Returns False for one that the page does not offer."""
    if choice not in CHOICES:
        return False
    owners.decide(session, row["id"], CHOICES[choice])
    return True

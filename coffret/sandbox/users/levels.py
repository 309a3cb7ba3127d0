"""KYC levels: the documents that each kind of user needs. A hosted verification replaces them all."""

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.users import renewal, users
from coffret.sandbox.wire.endpoints import Json

IDENTITY, REGISTRATION = "IDENTITY_PROOF", "REGISTRATION_PROOF"
ARTICLES, SHAREHOLDERS, ADDRESS = "ARTICLES_OF_ASSOCIATION", "SHAREHOLDER_DECLARATION", "ADDRESS_PROOF"

REQUIRED: dict[str, tuple[str, ...]] = {
    "NATURAL": (IDENTITY,),
    "SOLETRADER": (IDENTITY, REGISTRATION),
    "ORGANIZATION": (IDENTITY, REGISTRATION, ARTICLES),
    "PARTNERSHIP": (IDENTITY, REGISTRATION, ARTICLES, SHAREHOLDERS),
    "BUSINESS": (IDENTITY, REGISTRATION, ARTICLES, SHAREHOLDERS),
}
"""Documents that must all be VALIDATED.

For businesses and partnerships the shareholder declaration stands for the declaration of beneficial owners, which changes
no level. An address proof is never required.
"""

VERIFIED = """SELECT 1 FROM (SELECT id FROM identity_verification WHERE user_id = ? AND status = 'VALIDATED'
                             ORDER BY seq DESC LIMIT 1) AS latest
              WHERE NOT EXISTS (SELECT 1 FROM owner_session WHERE verification_id = latest.id
                                AND owner_session.status IN ('PENDING_VALIDATION', 'REJECTED'))"""
"""A user's latest valid hosted verification, unless an owner of the business has not proven their identity."""


def kind(user: Json) -> str:
    """`NATURAL`, or the legal person's type. It determines the checks and documents."""
    return str(user.get("LegalPersonType") or user["PersonType"])


def proven(session: SandboxSession, user_id: str) -> bool:
    """True if a hosted verification of the user is valid, or all required documents are."""
    if session.row(VERIFIED, user_id):
        return True
    rows = session.rows("SELECT DISTINCT type FROM kyc_document WHERE user_id = ? AND status = 'VALIDATED'", user_id)
    return set(REQUIRED[kind(users.present(session, user_id))]) <= {row["type"] for row in rows}


def upgrade_level(session: SandboxSession, user_id: str, at: float) -> None:
    """After a validation: the user becomes REGULAR if everything required is valid, or has renewed its proof."""
    if proven(session, user_id):
        renewal.record_verification(session, user_id, at)
        users.identify(session, user_id, "REGULAR", at)


def downgrade_level(session: SandboxSession, user_id: str, at: float) -> None:
    """After a validated proof went out of date: the user becomes LIGHT if the remaining ones do not suffice."""
    if not proven(session, user_id):
        users.identify(session, user_id, "LIGHT", at)

"""What it takes to be identified: the documents that each kind of user needs, or a hosted check instead of them all."""

from coffret.sandbox import users
from coffret.sandbox.database import Session
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
"""Documents that have to be VALIDATED together. Businesses and partnerships also have to tell who owns them: the sandbox
has no declarations of beneficial owners, so their shareholder declaration stands for it. Nobody needs an address proof."""


def kind(user: Json) -> str:
    """`NATURAL`, or the legal person's type: what decides over checks and documents."""
    return str(user.get("LegalPersonType") or user["PersonType"])


def proven(session: Session, user_id: str) -> bool:
    """Whether a hosted check of the user is good, or every document that its kind needs."""
    if session.row("SELECT 1 FROM identity_verification WHERE user_id = ? AND status = 'VALIDATED'", user_id):
        return True
    rows = session.rows("SELECT DISTINCT type FROM kyc_document WHERE user_id = ? AND status = 'VALIDATED'", user_id)
    return set(REQUIRED[kind(users.present(session, user_id))]) <= {row["type"] for row in rows}


def gained(session: Session, user_id: str, at: float) -> None:
    """Something was validated: the user becomes REGULAR once all that it takes is there."""
    if proven(session, user_id):
        users.identify(session, user_id, "REGULAR", at)


def lost(session: Session, user_id: str, at: float) -> None:
    """Something that was good went out of date: without it the user may be LIGHT again."""
    if not proven(session, user_id):
        users.identify(session, user_id, "LIGHT", at)

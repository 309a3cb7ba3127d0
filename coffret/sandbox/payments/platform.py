"""The platform itself as a user: the author of movements between its own wallets and the outside."""

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.users import users
from coffret.sandbox.wire.endpoints import Json

PLATFORM = "PLATFORM"


def user_id(session: SandboxSession) -> str:
    """The id of the platform's own user, which has the category PLATFORM and its client id for an id."""
    id = session.settings.client_id
    if session.row("SELECT 1 FROM user WHERE id = ?", id) is None:
        written: Json = {
            "UserCategory": PLATFORM,
            "UserStatus": users.ACTIVE,
            "KYCLevel": "REGULAR",
            "Name": id,
            "Email": None,
            "CreationDate": int(session.now),
            "LegalRepresentative": {},
        }
        users.add(session, id, users.LEGAL, id, written)
    return id

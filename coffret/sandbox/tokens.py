"""Access tokens: `POST /oauth/token` with the client's id and API key."""

import hashlib
import hmac

from coffret.sandbox.database import Session
from coffret.sandbox.wire.endpoints import Call, Endpoint, Json
from coffret.sandbox.wire.errors import ParamError, Unauthorized


def digest(token: str) -> str:
    """What is stored of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def create(session: Session, call: Call) -> Json:
    """POST /oauth/token"""
    expected = (session.settings.client_id, session.settings.api_key)
    given = call.basic() or ("", "")
    if not all(
        hmac.compare_digest(mine.encode(), theirs.encode()) for mine, theirs in zip(expected, given, strict=True)
    ):
        raise Unauthorized("The client id or the API key is wrong.", "Basic")
    if call.form().get("grant_type") != "client_credentials":
        raise ParamError({"grant_type": "The field grant_type must be client_credentials."})
    token = session.secret()
    session.change("DELETE FROM token WHERE expires_at <= ?", session.now)
    session.change("INSERT INTO token VALUES (?, ?)", digest(token), session.now + session.settings.token_lifetime)
    return {"access_token": token, "token_type": "Bearer", "expires_in": session.settings.token_lifetime}


def check(session: Session, authorization: str) -> None:
    """Refuse a call without a token that lives."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not session.row(
        "SELECT 1 FROM token WHERE digest = ? AND expires_at > ?", digest(token.strip()), session.now
    ):
        raise Unauthorized("The access token is missing, wrong or expired.")


def expire_all(session: Session) -> int:
    """End every token; answers how many there were."""
    return session.change("DELETE FROM token")


ENDPOINTS = (Endpoint("POST", "/oauth/token", create, public=True),)

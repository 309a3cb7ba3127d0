"""Access tokens: `POST /oauth/token` with the client's id and API key."""

import hashlib
import hmac

from coffret.sandbox.database import SandboxSession
from coffret.sandbox.wire.endpoints import HttpCall, Json, WireEndpoint
from coffret.sandbox.wire.errors import InvalidClient, ParamError, Unauthorized


def digest(token: str) -> str:
    """The stored hash of a token."""
    return hashlib.sha256(token.encode()).hexdigest()


def create(session: SandboxSession, call: HttpCall) -> Json:
    """POST /oauth/token"""
    expected = (session.settings.client_id, session.settings.api_key)
    given = call.basic() or ("", "")
    if not all(
        hmac.compare_digest(mine.encode(), theirs.encode()) for mine, theirs in zip(expected, given, strict=True)
    ):
        raise InvalidClient("The client id or the API key is wrong.", headers={"WWW-Authenticate": "Basic"})
    if call.form().get("grant_type") != "client_credentials":
        raise ParamError({"grant_type": "The field grant_type must be client_credentials."})
    token = session.secret()
    session.change("DELETE FROM token WHERE expires_at <= ?", session.now)
    session.change("INSERT INTO token VALUES (?, ?)", digest(token), session.now + session.settings.token_lifetime)
    return {"access_token": token, "token_type": "Bearer", "expires_in": session.settings.token_lifetime}


def check(session: SandboxSession, authorization: str) -> None:
    """Raise Unauthorized unless the token is valid."""
    scheme, _, token = authorization.partition(" ")
    if scheme.lower() != "bearer" or not session.row(
        "SELECT 1 FROM token WHERE digest = ? AND expires_at > ?", digest(token.strip()), session.now
    ):
        raise Unauthorized("The access token is missing, wrong or expired.")


def expire_all(session: SandboxSession) -> int:
    """Expire all tokens. Returns their number."""
    return session.change("DELETE FROM token")


ENDPOINTS = (WireEndpoint("POST", "/oauth/token", create, public=True),)

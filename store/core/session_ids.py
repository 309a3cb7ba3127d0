"""Identifiers and lifetime of browser sessions."""

import datetime as dt
import secrets

SESSION_LIFE = dt.timedelta(hours=24)


def new_session_id() -> str:
    """256 random bits as 43 characters that are safe in a cookie."""
    return secrets.token_urlsafe(32)

"""Cookies: an opaque session id, the last cart of each storefront, and the chosen language."""

import re
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from store.core.session_ids import SESSION_LIFE, new_session_id

SESSION_ID = re.compile(r"[A-Za-z0-9_-]{43}")
DAY = 24 * 60 * 60
YEAR = 365 * DAY


@dataclass(frozen=True, slots=True)
class Cookies:
    """Reads and sets cookies. `secure` is False only in development over http."""

    secure: bool

    def name(self, of: str) -> str:
        """The cookie's name.

        With https the prefix `__Host-` prevents other hosts and plain connections from setting it.
        """
        return f"__Host-coffret-{of}" if self.secure else f"coffret-{of}"

    def read(self, request: Request, of: str) -> str:
        """The value of a cookie; empty without one."""
        return request.cookies.get(self.name(of), "")

    def session_id(self, request: Request) -> str:
        """The browser's session id; a new one if it is missing or malformed."""
        text = self.read(request, "session")
        return text if SESSION_ID.fullmatch(text) else new_session_id()

    def set_session(self, response: Response, session_id: str) -> None:
        """Set the session id for the lifetime of the session."""
        self._write(response, "session", session_id, int(SESSION_LIFE.total_seconds()))

    def set_cart(self, response: Response, of: str, cart_id: str) -> None:
        """Store the cart opened last, in the cookie of its storefront."""
        self._write(response, of, cart_id, DAY)

    def set_language(self, response: Response, language: str) -> None:
        self._write(response, "language", language, YEAR)

    def set(self, response: Response, of: str, value: str, seconds: int) -> None:
        """Set a cookie with a lifetime in seconds."""
        self._write(response, of, value, seconds)

    def delete(self, response: Response, of: str) -> None:
        self._write(response, of, "", 0)

    def _write(self, response: Response, of: str, value: str, seconds: int) -> None:
        response.set_cookie(
            self.name(of), value, max_age=seconds, path="/", secure=self.secure, httponly=True, samesite="lax"
        )

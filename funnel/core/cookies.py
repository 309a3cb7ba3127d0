"""The things a browser keeps for us: an opaque session id, the last cart opened at each counter, the language chosen."""

import re
from dataclasses import dataclass

from starlette.requests import Request
from starlette.responses import Response

from store.checkout.sessions import SESSION_LIFE, new_session_id

SESSION_ID = re.compile(r"[A-Za-z0-9_-]{43}")
DAY = 24 * 60 * 60
YEAR = 365 * DAY


@dataclass(frozen=True, slots=True)
class Cookies:
    """Our cookies, for pages that are `secure` (https) or, in development, not."""

    secure: bool

    def name(self, of: str) -> str:
        """The name of a cookie; over https, one that no other host and no plain connection can set."""
        return f"__Host-coffret-{of}" if self.secure else f"coffret-{of}"

    def read(self, request: Request, of: str) -> str:
        """A cookie, or an empty string."""
        return request.cookies.get(self.name(of), "")

    def session_id(self, request: Request) -> str:
        """The browser's session id; a new one when it brings none that could be ours."""
        given = self.read(request, "session")
        return given if SESSION_ID.fullmatch(given) else new_session_id()

    def keep_session(self, response: Response, session_id: str) -> None:
        """Keep the session id as long as the session itself lives from now."""
        self._write(response, "session", session_id, int(SESSION_LIFE.total_seconds()))

    def keep_cart(self, response: Response, of: str, cart_id: str) -> None:
        """Remember the cart that was opened last, in the cookie of its counter."""
        self._write(response, of, cart_id, DAY)

    def keep_language(self, response: Response, language: str) -> None:
        """Remember the language that was chosen."""
        self._write(response, "language", language, YEAR)

    def keep(self, response: Response, of: str, value: str, seconds: int) -> None:
        """Keep a value as long as told."""
        self._write(response, of, value, seconds)

    def forget(self, response: Response, of: str) -> None:
        """Have a value forgotten."""
        self._write(response, of, "", 0)

    def _write(self, response: Response, of: str, value: str, seconds: int) -> None:
        response.set_cookie(
            self.name(of), value, max_age=seconds, path="/", secure=self.secure, httponly=True, samesite="lax"
        )

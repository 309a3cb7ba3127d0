"""Which pages may call the API from a browser: none, but those of the origins in the settings."""

from collections.abc import Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

API = ("/api/", "/graphql")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
SENT = ("Authorization", "Content-Type", "Idempotency-Key", "X-Request-Id")
READ = ("Deprecation", "Idempotent-Replayed", "Link", "RateLimit", "RateLimit-Policy", "Retry-After", "X-Request-Id")
REMEMBERED_SECONDS = 600


class Cors:
    """Lets pages of some origins (`*`: of any) call the API. A preflight is answered here: without a token, uncounted.

    Callers are known by a header that they set themselves, never by cookies, so no credentials are allowed.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self.app = app
        self.shared = CORSMiddleware(
            app,
            allow_origins=origins,
            allow_methods=METHODS,
            allow_headers=SENT,
            expose_headers=READ,
            max_age=REMEMBERED_SECONDS,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        of_api = scope["type"] == "http" and scope["path"].startswith(API)
        await (self.shared if of_api else self.app)(scope, receive, send)

"""CORS: pages of the origins in the settings may call the API from a browser."""

from collections.abc import Sequence

from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Receive, Scope, Send

API_PATHS = ("/api/", "/graphql")
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")
REQUEST_HEADERS = ("Authorization", "Content-Type", "Idempotency-Key", "X-Request-Id")
EXPOSED_HEADERS = (
    "Deprecation",
    "Idempotent-Replayed",
    "Link",
    "RateLimit",
    "RateLimit-Policy",
    "Retry-After",
    "X-Request-Id",
)
PREFLIGHT_MAX_AGE = 600


class Cors:
    """Adds CORS headers to API paths for the allowed origins (`*` for any). Answers preflights here: unauthenticated,
    not counted.

    Clients authenticate by the Authorization header, never by cookies, so credentials are not allowed.
    """

    def __init__(self, app: ASGIApp, origins: Sequence[str]) -> None:
        self.app = app
        self.shared = CORSMiddleware(
            app,
            allow_origins=origins,
            allow_methods=METHODS,
            allow_headers=REQUEST_HEADERS,
            expose_headers=EXPOSED_HEADERS,
            max_age=PREFLIGHT_MAX_AGE,
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        of_api = scope["type"] == "http" and scope["path"].startswith(API_PATHS)
        await (self.shared if of_api else self.app)(scope, receive, send)

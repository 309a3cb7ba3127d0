"""The addresses of the pages of experiences."""

from starlette.responses import RedirectResponse, Response


def experience_path(slug: str) -> str:
    """The path of the page of an experience."""
    return f"/vouchers/{slug}/"


def permanent_redirect(url: str) -> Response:
    """A permanent redirect. It is asked for anew each time: a slug that comes back must not lead round in circles. No shared
    cache keeps it, as it may set the cookie of a session.
    """
    headers = {"Cache-Control": "private, max-age=0, must-revalidate", "Referrer-Policy": "same-origin"}
    return RedirectResponse(url, 301, headers)

"""The addresses of the pages of experiences."""

from starlette.responses import RedirectResponse, Response


def experience_path(slug: str) -> str:
    """The path of the page of an experience."""
    return f"/vouchers/{slug}/"


def permanent_redirect(url: str) -> Response:
    """A permanent redirect."""
    headers = {"Cache-Control": "public, max-age=3600", "Referrer-Policy": "same-origin"}
    return RedirectResponse(url, 301, headers)

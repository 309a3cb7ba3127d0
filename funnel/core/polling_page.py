"""Pages that wait for something, and look again by themselves, ever more seldom."""

from starlette.requests import Request
from starlette.responses import Response

PAUSES = (2, 3, 5, 8, 13, 20, 30, 30, 30)
"""Seconds after which a waiting page looks again; after the last it waits for whoever reads it."""


def times_looked(request: Request) -> int:
    """How many times the page has looked already."""
    times = request.query_params.get("looked", "0")
    return int(times) if times.isascii() and times.isdigit() and len(times) < 4 else 0


def looks_again(request: Request) -> bool:
    """Whether the page looks once more by itself."""
    return times_looked(request) < len(PAUSES)


def look_again(response: Response, request: Request, path: str) -> Response:
    """Make the page look again at `path`, unless it has done so often enough."""
    looked = times_looked(request)
    if looked < len(PAUSES):
        response.headers["Refresh"] = f"{PAUSES[looked]}; url={path}?looked={looked + 1}"
    return response

"""Pages that poll for a result at increasing intervals."""

from starlette.requests import Request
from starlette.responses import Response

POLL_INTERVALS = (2, 3, 5, 8, 13, 20, 30, 30, 30)
"""Seconds before each poll. After the last one the page stops polling."""


def poll_count(request: Request) -> int:
    """The number of polls so far."""
    times = request.query_params.get("looked", "0")
    return int(times) if times.isascii() and times.isdigit() and len(times) < 4 else 0


def should_poll(request: Request) -> bool:
    """True if the page polls again."""
    return poll_count(request) < len(POLL_INTERVALS)


def schedule_poll(response: Response, request: Request, path: str) -> Response:
    """Make the page poll `path`, unless it has reached the maximum number of polls."""
    looked = poll_count(request)
    if looked < len(POLL_INTERVALS):
        response.headers["Refresh"] = f"{POLL_INTERVALS[looked]}; url={path}?looked={looked + 1}"
    return response

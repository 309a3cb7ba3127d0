"""`/_clock/`: shows and advances the clock. Development and tests only."""

from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from resolvers.core.services import Services
from schema.graph.scalars import format_datetime
from store.core.clock import parse_duration
from store.core.settings import Settings
from store.database.shared_clock import advance_clock

MAX_BODY_BYTES = 1000


def routes(settings: Settings) -> list[Route]:
    """The routes; none in production."""
    if not settings.development:
        return []

    async def show(request: Request) -> Response:
        """The time and its offset."""
        return JSONResponse(clock_data(_services(request)))

    async def move(request: Request) -> Response:
        """Advance the clock: `{"by": "2h"}`. Every process follows within a second."""
        services = _services(request)
        require_same_site(request)
        try:
            by = parse_duration(await requested_duration(request))
            ahead = await advance_clock(services.db, by)
        except ValueError as error:
            return JSONResponse({"detail": str(error)}, 400)
        services.clock.follow(ahead)
        return JSONResponse(clock_data(services))

    return [Route("/_clock/", show, methods=["GET"]), Route("/_clock/advance", move, methods=["POST"])]


def clock_data(services: Services) -> dict[str, Any]:
    """The response body; `ahead` is in seconds."""
    return {"now": format_datetime(services.clock.now()), "ahead": services.clock.ahead.total_seconds()}


def require_same_site(request: Request) -> None:
    """Refuse requests from pages of other sites: they cannot send JSON cross-site, and they send their Origin."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "Send application/json.")
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != request.headers["host"]:
        raise HTTPException(403, "Pages of other sites do not move time.")


async def requested_duration(request: Request) -> str:
    """The `by` of the body. Raises ValueError if it is missing or invalid."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > MAX_BODY_BYTES:
            raise HTTPException(413)
    sent = orjson.loads(body or b"null")
    match sent:
        case {"by": str(by)}:
            return by
    raise ValueError('Send an object such as {"by": "2h"}.')


def _services(request: Request) -> Services:
    services: Services = request.app.state.container.services
    return services

"""`/_clock/`: development and tests ask what time it is, and move it. In production there is no such address."""

from typing import Any

import orjson
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from resolvers.core.context import Services
from schema.graph.scalars import moment
from store.core.clock import duration
from store.core.settings import Settings
from store.core.shared_clock import advance

LONGEST_BODY = 1000


def routes(settings: Settings) -> list[Route]:
    """What there is to mount: nothing in production."""
    if not settings.development:
        return []

    async def show(request: Request) -> Response:
        """What time it is, and how far it was moved."""
        return JSONResponse(told(_services(request)))

    async def move(request: Request) -> Response:
        """Move time forward: `{"by": "2h"}`. Every process follows within a second."""
        services = _services(request)
        refuse_pages(request)
        try:
            by = duration(await asked(request))
            ahead = await advance(services.db, by)
        except ValueError as error:
            return JSONResponse({"detail": str(error)}, 400)
        services.clock.follow(ahead)
        return JSONResponse(told(services))

    return [Route("/_clock/", show, methods=["GET"]), Route("/_clock/advance", move, methods=["POST"])]


def told(services: Services) -> dict[str, Any]:
    """The time, as it is answered: `ahead` in seconds."""
    return {"now": moment(services.clock.now()), "ahead": services.clock.ahead.total_seconds()}


def refuse_pages(request: Request) -> None:
    """No page of another site, open in the developer's browser, moves time: it cannot send JSON, nor hide where it is from."""
    if request.headers.get("content-type", "").partition(";")[0].strip().lower() != "application/json":
        raise HTTPException(415, "Send application/json.")
    origin = request.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != request.headers["host"]:
        raise HTTPException(403, "Pages of other sites do not move time.")


async def asked(request: Request) -> str:
    """The `by` of the body; ValueError when there is none."""
    body = b""
    async for part in request.stream():
        body += part
        if len(body) > LONGEST_BODY:
            raise HTTPException(413)
    sent = orjson.loads(body or b"null")
    match sent:
        case {"by": str(by)}:
            return by
    raise ValueError('Send an object such as {"by": "2h"}.')


def _services(request: Request) -> Services:
    services: Services = request.app.state.house.services
    return services

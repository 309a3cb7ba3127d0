"""Pictures and logos, under names that change with their content."""

from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from resolvers.context import Services
from store.pictures import TYPES, find

HEADERS = {
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "X-Content-Type-Options": "nosniff",
}
"""A picture may be an SVG somebody sent: it can be shown, and do nothing else."""


async def media(request: Request) -> Response:
    """One picture."""
    services: Services = request.app.state.house.services
    async with services.db.sessions() as db:
        row = await find(db, request.path_params["name"])
    if row is None:
        return PlainTextResponse("Not found", 404)
    return Response(row.content, media_type=TYPES[row.name.rpartition(".")[2]], headers=HEADERS)


ROUTES = [Route("/media/{name}", media)]

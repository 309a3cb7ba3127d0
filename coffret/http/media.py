"""Serves pictures with immutable content: uploads by uuid and size, drawings of the demo by digest."""

import structlog
from sqlmodel import col, select
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from coffret.http.etag import etag_matches
from resolvers.core.services import Services
from store.media.media import CONTENT_TYPE, MediaRow, media_key_of, parse_media_path
from store.media.pictures import TYPES, find_picture

log = structlog.get_logger(__name__)
HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
}
"""A picture may be an uploaded SVG: pages of any shop may embed it, and it can execute nothing."""


async def serve_drawing(request: Request) -> Response:
    services: Services = request.app.state.container.services
    async with services.db.sessions() as db:
        row = await find_picture(db, request.path_params["name"])
    if row is None:
        return _missing()
    return Response(row.content, media_type=TYPES[row.name.rpartition(".")[2]], headers=HEADERS)


async def serve_picture(request: Request) -> Response:
    """Serve one size of an uploaded picture, archived or not: pages and mails that show it must not change.

    The URL identifies the content, so it is the ETag and no row is read.
    """
    services: Services = request.app.state.container.services
    shown = parse_media_path(request.scope["path"])
    if shown is None:
        return _missing()
    uuid, size = shown
    headers = {**HEADERS, "ETag": f'"{uuid.hex}-{size}"'}
    if etag_matches(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    content = await services.files.get(media_key_of(uuid, size))
    if content is not None:
        return Response(content, media_type=CONTENT_TYPE, headers=headers)
    async with services.db.sessions() as db:
        if (await db.exec(select(col(MediaRow.id)).where(col(MediaRow.uuid) == uuid))).one_or_none():
            log.error("a picture's file is missing", media=str(uuid), size=size, place=services.files.place)
    return _missing()


def _missing() -> Response:
    return PlainTextResponse("Not found", 404)


ROUTES = [Route("/media/{name}", serve_drawing), Route("/media/{uuid}/{name}", serve_picture)]

"""Pictures, under names that never change what they show: of uploads by uuid and size, drawings of the demo by digest."""

import structlog
from sqlmodel import col, select
from starlette.requests import Request
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from coffret.http.etag import is_known
from resolvers.core.context import Services
from store.media.images import CONTENT_TYPE
from store.media.media import MediaRow, key_of, read_path
from store.media.pictures import TYPES, find

log = structlog.get_logger(__name__)
HEADERS = {
    "Access-Control-Allow-Origin": "*",
    "Cache-Control": "public, max-age=31536000, immutable",
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; sandbox",
    "Cross-Origin-Resource-Policy": "cross-origin",
    "X-Content-Type-Options": "nosniff",
}
"""A picture may be an SVG somebody sent: it can be shown, by the pages of any shop, and do nothing else."""


async def media(request: Request) -> Response:
    """One drawing."""
    services: Services = request.app.state.house.services
    async with services.db.sessions() as db:
        row = await find(db, request.path_params["name"])
    if row is None:
        return _missing()
    return Response(row.content, media_type=TYPES[row.name.rpartition(".")[2]], headers=HEADERS)


async def picture(request: Request) -> Response:
    """One size of an uploaded picture, put away or not: pages and mails that show it must not change.

    What it shows is told by its address alone, so that is its tag, and no row is read to answer.
    """
    services: Services = request.app.state.house.services
    shown = read_path(request.scope["path"])
    if shown is None:
        return _missing()
    uuid, size = shown
    headers = {**HEADERS, "ETag": f'"{uuid.hex}-{size}"'}
    if is_known(request, headers["ETag"]):
        return Response(status_code=304, headers=headers)
    content = await services.files.get(key_of(uuid, size))
    if content is not None:
        return Response(content, media_type=CONTENT_TYPE, headers=headers)
    async with services.db.sessions() as db:
        if (await db.exec(select(col(MediaRow.id)).where(col(MediaRow.uuid) == uuid))).one_or_none():
            log.error("a picture's file is missing", media=str(uuid), size=size, place=services.files.place)
    return _missing()


def _missing() -> Response:
    return PlainTextResponse("Not found", 404)


ROUTES = [Route("/media/{name}", media), Route("/media/{uuid}/{name}", picture)]

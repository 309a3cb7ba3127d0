"""Printable documents, for whoever holds their address."""

from functools import partial

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from coffret.http.etag import is_known
from funnel.core.page_handler import Endpoint
from funnel.core.pages import Pages
from funnel.lost_documents import LostDocuments
from resolvers.core.context import Context, Services
from resolvers.document import find_document
from schema.core.errors import AppError, NotFound
from schema.graph.requests import wants_page
from store.core.settings import Settings
from store.document.addresses import DocumentKind
from store.document.cache import disposition

HEADERS = {
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow",
}
"""Kept by nobody but the reader's own browser, which asks each time whether it is still what it shows."""


async def document(kind: DocumentKind, request: Request) -> Response:
    """One document. Raises NotFound for an unknown address, and TooManyRequests for whoever tries too many."""
    services: Services = request.app.state.house.services
    address = request.client.host if request.client else ""
    found = await find_document(Context(services, address=address), kind, request.path_params["token"])
    tag = f'"{found.digest}"'
    headers = HEADERS | {"ETag": tag, "Content-Disposition": disposition(found.file_name)}
    if is_known(request, tag):
        return Response(status_code=304, headers=headers)
    return Response(found.content, media_type="application/pdf", headers=headers)


async def nothing_here(_request: Request) -> Response:
    """An address that no document can have, as one that was cut off. Raises NotFound."""
    raise NotFound(thing="document")


def routes(settings: Settings, pages: Pages) -> list[Route]:
    """The documents. An error is a page to a browser; to others it is what the application says of it."""
    lost = LostDocuments(settings, pages)

    def shown(answer: Endpoint) -> Endpoint:
        async def endpoint(request: Request) -> Response:
            try:
                return await answer(request)
            except AppError as error:
                if not wants_page(request):
                    raise
                return lost.page(request, error)

        return endpoint

    return [
        *(Route(f"/documents/{kind}/{{token}}.pdf", shown(partial(document, kind))) for kind in DocumentKind),
        Route("/documents/{rest:path}", shown(nothing_here)),
    ]

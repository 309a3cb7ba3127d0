"""Serves printable documents to holders of their URL."""

from functools import partial

from starlette.requests import Request
from starlette.responses import PlainTextResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from coffret.http.etag import etag_matches
from funnel.core.page_handler import PageEndpoint, check_page_limit
from funnel.core.pages import PageTemplates
from funnel.lost_documents import MissingDocumentPage
from resolvers.core.context import Context
from resolvers.core.services import Services
from resolvers.document import ServedFile, UnfinishedFile, find_document
from resolvers.export.download import find_export_file
from resolvers.invoice.documents import find_invoice_file
from resolvers.order.packing_slip import find_packing_slip
from resolvers.payment.payouts.documents import MEDIA_TYPES, find_payout_file
from resolvers.wallet_pass import PASS_KINDS, find_apple_pass, find_google_pass_url
from schema.core.errors import AppError, NotFound
from schema.export import ExportFormat
from schema.graph.requests import wants_html
from store.core.settings import Settings
from store.document.addresses import DocumentKind, apple_pass_path, document_path, google_pass_path
from store.document.cache import disposition
from store.document.wallet.apple import MEDIA_TYPE

HEADERS = {
    "Cache-Control": "private, no-cache",
    "Content-Security-Policy": "frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "X-Robots-Tag": "noindex, nofollow",
}
"""Only the reader's browser may cache a document, and it revalidates each time."""


async def document(kind: DocumentKind, request: Request) -> Response:
    """Serve one document. Raises NotFound for an unknown token and TooManyRequests after too many attempts."""
    found = await find_document(_context(request), kind, request.path_params["token"])
    tag = f'"{found.digest}"'
    headers = HEADERS | {"ETag": tag, "Content-Disposition": disposition(found.file_name)}
    if etag_matches(request, tag):
        return Response(status_code=304, headers=headers)
    return Response(found.content, media_type="application/pdf", headers=headers)


async def apple_pass(kind: DocumentKind, request: Request) -> Response:
    """Serve the pass for Apple Wallet beside a document. Raises NotFound as `document`, and without a key that signs it.

    Each is made anew, so the rate limit of pages applies.
    """
    await check_page_limit(request)
    found = await find_apple_pass(_context(request), kind, request.path_params["token"])
    headers = HEADERS | {"Content-Disposition": disposition(found.file_name)}
    return Response(found.content, media_type=MEDIA_TYPE, headers=headers)


async def google_pass(kind: DocumentKind, request: Request) -> Response:
    """Redirect to where Google Wallet saves the pass beside a document. Raises NotFound as `apple_pass`."""
    url = await find_google_pass_url(_context(request), kind, request.path_params["token"])
    return RedirectResponse(url, 303, headers=HEADERS | {"Cache-Control": "no-store"})


def _context(request: Request) -> Context:
    services: Services = request.app.state.container.services
    return Context(services, address=request.client.host if request.client else "")


async def payout_document(kind: str, request: Request) -> Response:
    """Serve the statement or the spreadsheet of a payout request. Raises NotFound for an address that is forged or too old."""
    services: Services = request.app.state.container.services
    return _signed(await find_payout_file(services, request.path_params["token"], kind))


async def invoice_document(request: Request) -> Response:
    """Serve the document of an invoice. Raises NotFound for an address that is forged or too old."""
    return _signed(await find_invoice_file(request.app.state.container.services, request.path_params["token"]))


async def export_file(format: str, request: Request) -> Response:
    """Serve the file of an export, in pieces. Raises NotFound for an address that is forged or too old, and for who may no
    longer have it.
    """
    services: Services = request.app.state.container.services
    file = await find_export_file(services, request.path_params["token"], format)
    headers = HEADERS | {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{file.name}"',
        "Content-Length": str(file.size),
    }
    return StreamingResponse(file.chunks, media_type=file.media_type, headers=headers)


async def packing_slip(request: Request) -> Response:
    """Serve the packing slip of an order. Raises NotFound for an address that is forged or too old."""
    return _signed(await find_packing_slip(request.app.state.container.services, request.path_params["token"]))


def _signed(file: ServedFile | UnfinishedFile) -> Response:
    if isinstance(file, UnfinishedFile):  # browsers ask again by themselves
        wait = {"Retry-After": str(file.retry_after), "Refresh": str(file.retry_after)}
        return PlainTextResponse(file.detail, 202, headers=HEADERS | wait)
    headers = HEADERS | {"Content-Disposition": file.disposition}
    return Response(file.content, media_type=file.media_type, headers=headers)


async def not_found(_request: Request) -> Response:
    """Any other path below `/documents/`, such as a truncated URL. Raises NotFound."""
    raise NotFound(thing="document")


def routes(settings: Settings, pages: PageTemplates) -> list[Route]:
    """The routes of documents.

    Browsers get errors as HTML pages; other clients get the application's error response.
    """
    lost = MissingDocumentPage(settings, pages)

    def with_error_page(answer: PageEndpoint) -> PageEndpoint:
        async def endpoint(request: Request) -> Response:
            try:
                return await answer(request)
            except AppError as error:
                if not wants_html(request):
                    raise
                return lost.render_error(request, error)

        return endpoint

    return [
        *(Route(document_path(kind, "{token}"), with_error_page(partial(document, kind))) for kind in DocumentKind),
        *(Route(apple_pass_path(kind, "{token}"), with_error_page(partial(apple_pass, kind))) for kind in PASS_KINDS),
        *(Route(google_pass_path(kind, "{token}"), with_error_page(partial(google_pass, kind))) for kind in PASS_KINDS),
        *(
            Route(f"/documents/payouts/{{token}}.{kind}", with_error_page(partial(payout_document, kind)))
            for kind in MEDIA_TYPES
        ),
        *(
            Route(f"/documents/exports/{{token}}.{format}", with_error_page(partial(export_file, format.value)))
            for format in ExportFormat
        ),
        Route("/documents/invoices/{token}.pdf", with_error_page(invoice_document)),
        Route("/documents/packing-slips/{token}.pdf", with_error_page(packing_slip)),
        Route("/documents/{rest:path}", with_error_page(not_found)),
    ]

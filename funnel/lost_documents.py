"""The error page for the URL of a printable document."""

from starlette.requests import Request
from starlette.responses import Response

from funnel.core.cookies import Cookies
from funnel.core.languages import choose_language
from funnel.core.messages import N_, PUBLIC_ERROR_PAGES, ErrorPage, PageMessage
from funnel.core.page_handler import ERROR_PAGE_BY_STATUS, with_retry_after
from funnel.core.pages import PageTemplates
from schema.core.errors import AppError
from store.core.settings import Settings

DOCUMENT_NOT_FOUND = PageMessage(
    N_("This document cannot be found"),
    N_(
        "The link may be incomplete, or the document may have been replaced by a newer one. Look for a newer e-mail about "
        "it, or ask the shop that it comes from."
    ),
)


class MissingDocumentPage:
    """Renders the page without a brand, because the partner is unknown."""

    def __init__(self, settings: Settings, pages: PageTemplates) -> None:
        self._templates = pages
        self._cookies = Cookies(secure=settings.public_url.startswith("https://"))

    def render_error(self, request: Request, error: AppError) -> Response:
        language = choose_language(self._cookies.read(request, "language"), request.headers.get("accept-language", ""))
        ending = ERROR_PAGE_BY_STATUS.get(error.status, ErrorPage.INTERNAL_ERROR)
        message = DOCUMENT_NOT_FOUND if ending is ErrorPage.NOT_FOUND else PUBLIC_ERROR_PAGES[ending]
        return with_retry_after(self._templates.render_message(request, language, message, error.status), error)

"""The page for the address of a printable document that leads to none."""

from starlette.requests import Request
from starlette.responses import Response

from funnel.core.cookies import Cookies
from funnel.core.languages import chosen
from funnel.core.messages import N_, PUBLIC_ENDINGS, Ending, Told
from funnel.core.page_handler import BY_STATUS, later
from funnel.core.pages import Pages
from schema.core.errors import AppError
from store.core.settings import Settings

GONE = Told(
    N_("This document cannot be found"),
    N_(
        "The link may be incomplete, or the document may have been replaced by a newer one. Look for a newer e-mail about "
        "it, or ask the shop that it comes from."
    ),
)


class LostDocuments:
    """Makes the page. Whose document it would have been is not known, so it has nobody's look."""

    def __init__(self, settings: Settings, pages: Pages) -> None:
        self._pages = pages
        self._cookies = Cookies(secure=settings.public_url.startswith("https://"))

    def page(self, request: Request, error: AppError) -> Response:
        """The page for an error."""
        language = chosen(self._cookies.read(request, "language"), request.headers.get("accept-language", ""))
        ending = BY_STATUS.get(error.status, Ending.BROKEN)
        told = GONE if ending is Ending.NOT_FOUND else PUBLIC_ENDINGS[ending]
        return later(self._pages.message(request, language, told, error.status), error)

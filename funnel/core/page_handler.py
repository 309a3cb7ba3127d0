"""The page handler: identifies the request, validates its form, and renders errors as pages."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Generic, TypeVar

import structlog
from starlette.requests import Request
from starlette.responses import Response

from funnel.core.cookies import Cookies
from funnel.core.forms import CsrfTokens, Form, read_form
from funnel.core.languages import choose_language
from funnel.core.messages import ErrorPage
from funnel.core.page_request import PageRequest, client_ip_of
from funnel.core.pages import PageTemplates
from resolvers.core.services import Services
from schema.checkout.brand import Brand
from schema.core.errors import AppError
from store.core.client_network import client_network_of
from store.core.localization.translations import SOURCE_LANGUAGE
from store.core.settings import Settings

log = structlog.get_logger(__name__)

G = TypeVar("G", bound=PageRequest)
R = TypeVar("R", bound=PageRequest)
Handler = Callable[[G], Awaitable[Response]]
PageEndpoint = Callable[[Request], Awaitable[Response]]

ERROR_PAGE_BY_STATUS: Mapping[int, ErrorPage] = {
    403: ErrorPage.CSRF_FAILED,
    404: ErrorPage.NOT_FOUND,
    413: ErrorPage.TOO_LARGE,
    429: ErrorPage.TOO_MANY,
    500: ErrorPage.INTERNAL_ERROR,
    502: ErrorPage.UNAVAILABLE,
    503: ErrorPage.UNAVAILABLE,
    504: ErrorPage.UNAVAILABLE,
}
"""Error pages by HTTP status, for errors that no handler has caught. Every other status gets CSRF_FAILED."""


class Site(ABC, Generic[G]):
    """Creates endpoints from handlers of one type of page request."""

    def __init__(self, settings: Settings, pages: PageTemplates, *, secure: bool) -> None:
        """`secure`: browsers access these pages over https."""
        self.templates = pages
        self.csrf_tokens = CsrfTokens(settings.secret.get_secret_value())
        self.cookies = Cookies(secure=secure)

    @abstractmethod
    async def build_request(self, request: Request) -> G:
        """Build the page request. Raises AppError if its URL leads nowhere."""

    @abstractmethod
    def render_error(self, page_request: G, ending: ErrorPage, status: int) -> Response:
        """Render the page for an error."""

    @abstractmethod
    def render_early_error(self, request: Request, status: int) -> Response:
        """The error page before the page request is known."""

    def language(self, request: Request, otherwise: str = SOURCE_LANGUAGE) -> str:
        """The language of the cookie or the Accept-Language header; `otherwise` if neither names a supported one."""
        return choose_language(
            self.cookies.read(request, "language"), request.headers.get("accept-language", ""), otherwise
        )

    def new_request(
        self, kind: Callable[..., R], request: Request, language: str, brand: Brand | None, **more: Any
    ) -> R:
        """A page request of a kind, with what every page needs. `more` are its own fields."""
        session_id = self.cookies.session_id(request)
        return kind(request, self.templates, self.csrf_tokens, self.cookies, session_id, language, brand, **more)

    async def handle_error(self, page_request: G, error: AppError) -> Response:
        """The response for an error that no handler has caught."""
        return self.render_error(
            page_request, ERROR_PAGE_BY_STATUS.get(error.status, ErrorPage.CSRF_FAILED), error.status
        )

    async def read_form(self, page_request: G) -> Form:
        """The fields of the submitted form. Raises TooLarge, UnsupportedMediaType, MalformedBody."""
        return await read_form(page_request.http_request)

    def check_form(self, page_request: G) -> None:
        """Raise CsrfFailed unless the form was sent from a page of this session."""
        self.csrf_tokens.check(
            page_request.http_request, page_request.form, page_request.session_id, page_request.origin
        )

    def with_cookies(self, page_request: G, response: Response) -> Response:
        """Set the session cookie."""
        self.cookies.set_session(response, page_request.session_id)
        return response

    def page(self, handler: Handler[G]) -> PageEndpoint:
        """An endpoint for GET."""

        async def endpoint(request: Request) -> Response:
            return await self._respond(request, handler, posted=False)

        return endpoint

    def form(self, handler: Handler[G]) -> PageEndpoint:
        """An endpoint that accepts a form. It checks the rate limit and the CSRF token."""

        async def endpoint(request: Request) -> Response:
            return await self._respond(request, handler, posted=True)

        return endpoint

    async def _respond(self, request: Request, handler: Handler[G], *, posted: bool) -> Response:
        page_request: G | None = None
        try:
            if not posted:  # before any database query; forms have a limit of their own
                await check_page_limit(request)
            page_request = await self.build_request(request)
            return self.with_cookies(page_request, await self._run_handler(page_request, handler, posted=posted))
        except AppError as error:  # raised before the page request was built
            return with_retry_after(self.render_early_error(request, error.status), error)
        except Exception:
            log.exception("a page failed")
            if page_request is None:
                return self.render_early_error(request, 500)
            return self.render_error(page_request, ErrorPage.INTERNAL_ERROR, 500)

    async def _run_handler(self, page_request: G, handler: Handler[G], *, posted: bool) -> Response:
        try:
            if posted:
                await page_request.check_form_limit()
                page_request.form = await self.read_form(page_request)
                self.check_form(page_request)
            return await handler(page_request)
        except AppError as error:
            return with_retry_after(await self.handle_error(page_request, error), error)


async def check_page_limit(request: Request) -> None:
    """Apply the rate limit of pages per client network. Raises TooManyRequests."""
    services: Services = request.app.state.container.services
    if (pages := services.limits.pages) is not None:
        await pages.check(client_network_of(client_ip_of(request)))


def with_retry_after(response: Response, error: AppError) -> Response:
    """Add Retry-After if the error has it."""
    if error.retry_after is not None:
        response.headers["Retry-After"] = str(error.retry_after)
    return response

"""The front desk: finds out who a request is from, checks its form, and turns errors into pages."""

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeVar

import structlog
from starlette.requests import Request
from starlette.responses import Response

from funnel.core.cookies import Cookies
from funnel.core.forms import FormTokens, read_form
from funnel.core.languages import chosen
from funnel.core.messages import Ending
from funnel.core.page_request import Guest, address_of
from funnel.core.pages import Pages
from resolvers.core.context import Services
from schema.core.errors import AppError
from store.core.settings import Settings
from store.core.translations import SOURCE
from store.limits.client_network import origin_of

log = structlog.get_logger(__name__)

G = TypeVar("G", bound=Guest)
Handler = Callable[[G], Awaitable[Response]]
Endpoint = Callable[[Request], Awaitable[Response]]

BY_STATUS: Mapping[int, Ending] = {
    403: Ending.FOREIGN_FORM,
    404: Ending.NOT_FOUND,
    413: Ending.TOO_LARGE,
    429: Ending.TOO_MANY,
    500: Ending.BROKEN,
    502: Ending.UNAVAILABLE,
    503: Ending.UNAVAILABLE,
    504: Ending.UNAVAILABLE,
}
"""The page for an error that no handler has caught; any other is a form that no page of ours has sent."""


class Desk(ABC, Generic[G]):
    """Makes endpoints of the functions that answer one kind of guest."""

    def __init__(self, settings: Settings, pages: Pages, *, secure: bool) -> None:
        """`secure`: browsers reach these pages over https."""
        self.pages = pages
        self.tokens = FormTokens(settings.secret.get_secret_value())
        self.cookies = Cookies(secure=secure)

    @abstractmethod
    async def guest(self, request: Request) -> G:
        """Who a request is from. Raises AppError when its address leads nowhere."""

    @abstractmethod
    def ended(self, guest: G, ending: Ending, status: int) -> Response:
        """The page for an error."""

    @abstractmethod
    def turned_away(self, request: Request, status: int) -> Response:
        """The page for an error before it was known who the request is from."""

    def language(self, request: Request, otherwise: str = SOURCE) -> str:
        """The language to speak, where neither page nor browser names one of ours `otherwise`."""
        return chosen(self.cookies.read(request, "language"), request.headers.get("accept-language", ""), otherwise)

    async def refused(self, guest: G, error: AppError) -> Response:
        """What an error that no handler has caught is answered."""
        return self.ended(guest, BY_STATUS.get(error.status, Ending.FOREIGN_FORM), error.status)

    def signed(self, guest: G, response: Response) -> Response:
        """The answer with the cookies that keep the session going."""
        self.cookies.keep_session(response, guest.session_id)
        return response

    def page(self, handler: Handler[G]) -> Endpoint:
        """An endpoint that shows something."""

        async def endpoint(request: Request) -> Response:
            return await self._answered(request, handler, posted=False)

        return endpoint

    def form(self, handler: Handler[G]) -> Endpoint:
        """An endpoint that takes a form of ours."""

        async def endpoint(request: Request) -> Response:
            return await self._answered(request, handler, posted=True)

        return endpoint

    async def _answered(self, request: Request, handler: Handler[G], *, posted: bool) -> Response:
        guest: G | None = None
        try:
            if not posted:  # before the database is asked anything; forms are counted by themselves
                await count_page(request)
            guest = await self.guest(request)
            return self.signed(guest, await self._handled(guest, handler, posted=posted))
        except AppError as error:  # before the guest was known
            return later(self.turned_away(request, error.status), error)
        except Exception:
            log.exception("a page failed")
            if guest is None:
                return self.turned_away(request, 500)
            return self.ended(guest, Ending.BROKEN, 500)

    async def _handled(self, guest: G, handler: Handler[G], *, posted: bool) -> Response:
        try:
            if posted:
                await guest.count()
                guest.form = await read_form(guest.request)
                self.tokens.check(guest.request, guest.form, guest.session_id, guest.origin)
            return await handler(guest)
        except AppError as error:
            return later(await self.refused(guest, error), error)


async def count_page(request: Request) -> None:
    """Count a page that an address sees. Raises TooManyRequests."""
    services: Services = request.app.state.house.services
    if (pages := services.limits.pages) is not None:
        await pages.check(origin_of(address_of(request)))


def later(response: Response, error: AppError) -> Response:
    """The page of an error, with when to come back where the error knows."""
    if (seconds := getattr(error, "retry_after", None)) is not None:
        response.headers["Retry-After"] = str(seconds)
    return response

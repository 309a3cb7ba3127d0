"""The handler of public pages: the same answer for every visitor without a basket, in the language of the address."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from funnel.checkout.current_basket import current_basket
from funnel.checkout.handler import ShopSite, language_in_address
from funnel.checkout.request import CheckoutRequest
from funnel.core.forms import check_origin
from funnel.core.languages import NAMES
from schema.checkout.view import Checkout

PUBLIC = "public, max-age=0, s-maxage=60, must-revalidate"
"""Shared caches store a page for a minute. Browsers ask each time, because the page of a visitor with a basket shows it."""
PRIVATE = "private, no-cache"


@dataclass
class ShopPageRequest(CheckoutRequest):
    """A request of a public page. Its links keep the language, so that what they lead to can be cached too."""

    @property
    def has_basket(self) -> bool:
        """True if this browser has opened a basket or a cart here."""
        return self.last_cart_id is not None or self.last_cart is not None

    async def find_basket(self) -> Checkout | None:
        """The basket of this browser; None without one."""
        return await current_basket(self) if self.has_basket else None

    def url(self, path: str, fragment: str = "", **query: object) -> str:
        """The URL of a page in this language."""
        arguments = {"lang": self.language} | query
        return f"{path}?{urlencode(arguments)}" + (f"#{fragment}" if fragment else "")

    def page_url(self, path: str) -> str:
        return self.url(path)

    def in_language(self, language: str = "") -> str:
        """The path and query of this page in a language, or in that of the browser. A basket in the query is left out."""
        query = {name: value for name, value in self.http_request.query_params.items() if name not in {"lang", "cart"}}
        parameters = urlencode(query | ({"lang": language} if language else {}))
        return self.http_request.url.path + (f"?{parameters}" if parameters else "")

    @property
    def language_links(self) -> Mapping[str, str]:
        return {language: self.in_language(language) for language in NAMES}

    @property
    def find_order_path(self) -> str:
        return self.url(super().find_order_path)

    @property
    def balance_path(self) -> str:
        return self.url(super().balance_path)


class ShopPageSite(ShopSite[ShopPageRequest]):
    """Creates endpoints from handlers of public pages. Views set no cookie."""

    async def build_request(self, request: Request) -> ShopPageRequest:
        return await self.request_of(ShopPageRequest, request)

    def check_form(self, page_request: ShopPageRequest) -> None:
        """The form that begins an order changes nothing of a session: it has no token, and need not."""
        check_origin(page_request.http_request, page_request.origin)

    def with_cookies(self, request: ShopPageRequest, response: Response) -> Response:
        """The headers of a page for caches; the cookies of what follows a form."""
        if request.http_request.method == "POST":
            return super().with_cookies(request, response)
        if response.status_code >= 300:
            return response
        return _cacheable(request.http_request, response, is_public=not request.has_basket)


def _cacheable(request: Request, response: Response, *, is_public: bool) -> Response:
    """The response, or 304 if the browser has it."""
    varies = ["Accept-Encoding", "Cookie"]
    if not language_in_address(request):
        varies.append("Accept-Language")
    response.headers["Cache-Control"] = PUBLIC if is_public else PRIVATE
    response.headers["Vary"] = ", ".join(varies)
    tag = f'"{hashlib.sha256(bytes(response.body)).hexdigest()[:24]}"'
    response.headers["ETag"] = tag
    told = request.headers.get("if-none-match", "").split(",")
    if tag not in (name.strip().removeprefix("W/") for name in told):
        return response
    kept = {name: value for name, value in response.headers.items() if name not in {"content-length", "content-type"}}
    return Response(status_code=304, headers=kept)

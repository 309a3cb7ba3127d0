"""The start of a shop's host, its icon, and the page for all paths that lead nowhere."""

import orjson
from starlette.responses import RedirectResponse, Response

from funnel.core.icons import ICON_HEADERS, letter_icon
from funnel.core.messages import BACK, ERROR_PAGES, FIND_ORDER, ErrorPage
from funnel.core.page_request import PageLink
from funnel.shop.handler import ShopPageRequest
from resolvers.catalogue.experience_page import get_shop_sections
from schema.checkout.checkout import ShopKind
from schema.core.errors import NotFound


async def start(request: ShopPageRequest) -> Response:
    """Redirect to what the shop sells, else to the partner's own site."""
    ways = await _ways(request)
    return request.redirect(ways[0].url) if ways else await not_found(request)


async def not_found(request: ShopPageRequest) -> Response:
    """Any other path. Clients that ask for JSON get it."""
    accept = request.http_request.headers.get("accept", "")
    if "json" in accept and "html" not in accept:
        body = orjson.dumps({"detail": str(NotFound(thing="page"))})
        return Response(body, 404, {"Cache-Control": "no-store"}, media_type="application/json")
    ways = [*await _ways(request), PageLink(request.find_order_path, FIND_ORDER)]
    return request.render_message(ERROR_PAGES[ErrorPage.NOT_FOUND], ways, 404)


async def _ways(request: ShopPageRequest) -> list[PageLink]:
    """Links to what the shop sells, and to the partner's own site."""
    sections = await get_shop_sections(request.context)
    sold = {
        ShopKind.NETWORK: sections.network,
        ShopKind.VOUCHERS: sections.experiences,
        ShopKind.GIFT_CARDS: sections.gift_cards,
    }
    ways = [request.section_link(section) for section, is_sold in sold.items() if is_sold]
    website = request.shop.brand.website
    return [*ways, PageLink(website, BACK)] if website else ways


async def icon(request: ShopPageRequest) -> Response:
    """The icon of the shop: its logo, else its first letter in its colour."""
    brand = request.shop.brand
    if brand.logo_url:
        return RedirectResponse(brand.logo_url, 302, {"Cache-Control": ICON_HEADERS["Cache-Control"]})
    return letter_icon(brand)

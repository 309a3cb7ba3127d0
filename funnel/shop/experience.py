"""The page of an experience, and the form on it that begins an order."""

from urllib.parse import urlencode

from starlette.responses import Response

from funnel.checkout.current_basket import current_basket
from funnel.core.experience_links import experience_path, permanent_redirect
from funnel.core.messages import ErrorPage
from funnel.shop.handler import ShopPageRequest
from funnel.shop.page_head import experience_head
from resolvers.catalogue.experience_page import get_experience_page
from resolvers.checkout.basket import open_prototype
from schema.checkout.experience_page import ExperiencePage, ShopPlace
from store.core.localization.formats import Formats

MAPS = "https://www.openstreetmap.org/search"


async def show(request: ShopPageRequest) -> Response:
    """Show the experience. A former slug redirects to the present one."""
    page = await get_experience_page(request.context, request.http_request.path_params["slug"])
    path = experience_path(page.experience.slug)
    if request.http_request.url.path != path:
        query = request.http_request.url.query
        return permanent_redirect(f"{path}?{query}" if query else path)
    if not page.is_on_sale:
        return request.render_error(ErrorPage.NOT_SOLD, 410)
    return await render(request, page)


async def render(request: ShopPageRequest, page: ExperiencePage) -> Response:
    """The page of an experience, on sale or not."""
    return request.render(
        "experience.html",
        basket=await request.find_basket(),
        experience=page.experience,
        currency=page.currency,
        environment=page.environment,
        head=experience_head(request, page),
        map_url=map_url(page.place),
        path=experience_path(page.experience.slug),
        place=page.place,
    )


async def begin(request: ShopPageRequest) -> Response:
    """Redirect to the form of the experience, in this browser's basket or a new one."""
    page = await get_experience_page(request.context, request.http_request.path_params["slug"])
    await open_prototype(request.context, page.experience.id)
    basket = await current_basket(request)
    return request.redirect(request.order_url(basket.key, of_gift=True, prototype=page.experience.id))


def map_url(place: ShopPlace) -> str:
    """The address of a map of the place; empty if it is unknown."""
    if not place.city:
        return ""
    country = Formats("en").country(place.country) if place.country else ""
    town = f"{place.postal_code} {place.city}".strip()
    return f"{MAPS}?{urlencode({'query': ', '.join(filter(None, (place.address_line_1, town, country)))})}"

"""The start page for vouchers: the experiences that the shop sells."""

import uuid
from dataclasses import dataclass

from starlette.responses import Response

from funnel.checkout.basket_form import parse_id
from funnel.checkout.request import CheckoutRequest
from funnel.core.messages import SORT_LABELS
from resolvers.catalogue.catalogue_page import get_catalogue_page
from resolvers.checkout import basket
from schema.catalogue.catalogue_page import CataloguePage, CatalogueQuery, CatalogueSort
from schema.checkout.basket import BasketCheckout
from schema.core.errors import CartNotFound

MOST_WITHOUT_FILTERS = 3
"""With at most this many experiences the page shows no filters."""
LIST_ID = "experiences"
"""The id of the list in the HTML."""


@dataclass(frozen=True, slots=True)
class CataloguePageUrls:
    """URLs of the catalogue page with changed parameters."""

    request: CheckoutRequest
    catalogue_page: CataloguePage

    def of(self, **changes: object) -> str:
        """The URL with these changes. It leads to the first page unless `page` is among them."""
        query = self.catalogue_page.query
        current = {
            "universe": query.universe_id,
            "environment": query.environment_id,
            "price": query.price_range_id,
            "sort": None if query.sort is CatalogueSort.FEATURED else query.sort.value,
        }
        parameters = {name: value for name, value in (current | changes).items() if value is not None}
        return self.request.url(self.request.storefront.start_path, LIST_ID, **parameters)

    def page(self, number: int) -> str:
        return self.of(page=number if number > 1 else None)

    @property
    def pages(self) -> tuple[int, ...]:
        """The page numbers to link: the first, the last and those around the current one. 0 marks a gap."""
        last, here = self.catalogue_page.pages, self.catalogue_page.query.page
        shown = sorted({1, last} | {page for page in (here - 1, here, here + 1) if 1 <= page <= last})
        numbers: list[int] = []
        for page in shown:
            if numbers and page > numbers[-1] + 1:
                numbers.append(0)
            numbers.append(page)
        return tuple(numbers)


async def show(request: CheckoutRequest) -> Response:
    """Show the experiences that the query selects, and a link to this browser's basket."""
    catalogue_page = await get_catalogue_page(request.context, _catalogue_query(request))
    return request.render(
        "catalogue.html",
        addresses=CataloguePageUrls(request, catalogue_page),
        basket=await current_basket(request),
        can_be_filtered=catalogue_page.total > MOST_WITHOUT_FILTERS,
        list_id=LIST_ID,
        orders=SORT_LABELS,
        catalogue_page=catalogue_page,
    )


def _catalogue_query(request: CheckoutRequest) -> CatalogueQuery:
    """The parameters of the query. Invalid ones are ignored."""
    query = request.http_request.query_params
    order, page = query.get("sort", ""), parse_id(query.get("page", ""))
    return CatalogueQuery(
        universe_id=parse_id(query.get("universe", "")),
        environment_id=parse_id(query.get("environment", "")),
        price_range_id=parse_id(query.get("price", "")),
        sort=CatalogueSort(order) if order in set(CatalogueSort) else CatalogueSort.FEATURED,
        page=page or 1,
    )


async def current_basket(request: CheckoutRequest) -> BasketCheckout:
    """The basket of this browser. A new one if the last has become an order or has expired."""
    cart_id = request.cart_id or request.last_cart_id
    if cart_id is not None:
        try:
            return await basket.open_basket(request.context, request.key_of(cart_id))
        except CartNotFound:
            pass
    return await basket.open_basket(request.context, request.key_of(uuid.uuid4()))

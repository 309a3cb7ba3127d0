"""The start page for vouchers: the experiences that the shop sells."""

from dataclasses import dataclass

from starlette.responses import Response

from funnel.checkout.basket_form import parse_id
from funnel.core.languages import translations
from funnel.core.messages import N_, SORT_LABELS
from funnel.shop.handler import ShopPageRequest
from funnel.shop.page_head import PageHead, page_head, shared_picture
from resolvers.catalogue.catalogue_page import get_catalogue_page
from schema.catalogue.catalogue_page import CataloguePage, CatalogueQuery, CatalogueSort

MOST_WITHOUT_FILTERS = 3
"""With at most this many experiences the page shows no filters."""
DESCRIPTION = N_("Choose an experience, make it personal, and print it or send it by e-mail at once.")
LIST_ID = "experiences"
"""The id of the list in the HTML."""


@dataclass(frozen=True, slots=True)
class CataloguePageUrls:
    """URLs of the catalogue page with changed parameters."""

    request: ShopPageRequest
    catalogue_page: CataloguePage

    def of(self, **changes: object) -> str:
        """The URL with these changes. It leads to the first page unless `page` is among them."""
        query = self.catalogue_page.query
        current = _filters(query) | {"sort": None if query.sort is CatalogueSort.FEATURED else query.sort.value}
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


async def show(request: ShopPageRequest) -> Response:
    """Show the experiences that the query selects, and a link to this browser's basket."""
    catalogue_page = await get_catalogue_page(request.context, _catalogue_query(request))
    return request.render(
        "catalogue.html",
        addresses=CataloguePageUrls(request, catalogue_page),
        basket=await request.find_basket(),
        can_be_filtered=catalogue_page.total > MOST_WITHOUT_FILTERS,
        list_id=LIST_ID,
        orders=SORT_LABELS,
        catalogue_page=catalogue_page,
        head=_head(request, catalogue_page),
    )


def _head(request: ShopPageRequest, catalogue_page: CataloguePage) -> PageHead:
    """The head of the page. Shared links show the picture of the first experience."""
    texts = translations(request.language)
    description = f"{request.shop.brand.name}: {texts.gettext(DESCRIPTION)}"
    covers = [prototype.cover for prototype in catalogue_page.prototypes if prototype.cover]
    query = catalogue_page.query
    shown = _filters(query) | {"page": query.page if query.page > 1 else None}
    parameters = {name: value for name, value in shown.items() if value is not None}
    return page_head(request, description, parameters, picture=shared_picture(request, covers[0]) if covers else None)


def _filters(query: CatalogueQuery) -> dict[str, object]:
    """The parameters that select experiences; None where they do not."""
    return {"universe": query.universe_id, "environment": query.environment_id, "price": query.price_range_id}


def _catalogue_query(request: ShopPageRequest) -> CatalogueQuery:
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

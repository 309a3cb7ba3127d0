"""The routes of a shop's public pages."""

from starlette.routing import BaseRoute, Route

from funnel.checkout.storefronts import BASKET, PRODUCTS
from funnel.core.page_handler import PageEndpoint
from funnel.core.pages import PageTemplates
from funnel.shop import catalogue_page, experience, sitemap, start
from funnel.shop.handler import ShopPageSite
from store.core.settings import Settings


class ShopPageRoutes:
    """The routes of public pages, by when they are tried."""

    def __init__(self, settings: Settings, pages: PageTemplates) -> None:
        self._vouchers = ShopPageSite(settings, pages, BASKET)
        self._shop = ShopPageSite(settings, pages, PRODUCTS)
        self.start: PageEndpoint = self._shop.page(start.start)
        self.not_found: PageEndpoint = self._shop.page(start.not_found)

    def of_vouchers(self) -> list[BaseRoute]:
        """The pages of experiences. Their slugs are beside the paths of the checkout, which come first."""
        show, begin = self._vouchers.page(experience.show), self._vouchers.form(experience.begin)
        catalogue = self._vouchers.page(catalogue_page.show)
        table = [
            ("GET", BASKET.start_path.rstrip("/"), catalogue),
            ("GET", "/vouchers/{slug}", show),
            ("POST", "/vouchers/{slug}", begin),
        ]
        return [
            Route(f"{path}{end}", endpoint, methods=[method]) for method, path, endpoint in table for end in ("", "/")
        ]

    def of_host(self) -> list[BaseRoute]:
        """What hosts of shops have at their root, and the page for all other paths."""
        page = self._shop.page
        return [
            Route("/", self.start),
            Route("/favicon.ico", page(start.icon)),
            Route("/robots.txt", page(sitemap.robots)),
            Route("/sitemap.xml", page(sitemap.sitemap)),
            Route("/{rest:path}", self.not_found),
        ]

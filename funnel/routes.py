"""The routes of all pages for customers, partners' representatives and venue staff."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import BaseRoute, Route

from funnel.checkout import (
    balance,
    basket,
    customization,
    find_order,
    gift_preview,
    information,
    language,
    network_page,
    payment,
    summary,
)
from funnel.checkout.handler import CheckoutSite
from funnel.checkout.request import CheckoutRequest
from funnel.checkout.storefronts import BASKET, NETWORK, PRODUCTS, STOREFRONTS
from funnel.core.brand_sheets import look_route, look_sheet
from funnel.core.card_wallets import apple_pay_routes
from funnel.core.page_handler import Handler, PageEndpoint
from funnel.core.pages import PageTemplates
from funnel.core.static_files import PREFIX
from funnel.holding.routes import routes as holding_routes
from funnel.legal.routes import routes as legal_routes
from funnel.onboarding import provider_return
from funnel.onboarding.routes import routes as onboarding_routes
from funnel.order.routes import routes as order_routes
from funnel.paying.routes import routes as paying_routes
from funnel.redemption.routes import routes as redeem_routes
from funnel.shop.routes import ShopPageRoutes
from schema.checkout.checkout import SHOP_PATHS, CheckoutKind, ShopKind
from schema.order.balance import BALANCE_PATH
from schema.order.page import FIND_PATH
from store.core.settings import Settings

LINK_ROUTES = (paying_routes, holding_routes, legal_routes, order_routes)
ShopHandler: TypeAlias = Handler[CheckoutRequest]
GIFT_CARDS_START = SHOP_PATHS[ShopKind.GIFT_CARDS].rstrip("/")
OWN_PREFIXES = (BASKET.root_path, "/vouchers", "/giftcards", NETWORK.root_path)
"""The prefixes of paths that are only of a shop's sections. Beside the network's shop are the pages of holders."""
FORMER_ROOTS = (SHOP_PATHS[ShopKind.VOUCHERS], SHOP_PATHS[ShopKind.GIFT_CARDS])
RouteTable = list[tuple[str, str, PageEndpoint]]
"""Method, path below the storefront's root, endpoint."""


@dataclass(frozen=True, slots=True)
class FunnelRoutes:
    """The routes of all pages, by the hosts that serve them."""

    shop_routes: list[BaseRoute]
    """On the partners' hosts. Each endpoint looks up the shop."""
    fallback_routes: list[BaseRoute]
    """On the partners' hosts: the root, what robots read, and the 404 page for all other paths."""
    start_endpoint: PageEndpoint
    """The endpoint of the root."""
    static_routes: list[BaseRoute]
    """On all hosts: static files, and what Apple reads of hosts that take Apple Pay."""
    link_routes: list[BaseRoute]
    """On all hosts: the pages of payments and payment requests, of orders, of the holders of gift cards and vouchers, and
    of legal texts.
    """
    service_routes: list[BaseRoute]
    """On the service's own host: pages for link holders."""


def routes(settings: Settings, pages: PageTemplates) -> FunnelRoutes:
    """The routes of all pages, to be mounted at the application's root.

    Handlers find the services at `request.app.state.container.services` and the request id at `request.state`.
    """
    public = ShopPageRoutes(settings, pages)
    sites = {storefront.kind: CheckoutSite(settings, pages, storefront) for storefront in STOREFRONTS.values()}
    served = [*_step_routes(sites), *public.of_vouchers()]
    any_goods = sites[CheckoutKind.CART]
    of_shops = [
        *served,
        *form_page_routes(any_goods, FIND_PATH, find_order.show, find_order.submit),
        *form_page_routes(any_goods, BALANCE_PATH, balance.show, balance.submit),
        Route(f"{PRODUCTS.root_path}/brand.{{digest:str}}.css", any_goods.brand),
        *_slash_variants("GET", BASKET.root_path, sites[CheckoutKind.BASKET].page(basket.begin)),
        *(Route(f"{path}{{step:path}}", former_step, methods=["GET", "POST"]) for path in FORMER_ROOTS),
        *(Route(f"{prefix}/{{rest:path}}", public.not_found) for prefix in OWN_PREFIXES),
        *redeem_routes(settings, pages),
    ]
    return FunnelRoutes(
        shop_routes=of_shops,
        fallback_routes=public.of_host(),
        start_endpoint=public.start,
        static_routes=[
            Route(f"{PREFIX}{{name:str}}", pages.assets.serve),
            Route(look_route("{look:str}"), look_sheet),
            *apple_pay_routes(settings),
        ],
        link_routes=[route for of in LINK_ROUTES for route in of(settings, pages)],
        service_routes=[*onboarding_routes(settings, pages), *provider_return.routes(settings, pages)],
    )


def _step_routes(sites: Mapping[CheckoutKind, CheckoutSite]) -> list[BaseRoute]:
    """The steps of all storefronts."""
    tables = {
        CheckoutKind.CART: product_routes(sites[CheckoutKind.CART]),
        CheckoutKind.BASKET: gift_routes(sites[CheckoutKind.BASKET]),
        CheckoutKind.NETWORK: network_routes(sites[CheckoutKind.NETWORK]),
    }
    served: list[BaseRoute] = [
        *_slash_variants("GET", GIFT_CARDS_START, sites[CheckoutKind.BASKET].page(basket.begin_gift_card)),
    ]
    for kind, site in sites.items():
        for method, path, endpoint in (*tables[kind], *shared_step_routes(site)):
            served += _slash_variants(method, site.storefront.root_path + path, endpoint)
    return served


async def former_step(request: Request) -> Response:
    """Redirect from the address that a step of the basket had when vouchers and gift cards had baskets of their own."""
    path, query = f"{BASKET.root_path}/{request.path_params['step']}", request.url.query
    return RedirectResponse(f"{path}?{query}" if query else path, 308, {"Cache-Control": "no-store"})


def form_page_routes(site: CheckoutSite, path: str, show: ShopHandler, submit: ShopHandler) -> Sequence[Route]:
    """A page with a form that any customer of a shop can use, whatever they bought."""
    path = path.rstrip("/")
    return (*_slash_variants("GET", path, site.page(show)), *_slash_variants("POST", path, site.form(submit)))


def product_routes(site: CheckoutSite) -> RouteTable:
    """The first step for products, and the form of what is added to them."""
    return [
        ("GET", "/customization", site.step(customization.show)),
        ("POST", "/customization", site.form(customization.choose)),
        ("POST", "/customization/preview", site.form(customization.preview)),
        *gift_routes(site),
    ]


def network_routes(site: CheckoutSite) -> RouteTable:
    """The window of the network's gift cards and boxes, and the first step for them."""
    return [("GET", "", site.page(network_page.show)), *gift_routes(site)]


def gift_routes(site: CheckoutSite) -> RouteTable:
    """The form of a voucher or gift card, and its preview. At storefronts with a basket it is the first step."""
    path = f"/{site.storefront.line_path}"
    return [
        ("GET", path, site.page(basket.show)),
        ("POST", path, site.form(basket.choose)),
        ("POST", f"{path}/preview", site.form(basket.preview)),
        ("GET", "/preview.png", site.page(gift_preview.show)),
    ]


def shared_step_routes(site: CheckoutSite) -> RouteTable:
    """The steps that all storefronts share."""
    step, page, form = site.step, site.page, site.form
    return [
        ("GET", "/information", step(information.show)),
        ("POST", "/information", form(information.identify)),
        ("POST", "/information/preview", form(information.preview)),
        ("GET", "/payment", step(payment.show)),
        ("POST", "/payment", form(payment.start)),
        ("POST", "/payment/token", form(payment.start_by_token)),
        ("POST", "/payment/apple-pay", form(payment.open_apple_pay)),
        ("POST", "/payment/codes", form(payment.change_codes)),
        ("POST", "/payment/cancel", form(payment.cancel)),
        ("GET", "/payment/leaving", page(payment.redirect_to_provider)),
        ("GET", "/payment/return/{cart_id:uuid}/{attempt_id:uuid}", page(payment.return_from_provider)),
        ("GET", "/summary", step(summary.show)),
        ("POST", "/language", form(language.change)),
    ]


def _slash_variants(method: str, path: str, endpoint: PageEndpoint) -> tuple[Route, Route]:
    """The route with and without a final slash."""
    return Route(path, endpoint, methods=[method]), Route(f"{path}/", endpoint, methods=[method])

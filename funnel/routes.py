"""The checkout's addresses, all on one page."""

from dataclasses import dataclass

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from funnel.checkout import basket, customization, information, language, payment, shop_window, summary
from funnel.checkout.handler import Front
from funnel.checkout.request import Visit
from funnel.checkout.storefronts import COUNTERS, PRODUCTS
from funnel.core.messages import Ending
from funnel.core.page_handler import Endpoint
from funnel.core.pages import Pages
from funnel.core.static_files import PREFIX
from funnel.onboarding import provider_return
from funnel.onboarding.routes import routes as onboarding_routes
from funnel.redemption.routes import routes as redeem_routes
from schema.checkout.checkout import ShopKind
from store.core.settings import Settings

Table = list[tuple[str, str, Endpoint]]
"""Method, path below the counter's root, endpoint."""


async def nothing_here(visit: Visit) -> Response:
    """An address that no page has."""
    return visit.ending(Ending.NOT_FOUND, 404)


@dataclass(frozen=True, slots=True)
class Tables:
    """The routes of all pages, by where they are served."""

    of_shops: list[BaseRoute]
    """At the partners' own domains: each looks up whose it is."""
    unknown: list[BaseRoute]
    """At the partners' own domains as well: the page for every path that nothing else has."""
    nothing_here: Endpoint
    """That page."""
    static: list[BaseRoute]
    """Wherever there are pages: what all of them use."""
    of_service: list[BaseRoute]
    """At the service's own address: pages for whoever holds a link to them."""


def routes(settings: Settings, pages: Pages) -> Tables:
    """The routes of the checkout and of the other pages of ours, for the application to mount at its root.

    Handlers find their services at `request.app.state.house.services`, and the request's id at `request.state`.
    """
    fronts = {counter.kind: Front(settings, pages, counter) for counter in COUNTERS.values()}
    tables = {
        ShopKind.PRODUCTS: of_products(fronts[ShopKind.PRODUCTS]),
        ShopKind.VOUCHERS: of_vouchers(fronts[ShopKind.VOUCHERS]),
        ShopKind.GIFT_CARDS: of_gift_cards(fronts[ShopKind.GIFT_CARDS]),
    }
    served: list[BaseRoute] = []
    for kind, front in fronts.items():
        for method, path, endpoint in (*tables[kind], *after_the_first(front)):
            served += _both(method, front.counter.root + path, endpoint)
    of_shops = [
        *served,
        Route(f"{PRODUCTS.root}/brand.{{digest:str}}.css", fronts[ShopKind.PRODUCTS].brand),
        *(
            Route(f"{front.counter.root.removesuffix('/shop')}/{{rest:path}}", front.page(nothing_here))
            for front in fronts.values()
            if front.counter.has_window
        ),
        *redeem_routes(settings, pages),
    ]
    nowhere = fronts[ShopKind.PRODUCTS].page(nothing_here)
    return Tables(
        of_shops=of_shops,
        unknown=[Route("/{rest:path}", nowhere)],
        nothing_here=nowhere,
        static=[Route(f"{PREFIX}{{name:str}}", pages.assets.serve)],
        of_service=[*onboarding_routes(settings, pages), *provider_return.routes(settings, pages)],
    )


def of_products(front: Front) -> Table:
    """The first step of products."""
    return [
        ("GET", "/customization", front.step(customization.show)),
        ("POST", "/customization", front.form(customization.choose)),
        ("POST", "/customization/preview", front.form(customization.preview)),
    ]


def of_vouchers(front: Front) -> Table:
    """The shop window of experiences, and the first step."""
    return [("GET", "", front.page(shop_window.show)), *of_bags(front)]


def of_gift_cards(front: Front) -> Table:
    """The first step of gift cards, which is where customers begin."""
    return [("GET", "", front.page(basket.begin)), *of_bags(front)]


def of_bags(front: Front) -> Table:
    """The first step of whatever customers put into a bag here."""
    return [
        ("GET", "/customization", front.page(basket.show)),
        ("POST", "/customization", front.form(basket.choose)),
        ("POST", "/customization/preview", front.form(basket.preview)),
    ]


def after_the_first(front: Front) -> Table:
    """The steps that all counters share."""
    step, page, form = front.step, front.page, front.form
    return [
        ("GET", "/information", step(information.show)),
        ("POST", "/information", form(information.identify)),
        ("GET", "/payment", step(payment.show)),
        ("POST", "/payment", form(payment.start)),
        ("POST", "/payment/codes", form(payment.change_codes)),
        ("POST", "/payment/cancel", form(payment.cancel)),
        ("GET", "/payment/leaving", page(payment.leave)),
        ("GET", "/payment/return/{cart_id:uuid}/{attempt_id:uuid}", page(payment.come_back)),
        ("GET", "/summary", step(summary.show)),
        ("POST", "/language", form(language.change)),
    ]


def _both(method: str, path: str, endpoint: Endpoint) -> tuple[Route, Route]:
    """With and without the slash at the end."""
    return Route(path, endpoint, methods=[method]), Route(f"{path}/", endpoint, methods=[method])

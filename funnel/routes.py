"""The checkout's addresses, all on one page."""

from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from funnel import returning
from funnel.counters import PRODUCTS
from funnel.desk import Endpoint
from funnel.front import Front
from funnel.messages import Ending
from funnel.onboarding.routes import routes as onboarding_routes
from funnel.pages import Pages
from funnel.static_files import PREFIX
from funnel.steps import customization, information, language, payment, summary
from funnel.visit import Visit
from store.settings import Settings


async def nothing_here(visit: Visit) -> Response:
    """An address that no page has."""
    return visit.ending(Ending.NOT_FOUND, 404)


def routes(settings: Settings) -> list[BaseRoute]:
    """The routes of the checkout and of the other pages of ours, for the application to mount at its root.

    Handlers find their services at `request.app.state.house.services`, and the request's id at `request.state`.
    """
    pages = Pages(reload=settings.development)
    front = Front(settings, pages, PRODUCTS)
    step, page, form = front.step, front.page, front.form
    table: list[tuple[str, str, Endpoint]] = [
        ("GET", "/customization", step(customization.show)),
        ("POST", "/customization", form(customization.choose)),
        ("POST", "/customization/preview", form(customization.preview)),
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
    served = [_both(method, PRODUCTS.root + path, endpoint) for method, path, endpoint in table]
    return [
        *(route for both in served for route in both),
        Route(f"{PRODUCTS.root}/brand.{{digest:str}}.css", front.brand),
        Route(f"{PREFIX}{{name:str}}", pages.assets.serve),
        Route("/ecommerce/{rest:path}", page(nothing_here)),
        *onboarding_routes(settings, pages),
        *returning.routes(settings, pages),
    ]


def _both(method: str, path: str, endpoint: Endpoint) -> tuple[Route, Route]:
    """With and without the slash at the end."""
    return Route(path, endpoint, methods=[method]), Route(f"{path}/", endpoint, methods=[method])

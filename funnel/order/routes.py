"""The routes of the pages of orders."""

from starlette.routing import BaseRoute, Route

from funnel.core import public_language
from funnel.core.page_handler import PageEndpoint
from funnel.core.pages import PageTemplates
from funnel.core.public_language import LanguageSite
from funnel.order import gifts, requests
from funnel.order import pages as orders
from funnel.order.handler import OrderSite
from funnel.order.request import LANGUAGE_PATH
from schema.order.page import FIND_PATH
from store.core.settings import Settings

ROOT = f"{FIND_PATH}{{token:str}}"


def routes(settings: Settings, pages: PageTemplates) -> list[BaseRoute]:
    """The routes of the page, with and without a final slash. `LANGUAGE_PATH` precedes `ROOT`; no token equals it."""
    site = OrderSite(settings, pages)
    table: list[tuple[str, str, PageEndpoint]] = [
        ("POST", LANGUAGE_PATH.rstrip("/"), LanguageSite(settings, pages).form(public_language.change)),
        ("GET", ROOT, site.page(orders.show)),
        ("POST", ROOT, site.form(orders.send_again)),
        ("GET", f"{ROOT}/request", site.page(requests.show_form)),
        ("POST", f"{ROOT}/request", site.form(requests.review)),
        ("POST", f"{ROOT}/request/confirm", site.form(requests.confirm)),
        ("POST", f"{ROOT}/request/{{id}}/cancel", site.form(requests.cancel)),
        ("GET", f"{ROOT}/model-form", site.page(requests.model_form)),
        ("POST", f"{ROOT}/{{position:int}}", site.form(gifts.send_again)),
        ("POST", f"{ROOT}/{{position:int}}/day", site.form(gifts.change_day)),
    ]
    served: list[BaseRoute] = [
        Route(f"{path}{end}", endpoint, methods=[method]) for method, path, endpoint in table for end in ("", "/")
    ]
    return [*served, Route(f"{ROOT}/{{position:int}}.ics", site.page(orders.calendar))]

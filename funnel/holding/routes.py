"""The routes of holders' pages."""

from starlette.routing import BaseRoute, Route

from funnel.core import public_language
from funnel.core.page_handler import PageEndpoint
from funnel.core.pages import PageTemplates
from funnel.core.public_language import LanguageSite
from funnel.holding.handler import HoldingSite, show
from funnel.holding.request import LANGUAGE_PATH
from store.core.settings import Settings

ROOT = "/network/{token:str}"


def routes(settings: Settings, pages: PageTemplates) -> list[BaseRoute]:
    """The routes of the page, with and without a final slash. `LANGUAGE_PATH` precedes `ROOT`; no token equals it."""
    table: list[tuple[str, str, PageEndpoint]] = [
        ("POST", LANGUAGE_PATH.rstrip("/"), LanguageSite(settings, pages).form(public_language.change)),
        ("GET", ROOT, HoldingSite(settings, pages).page(show)),
    ]
    return [Route(f"{path}{end}", endpoint, methods=[method]) for method, path, endpoint in table for end in ("", "/")]

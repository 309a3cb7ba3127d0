"""The routes of legal texts."""

from starlette.routing import BaseRoute, Route

from funnel.core import public_language
from funnel.core.page_handler import PageEndpoint
from funnel.core.pages import PageTemplates
from funnel.core.public_language import LanguageSite
from funnel.legal.handler import LANGUAGE_PATH, LegalSite, show
from schema.legal.legal_document import LEGAL_PATH
from store.core.settings import Settings


def routes(settings: Settings, pages: PageTemplates) -> list[BaseRoute]:
    """The routes of the page, with and without a final slash."""
    table: list[tuple[str, str, PageEndpoint]] = [
        ("POST", LANGUAGE_PATH.rstrip("/"), LanguageSite(settings, pages).form(public_language.change)),
        ("GET", f"{LEGAL_PATH}{{uuid:uuid}}", LegalSite(settings, pages).page(show)),
    ]
    return [Route(f"{path}{end}", endpoint, methods=[method]) for method, path, endpoint in table for end in ("", "/")]

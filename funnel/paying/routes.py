"""The routes of the payment page."""

from starlette.routing import BaseRoute, Route

from funnel.core import public_language
from funnel.core.page_handler import PageEndpoint
from funnel.core.pages import PageTemplates
from funnel.core.public_language import LanguageSite
from funnel.paying import pages as paying
from funnel.paying.handler import PayingSite
from funnel.paying.request import LANGUAGE_PATH
from store.core.settings import Settings

ROOT = "/pay/{token:str}"


def routes(settings: Settings, pages: PageTemplates) -> list[BaseRoute]:
    """The routes of the payment page, with and without a final slash. `LANGUAGE_PATH` precedes `ROOT`; no token equals
    it.
    """
    site = PayingSite(settings, pages)
    table: list[tuple[str, str, PageEndpoint]] = [
        ("POST", LANGUAGE_PATH.rstrip("/"), LanguageSite(settings, pages).form(public_language.change)),
        ("GET", ROOT, site.page(paying.show)),
        ("POST", ROOT, site.form(paying.pay)),
        ("POST", f"{ROOT}/{paying.TOKEN}", site.form(paying.pay_by_token)),
        ("POST", f"{ROOT}/{paying.APPLE_PAY}", site.form(paying.open_apple_pay)),
        ("GET", f"{ROOT}/{paying.LEAVING}", site.page(paying.redirect_to_provider)),
        ("GET", f"{ROOT}/{paying.RETURN}", site.page(paying.return_from_provider)),
    ]
    return [Route(f"{path}{end}", endpoint, methods=[method]) for method, path, endpoint in table for end in ("", "/")]

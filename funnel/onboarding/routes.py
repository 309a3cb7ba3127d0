"""The routes of the onboarding pages."""

from starlette.routing import BaseRoute, Route

from funnel.core import public_language
from funnel.core.page_handler import PageEndpoint
from funnel.core.pages import PageTemplates
from funnel.core.public_language import LanguageSite
from funnel.core.public_pages import LANGUAGE_PATH
from funnel.onboarding import details, provider, status, tasks
from funnel.onboarding.handler import OnboardingSite
from store.core.settings import Settings

ROOT = "/onboarding/{token:str}"


def routes(settings: Settings, pages: PageTemplates) -> list[BaseRoute]:
    """The routes of the onboarding pages. Fixed paths precede `ROOT`; no token equals them."""
    site = OnboardingSite(settings, pages)
    table: list[tuple[str, str, PageEndpoint]] = [
        ("POST", LANGUAGE_PATH, LanguageSite(settings, pages).form(public_language.change)),
        ("GET", f"{ROOT}/", site.page(status.show)),
        ("POST", f"{ROOT}/", site.form(details.complete)),
        ("POST", f"{ROOT}/provider/", site.form(provider.open_session)),
        ("POST", f"{ROOT}/identity/", site.form(tasks.prove_identity)),
        ("POST", f"{ROOT}/bank-account/", site.form(tasks.name_bank_account)),
        ("POST", f"{ROOT}/bank-account/confirm/", site.form(tasks.confirm_bank_account)),
        ("GET", f"{ROOT}/leaving/", site.page(provider.redirect_to_provider)),
        ("GET", f"{ROOT}/return/", site.page(status.return_from_provider)),
    ]
    return [Route(path, endpoint, methods=[method]) for method, path, endpoint in table]

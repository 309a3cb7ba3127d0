"""The routes of the onboarding pages."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from funnel.core.page_handler import PageEndpoint
from funnel.core.pages import PageTemplates
from funnel.core.public_pages import LANGUAGE_PATH
from funnel.core.static_files import CACHE_FOREVER, COLOUR, CONTENT_TYPES, FALLBACK_COLOUR, brand_sheet, colours_path
from funnel.onboarding import details, language, provider, status, tasks
from funnel.onboarding.handler import OnboardingSite
from funnel.onboarding.language import LanguageSite
from store.core.brand_colours import build_brand
from store.core.settings import Settings

ROOT = "/onboarding/{token:str}"


def routes(settings: Settings, pages: PageTemplates) -> list[BaseRoute]:
    """The routes of the onboarding pages. Fixed paths precede `ROOT`; no token equals them."""
    site = OnboardingSite(settings, pages)
    table: list[tuple[str, str, PageEndpoint]] = [
        ("POST", LANGUAGE_PATH, LanguageSite(settings, pages).form(language.change)),
        ("GET", f"{ROOT}/", site.page(status.show)),
        ("POST", f"{ROOT}/", site.form(details.complete)),
        ("POST", f"{ROOT}/provider/", site.form(provider.open_session)),
        ("POST", f"{ROOT}/identity/", site.form(tasks.prove_identity)),
        ("POST", f"{ROOT}/bank-account/", site.form(tasks.name_bank_account)),
        ("POST", f"{ROOT}/bank-account/confirm/", site.form(tasks.confirm_bank_account)),
        ("GET", f"{ROOT}/leaving/", site.page(provider.redirect_to_provider)),
        ("GET", f"{ROOT}/return/", site.page(status.return_from_provider)),
    ]
    return [
        Route(colours_path("{accent:str}"), colours),
        *(Route(path, endpoint, methods=[method]) for method, path, endpoint in table),
    ]


async def colours(request: Request) -> Response:
    """The style sheet derived from a colour. An invalid colour gets the default."""
    colour = f"#{request.path_params['accent']}"
    brand = build_brand("", colour if COLOUR.fullmatch(colour) else FALLBACK_COLOUR)
    headers = {"Cache-Control": CACHE_FOREVER, "X-Content-Type-Options": "nosniff"}
    return Response(brand_sheet(brand), headers=headers, media_type=CONTENT_TYPES[".css"])

"""The addresses of the onboarding pages, all on one page."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import BaseRoute, Route

from funnel.core.page_handler import Endpoint
from funnel.core.pages import Pages
from funnel.core.public_pages import LANGUAGE
from funnel.core.static_files import COLOUR, FALLBACK, FOR_GOOD, KINDS, brand_sheet, colours_path
from funnel.onboarding import details, language, provider, status, tasks
from funnel.onboarding.handler import OnboardingDesk
from funnel.onboarding.language import LanguageDesk
from store.core.settings import Settings
from store.partner.brand import branded

ROOT = "/onboarding/{token:str}"


def routes(settings: Settings, pages: Pages) -> list[BaseRoute]:
    """The routes of the onboarding pages. Those that lead to no page of one partner come first: no token looks like them."""
    desk = OnboardingDesk(settings, pages)
    table: list[tuple[str, str, Endpoint]] = [
        ("POST", LANGUAGE, LanguageDesk(settings, pages).form(language.change)),
        ("GET", f"{ROOT}/", desk.page(status.show)),
        ("POST", f"{ROOT}/", desk.form(details.complete)),
        ("POST", f"{ROOT}/provider/", desk.form(provider.open_session)),
        ("POST", f"{ROOT}/identity/", desk.form(tasks.prove_identity)),
        ("POST", f"{ROOT}/bank-account/", desk.form(tasks.name_bank_account)),
        ("POST", f"{ROOT}/bank-account/confirm/", desk.form(tasks.confirm_bank_account)),
        ("GET", f"{ROOT}/leaving/", desk.page(provider.leave)),
        ("GET", f"{ROOT}/return/", desk.page(status.come_back)),
    ]
    return [
        Route(colours_path("{accent:str}"), colours),
        *(Route(path, endpoint, methods=[method]) for method, path, endpoint in table),
    ]


async def colours(request: Request) -> Response:
    """The colours that follow from one; what is none is answered ours."""
    given = f"#{request.path_params['accent']}"
    brand = branded("", given if COLOUR.fullmatch(given) else FALLBACK)
    headers = {"Cache-Control": FOR_GOOD, "X-Content-Type-Options": "nosniff"}
    return Response(brand_sheet(brand), headers=headers, media_type=KINDS[".css"])

"""The icon of the service's own hosts: browsers ask for it with the start page, the documentation and onboarding."""

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from funnel.core.icons import letter_icon
from resolvers.mail.delivery import service_brand
from store.core.settings import Settings


def routes(settings: Settings) -> list[Route]:
    """The icon: the first letter of the service's name."""
    brand = service_brand(settings, "")

    def show(_request: Request) -> Response:
        return letter_icon(brand)

    return [Route("/favicon.ico", show)]

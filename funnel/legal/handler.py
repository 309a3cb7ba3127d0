"""The page of a legal text: finds the version of the link and shows it."""

from dataclasses import dataclass, field
from uuid import UUID

from starlette.requests import Request
from starlette.responses import Response

from funnel.core.page_request import client_ip_of
from funnel.core.public_pages import PublicRequest, PublicSite
from resolvers.core.caller import Transport
from resolvers.core.context import Context
from resolvers.legal import find_legal_page
from schema.checkout.legal import spoken_language
from schema.checkout.legal_page import LegalPage
from schema.core.errors import NotFound
from schema.legal.legal_document import LEGAL_PATH

LANGUAGE_PATH = f"{LEGAL_PATH}language/"


@dataclass
class LegalRequest(PublicRequest):
    """The request of a visitor of a legal text."""

    page: LegalPage = field(kw_only=True)
    language_path = LANGUAGE_PATH


class LegalSite(PublicSite[LegalRequest]):
    """Creates endpoints from handlers of visitors' requests."""

    async def build_request(self, request: Request) -> LegalRequest:
        """The request of a visitor. Raises NotFound for a version that does not exist, and at the host of
        another shop.
        """
        services = request.app.state.container.services
        context = Context(services, None, request.state.request_id, client_ip_of(request), Transport.CHECKOUT)
        uuid: UUID = request.path_params["uuid"]
        page = await find_legal_page(context, uuid)
        host = request.headers.get("host", "").lower()
        if host != page.site_domain and not services.settings.is_own_host(host):
            raise NotFound(thing="page")  # a partner's text must not look like another's
        return self.new_request(LegalRequest, request, self.language(request), page.brand, start=page.path, page=page)


async def show(request: LegalRequest) -> Response:
    """The text, in the visitor's language or the one that it has."""
    page, language = request.page, request.language
    spoken = spoken_language(page.content, page.website, language)
    return request.render(
        "legal/page.html",
        page=page,
        content=getattr(page.content, spoken),
        website=getattr(page.website, spoken),
        spoken=spoken,
    )

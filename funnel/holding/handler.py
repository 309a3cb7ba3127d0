"""The page handler of holders' links: resolves the link and loads what it shows."""

from starlette.requests import Request
from starlette.responses import Response

from funnel.core.page_request import client_ip_of
from funnel.core.public_pages import PublicSite
from funnel.holding.request import LIST_ID, HolderRequest
from funnel.holding.texts import SITUATIONS
from resolvers.core.caller import Transport
from resolvers.core.context import Context
from resolvers.network.holder import find_holder_page
from schema.network.holder import PartnerSearch
from schema.validation.characters import clean_line

LONGEST_TERM = 100
"""The longest search text, in characters; what is longer is cut."""
DIGITS = 6


class HoldingSite(PublicSite[HolderRequest]):
    """Creates endpoints from handlers of holders' requests."""

    async def build_request(self, request: Request) -> HolderRequest:
        """The request of a holder. Raises NotFound for a link that shows nothing."""
        services = request.app.state.container.services
        context = Context(services, None, request.state.request_id, client_ip_of(request), Transport.CHECKOUT)
        page = await find_holder_page(context, request.path_params["token"], search_of(request))
        language = self.language_of(request, page.language)
        return self.new_request(HolderRequest, request, language, page.brand, start=page.path, page=page)


def search_of(request: Request) -> PartnerSearch:
    """What the holder looks for; whatever cannot be read is left out, because links may be cut."""
    query = request.query_params
    name, place = (clean_line(query.get(key, ""))[:LONGEST_TERM] for key in ("name", "place"))
    page = query.get("page", "")
    return PartnerSearch(name, place, int(page) if page.isdecimal() and page.isascii() and len(page) <= DIGITS else 1)


async def show(request: HolderRequest) -> Response:
    """The page. It changes nothing, so link scanners may open it."""
    page = request.page
    kind = "gift_card" if page.balance else "voucher"
    return request.render("holding/page.html", page=page, situation=SITUATIONS[kind].get(page.state), list_id=LIST_ID)

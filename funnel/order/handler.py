"""The page handler of orders: resolves the link and loads what it shows."""

from dataclasses import replace

from starlette.requests import Request

from funnel.core.page_request import client_ip_of
from funnel.core.public_pages import PublicSite
from funnel.order.request import OrderRequest
from resolvers.core.caller import Caller, Transport
from resolvers.core.context import Context
from resolvers.order.page import find_order_page


class OrderSite(PublicSite[OrderRequest]):
    """Creates endpoints from handlers of buyers' requests."""

    async def build_request(self, request: Request) -> OrderRequest:
        """The request of a buyer. Raises NotFound for a forged link."""
        services = request.app.state.container.services
        nobody = Context(services, None, request.state.request_id, client_ip_of(request), Transport.CHECKOUT)
        page = await find_order_page(nobody, request.path_params["token"])
        context = replace(nobody, caller=Caller.customer(page.partner_id, page.marketplace_id))
        language = self.language_of(request, page.language)
        return self.new_request(
            OrderRequest, request, language, page.brand, start=page.path, context=context, page=page
        )

"""The page handler of payment links: resolves the link and loads what it shows."""

from dataclasses import replace

from starlette.requests import Request

from funnel.core.page_request import client_ip_of
from funnel.core.public_pages import PublicSite
from funnel.paying.request import PayingRequest
from resolvers.core.caller import Transport
from resolvers.core.context import Context
from resolvers.payment.page import page as operations


class PayingSite(PublicSite[PayingRequest]):
    """Creates endpoints from handlers of paying customers' requests."""

    async def build_request(self, request: Request) -> PayingRequest:
        """The request of a link holder. Raises NotFound for an unknown link, TooManyRequests after too many of them."""
        token, services = request.path_params["token"], request.app.state.container.services
        nobody = Context(services, None, request.state.request_id, client_ip_of(request), Transport.CHECKOUT)
        context = replace(nobody, caller=await operations.customer_with_link(nobody, token))
        page = await operations.payment_page(context, token)
        language = self.language_of(request, page.language)
        return self.new_request(
            PayingRequest, request, language, page.brand, start=page.path, context=context, page=page
        )

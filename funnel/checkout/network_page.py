"""The window of the network's shop: its gift cards, by design, and its boxes."""

from starlette.responses import Response

from funnel.checkout.current_basket import current_basket
from funnel.checkout.request import CheckoutRequest
from resolvers.checkout.network_shop import open_network_shop


async def show(request: CheckoutRequest) -> Response:
    """Show what the shop sells of its network, and a link to this browser's basket."""
    window = await open_network_shop(request.context)
    return request.render("network.html", window=window, basket=await current_basket(request))

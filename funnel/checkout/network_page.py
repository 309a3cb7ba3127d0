"""The window of the network's shop: its gift cards, by design, and its boxes."""

from starlette.responses import Response

from funnel.checkout.current_basket import current_basket
from funnel.checkout.request import CheckoutRequest
from resolvers.checkout.network_shop import open_network_shop
from schema.checkout.network_offer import NetworkWindow
from schema.checkout.view import Checkout


async def show(request: CheckoutRequest) -> Response:
    """Show what the shop sells of its network, and a link to this browser's basket."""
    window = await open_network_shop(request.context)
    return render(request, window, await current_basket(request))


def render(request: CheckoutRequest, window: NetworkWindow, basket: Checkout | None) -> Response:
    """The page of a window."""
    return request.render("network.html", window=window, basket=basket)

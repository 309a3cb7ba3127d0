"""The window of the network's shop: its gift cards, by design, and its boxes."""

from starlette.responses import Response

from funnel.checkout.current_basket import current_basket
from funnel.checkout.request import CheckoutRequest
from resolvers.checkout.network_shop import open_network_shop, preview_box, preview_network_design
from schema.checkout.network_offer import NetworkWindow
from schema.checkout.view import Checkout


async def show(request: CheckoutRequest) -> Response:
    """Show what the shop sells of its network, and a link to this browser's basket."""
    window = await open_network_shop(request.context)
    return _render(request, window, await current_basket(request))


async def show_box(request: CheckoutRequest, box_id: int) -> Response:
    """Show a box to staff, on sale or not."""
    return _render(request, await preview_box(request.context, box_id), None)


async def show_design(request: CheckoutRequest, design_id: int) -> Response:
    """Show the gift cards of a design to staff, on sale or not."""
    return _render(request, await preview_network_design(request.context, design_id), None)


def _render(request: CheckoutRequest, window: NetworkWindow, basket: Checkout | None) -> Response:
    return request.render("network.html", window=window, basket=basket)

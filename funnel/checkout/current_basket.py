"""The basket of a browser."""

import uuid

from funnel.checkout.request import CheckoutRequest
from resolvers.checkout import basket
from schema.checkout.view import Checkout
from schema.core.errors import CartNotFound


async def current_basket(request: CheckoutRequest) -> Checkout:
    """The basket of this browser. A new one if the last has become an order or has expired."""
    cart_id = request.cart_id or request.last_cart_id
    if cart_id is not None:
        try:
            return await basket.open_basket(request.context, request.key_of(cart_id))
        except CartNotFound:
            pass
    return await basket.open_basket(request.context, request.key_of(uuid.uuid4()))

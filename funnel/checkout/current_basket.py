"""The order that a browser adds vouchers and gift cards to."""

import uuid

from funnel.checkout.request import CheckoutRequest
from resolvers.checkout import basket
from schema.checkout.checkout import CheckoutKey, CheckoutKind
from schema.checkout.view import Checkout
from schema.core.errors import CartNotFound


async def current_basket(request: CheckoutRequest) -> Checkout:
    """The cart or basket that this browser has opened last. A new basket if it has become an order or has expired."""
    for key in _candidates(request):
        try:
            return await basket.open_basket(request.context, key)
        except CartNotFound:
            pass
    return await basket.open_basket(request.context, request.key_of(uuid.uuid4()))


def _candidates(request: CheckoutRequest) -> list[CheckoutKey]:
    if request.cart_id is not None:
        return [request.key]
    is_own = request.storefront.kind is CheckoutKind.BASKET
    last = request.key_of(request.last_cart_id) if request.last_cart_id else None
    return [key for key in (request.last_cart if is_own else None, last) if key is not None]

"""The order that a browser adds vouchers and gift cards to."""

import uuid

from funnel.checkout.request import CheckoutRequest
from funnel.checkout.storefronts import BASKET
from resolvers.checkout import basket
from schema.checkout.checkout import CheckoutKey
from schema.checkout.view import Checkout
from schema.core.errors import CartNotFound


async def current_basket(request: CheckoutRequest) -> Checkout:
    """The cart or basket that this browser has opened last. A new basket if it has become an order or has expired."""
    for key in _candidates(request):
        try:
            return await basket.open_basket(request.context, key)
        except CartNotFound:
            pass
    new = CheckoutKey(uuid.uuid4(), request.session_id, request.gift_storefront.kind)
    return await basket.open_basket(request.context, new)


def _candidates(request: CheckoutRequest) -> list[CheckoutKey]:
    if request.gift_storefront is BASKET:
        named = [request.key] if request.cart_id is not None and request.storefront is BASKET else []
        return named or [key for key in (request.last_cart, request.last_basket) if key is not None]
    last = request.cart_id or request.last_cart_id
    return [request.key_of(last)] if last is not None else []

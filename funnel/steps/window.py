"""Where customers of vouchers begin: the experiences that the shop sells."""

import uuid

from starlette.responses import Response

from funnel.visit import Visit
from resolvers import sales
from schema.errors import CartNotFound
from schema.sale import BagCheckout


async def show(visit: Visit) -> Response:
    """All experiences, highlights first; with the way back to what this browser has chosen already."""
    bag = await current_bag(visit)
    return visit.page("window.html", bag=bag, offers=bag.prototypes, prices_in=bag.currency)


async def current_bag(visit: Visit) -> BagCheckout:
    """The bag of this browser; a new one when the last has become an order."""
    kept = visit.cart_id or visit.kept_cart
    if kept is not None:
        try:
            return await sales.open_bag(visit.context, visit.key_of(kept))
        except CartNotFound:
            pass
    return await sales.open_bag(visit.context, visit.key_of(uuid.uuid4()))

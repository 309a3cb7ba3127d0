"""Where customers of vouchers begin: the experiences that the shop sells."""

import uuid
from dataclasses import dataclass

from starlette.responses import Response

from funnel.checkout.basket_form import id_of
from funnel.checkout.request import Visit
from funnel.core.messages import ORDERS
from resolvers.catalogue.shop_window import look_at_window
from resolvers.checkout import basket
from schema.catalogue.shop_window import ShopWindow, WindowChoice, WindowOrder
from schema.checkout.basket import BagCheckout
from schema.core.errors import CartNotFound

FEW = 3
"""So many experiences are seen at a glance: there is nothing to sift."""
LIST = "experiences"
"""The id of the list on the page."""


@dataclass(frozen=True, slots=True)
class Addresses:
    """The addresses of a window: as it is, with something of it changed."""

    visit: Visit
    window: ShopWindow

    def of(self, **changes: object) -> str:
        """With these changes; the page is the first unless it is told."""
        choice = self.window.choice
        kept = {
            "universe": choice.universe_id,
            "environment": choice.environment_id,
            "price": choice.price_range_id,
            "sort": None if choice.order is WindowOrder.CHOSEN else choice.order.value,
        }
        wanted = {name: value for name, value in (kept | changes).items() if value is not None}
        return self.visit.url(self.visit.counter.window, LIST, **wanted)

    def page(self, number: int) -> str:
        """Of a page."""
        return self.of(page=number if number > 1 else None)

    @property
    def pages(self) -> tuple[int, ...]:
        """The pages to link to: the first, the last, and those around this one; 0 where some are left out."""
        last, here = self.window.pages, self.window.choice.page
        shown = sorted({1, last} | {page for page in (here - 1, here, here + 1) if 1 <= page <= last})
        found: list[int] = []
        for page in shown:
            if found and page > found[-1] + 1:
                found.append(0)
            found.append(page)
        return tuple(found)


async def show(visit: Visit) -> Response:
    """The experiences that the address asks for; with the way back to what this browser has chosen already."""
    window = await look_at_window(visit.context, _wanted(visit))
    return visit.page(
        "window.html",
        addresses=Addresses(visit, window),
        bag=await current_bag(visit),
        can_be_sifted=window.total > FEW,
        list_id=LIST,
        orders=ORDERS,
        window=window,
    )


def _wanted(visit: Visit) -> WindowChoice:
    """What the address asks for; what cannot be read of it is left out."""
    query = visit.request.query_params
    order, page = query.get("sort", ""), id_of(query.get("page", ""))
    return WindowChoice(
        universe_id=id_of(query.get("universe", "")),
        environment_id=id_of(query.get("environment", "")),
        price_range_id=id_of(query.get("price", "")),
        order=WindowOrder(order) if order in set(WindowOrder) else WindowOrder.CHOSEN,
        page=page or 1,
    )


async def current_bag(visit: Visit) -> BagCheckout:
    """The bag of this browser; a new one when the last has become an order."""
    kept = visit.cart_id or visit.kept_cart
    if kept is not None:
        try:
            return await basket.open_bag(visit.context, visit.key_of(kept))
        except CartNotFound:
            pass
    return await basket.open_bag(visit.context, visit.key_of(uuid.uuid4()))

"""The packing slips of many orders as one page, which is printed with a sheet for each parcel."""

from collections.abc import Sequence

from starlette.responses import Response

from admin.core.request import AdminRequest
from admin.pages.resolving import key_value
from admin.resources.sales import ORDERS
from funnel.core.messages import N_
from resolvers.order.packing_slip import packing_slips_of

MOST = 100
"""Orders whose packing slips are one page: each takes several queries."""
TOO_MANY = N_("At most 100 packing slips are printed at once. Do it in parts.")


async def show(request: AdminRequest, keys: Sequence[str], back: str) -> Response:
    """Show the packing slips of orders, each in its buyer's language, with a link `back` to their list."""
    slips = await packing_slips_of(request.context, [key_value(ORDERS, key) for key in keys])
    return request.render(
        "packing_slips.html",
        here=ORDERS.slug,
        resource=ORDERS,
        back=back,
        slips=slips,
        absent=len(keys) - len(slips),
    )

"""The packing slip of an order, at a signed address."""

from collections.abc import Sequence

from sqlmodel import col, select

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.scoping import visible_conditions
from resolvers.core.services import Services
from resolvers.document import ServedFile, read_document_token, signed_document_url
from resolvers.order.orders import orders
from schema.core.errors import NotFound
from schema.order.fulfilment import FulfilmentState
from schema.order.order import Order
from store.document.cache import disposition, get_or_render_document
from store.document.packing.slip import PackingSlip
from store.document.packing.source import packing_slip_of, packing_slip_source
from store.order.fulfilment import is_nothing_to_fulfil
from store.order.orders import OrderRow

FOLDER = "packing-slips"
UNPACKED = FulfilmentState.TO_PREPARE, FulfilmentState.READY_TO_COLLECT


@derives(Order, "packing_slip_url")
def _packing_slip_url(context: Context, id: int, fulfilment_state: str | None) -> str | None:
    return None if fulfilment_state is None else signed_document_url(context.services, FOLDER, [id], "pdf")


async def packing_slips_of(context: Context, ids: Sequence[int]) -> Sequence[PackingSlip]:
    """The packing slips of orders, in this order; none for those that the caller does not see, or of which nothing is to be
    packed: it is sent, handed over, cancelled or refunded.
    Raises as the list of orders does.
    """
    context.require(orders.permission)
    visible = visible_conditions(context.required_caller, OrderRow)
    query = select(OrderRow).where(col(OrderRow.id).in_(ids), col(OrderRow.fulfilment_state).in_(UNPACKED), *visible)
    async with context.db.read_sessions() as db:
        found = {order.id: order for order in (await db.exec(query)).all()}
        rows = [found[id] for id in ids if id in found]
        return [await packing_slip_of(db, order) for order in rows if not await is_nothing_to_fulfil(db, order)]


async def find_packing_slip(services: Services, token: str) -> ServedFile:
    """The packing slip of a signed address. Raises NotFound for one that is forged or too old."""
    (id,) = read_document_token(services, FOLDER, token)
    async with services.db.sessions() as db:
        order = await db.get(OrderRow, id)
        if order is None or order.fulfilment_state is None:
            raise NotFound(thing="document")
        source = await packing_slip_source(db, order)
    made = await get_or_render_document(source, services.files)
    return ServedFile(made.content, "application/pdf", disposition(made.file_name))

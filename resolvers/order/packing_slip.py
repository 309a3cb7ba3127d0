"""The packing slip of an order, at a signed address."""

from resolvers.core.computed_fields import derives
from resolvers.core.context import Context
from resolvers.core.services import Services
from resolvers.document import ServedFile, read_document_token, signed_document_url
from schema.core.errors import NotFound
from schema.order.order import Order
from store.document.cache import disposition, get_or_render_document
from store.document.packing.source import packing_slip_source
from store.order.orders import OrderRow

FOLDER = "packing-slips"


@derives(Order, "packing_slip_url")
def _packing_slip_url(context: Context, id: int, fulfilment_state: str | None) -> str | None:
    return None if fulfilment_state is None else signed_document_url(context.services, FOLDER, [id], "pdf")


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

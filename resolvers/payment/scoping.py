"""Which payment an input names, and whether its money is the caller's."""

from typing import Any

from resolvers.core.caller import Role
from resolvers.core.input_mapping import uuid_from_input
from resolvers.core.operation import Call
from resolvers.core.scoping import find_visible
from schema.core.errors import MarketplaceOnly
from store.payment.payments import PaymentRow


async def find_payment(call: Call, input: Any, *, lock: bool = False) -> PaymentRow:
    """The payment of an input's `id`. Raises NotFound if the caller cannot see it."""
    id = uuid_from_input(input, "id")
    return await find_visible(call.db, call.caller, PaymentRow, "payment", lock=lock, id=id)


def check_owns_money(call: Call, payment: PaymentRow) -> None:
    """Raise MarketplaceOnly if the money, or a part of it, is the marketplace's and the caller a partner's."""
    if payment.is_for_marketplace and call.caller.role is Role.PARTNER:
        raise MarketplaceOnly

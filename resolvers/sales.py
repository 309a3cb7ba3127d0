"""The shops of vouchers and gift cards, as their customers use them: look, fill a bag, choose how it is received.

Who buys, codes and payment are the same for every kind of shop: `resolvers.checkout` and `resolvers.payment`, with a key of
the shop's kind.
"""

import uuid

from resolvers.operation import Call, operation
from schema.checkout import CheckoutKey
from schema.coupon import ReceptionMode
from schema.permission import Rule
from schema.sale import BagCheckout, BagChoice, OfferedPrototype


@operation(Rule.CUSTOMER, transaction=False)
async def open_bag(call: Call, key: CheckoutKey) -> BagCheckout:
    """Show a bag as it stands; an id that this browser has put nothing under is an empty bag.

    Raises CartNotFound for one that has become an order.
    """
    raise NotImplementedError


@operation(Rule.CUSTOMER, transaction=False)
async def open_prototype(call: Call, prototype_id: int) -> OfferedPrototype:
    """An experience as the shop sells it. NotFound where it does not."""
    raise NotImplementedError


@operation(Rule.CUSTOMER, transaction=False)
async def price_line(call: Call, key: CheckoutKey, line_id: uuid.UUID, choice: BagChoice) -> BagCheckout:
    """Show what the bag would come to with this line, and keep nothing of it. Raises InvalidInput as `put_line`."""
    raise NotImplementedError


@operation(Rule.CUSTOMER, transaction=False)
async def put_line(call: Call, key: CheckoutKey, line_id: uuid.UUID, choice: BagChoice) -> BagCheckout:
    """Put a voucher or gift card into the bag, or change the one of this id: the same form sent twice is one line.

    Raises InvalidInput with a problem for each field, by the names of the choice: `adults`, `nights`, `value`, `message`,
    `(options, <id>)`, `(categories, <id>)`, `(giftee, email)`.
    """
    raise NotImplementedError


@operation(Rule.CUSTOMER, transaction=False)
async def remove_line(call: Call, key: CheckoutKey, line_id: uuid.UUID) -> BagCheckout:
    """Take a line out of the bag. One that is not there is left out already."""
    raise NotImplementedError


@operation(Rule.CUSTOMER, transaction=False)
async def choose_reception(
    call: Call, key: CheckoutKey, mode: ReceptionMode, delivery_id: int | None = None, country: str = ""
) -> BagCheckout:
    """Keep how the bag reaches its recipients. `country` prices what goes by post to the buyer before the address is known.

    InvalidInput on `reception` for a way that the shop does not offer.
    """
    raise NotImplementedError

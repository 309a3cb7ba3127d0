"""A basket that a browser has filled is taken into the order of a cart."""

from dataclasses import replace

from resolvers.checkout.basket import add_line, load_open_session
from resolvers.checkout.session import CheckoutSession
from resolvers.checkout.steps import MOST_CODES, change_customer, load_session
from resolvers.core.operation import Call, operation
from schema.checkout.checkout import CheckoutKey
from schema.checkout.view import Checkout
from schema.core.errors import CartNotFound, CheckoutChanged, PartnerInactive
from schema.core.permission import AccessRule
from store.checkout.customer_state import CustomerSession
from store.checkout.reading import lock_checkout, session_digest
from store.database.transaction_reader import TransactionReader
from store.payment.attempts import UNSETTLED


@operation(AccessRule.CUSTOMER, transaction=False)
async def find_movable_basket(call: Call, basket: CheckoutKey) -> Checkout | None:
    """This browser's basket, if it has lines and no payment of it is open; else None."""
    try:
        session = await load_session(call, call.services.db, basket)
    except (CartNotFound, PartnerInactive):
        return None
    return await session.view(call, call.services.db) if session.edits.lines and not _is_unsettled(session) else None


@operation(AccessRule.CUSTOMER, transaction=False)
async def move_basket(call: Call, key: CheckoutKey, basket: CheckoutKey) -> Checkout:
    """Move the lines and codes of this browser's basket to its cart, each line with its way of reception. No effect for a
    basket without lines.

    Raises CheckoutChanged for a basket of which a payment is open, so that nothing is paid twice, CartNotFound for one that
    is ordered, and InvalidInput at `items` or `quantity` if there is no room.
    """
    async with call.services.db.sessions() as db, db.begin():
        await lock_checkout(db, basket.cart_id, session_digest(basket.session_id))
        reader = TransactionReader(call.services.db, db)
        session, source = await load_session(call, reader, key), await load_session(call, reader, basket)
        if _is_unsettled(source):
            raise CheckoutChanged

        def change(customer: CustomerSession) -> None:
            edits, moved = session.edits_in(customer), source.edits_in(customer)
            for id, choice in moved.lines.items():
                add_line(edits, id, replace(choice, reception=choice.reception or moved.reception))
            edits.reception = edits.reception or moved.reception
            edits.codes += [code for code in moved.codes if code not in edits.codes][: MOST_CODES - len(edits.codes)]
            del customer.bags[basket.cart_id]

        customer = await change_customer(call, session, change)
    moved = await load_open_session(call, call.services.db, key, customer)
    return await moved.view(call, call.services.db)


def _is_unsettled(session: CheckoutSession) -> bool:
    """Whether a payment of it could still be paid, even one that was given up."""
    return session.attempt is not None and session.attempt.state in UNSETTLED

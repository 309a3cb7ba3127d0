"""Emits one event for each expired cart."""

import uuid
from collections.abc import Sequence

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.services import Services
from schema.core.errors import Unavailable
from store.cart.carts import ExpiredCart
from store.database.loaders import is_any_of
from store.order.events import emit_cart_expired
from store.partner.partners import PartnerRow
from store.payment.attempts import LIVE, AttemptRow, AttemptState

log = structlog.get_logger(__name__)
BATCH_SIZE = 50
"""Carts per transaction; each may have many items."""
UNDECIDED = (*LIVE, AttemptState.ABANDONED)


async def emit_expired_carts(services: Services) -> int:
    """Emit an event for each cart that has expired since the last run; returns the number of carts handled.

    A cart is acknowledged after the commit. After a crash in between, the next run emits the same event again, and it
    is stored once.
    """
    async with services.db.sessions() as db:
        partners = (await db.exec(select(PartnerRow.id).order_by(col(PartnerRow.id)))).all()
    count = 0
    for partner_id in partners:
        try:
            count += await _emit_for_partner(services, partner_id)
        except Unavailable as error:
            log.warning("expired carts could not be read", error=str(error))
            break
        except Exception:  # a failure for one partner must not block the others
            log.exception("cart.expired events could not be emitted", partner=partner_id)
    return count


async def _emit_for_partner(services: Services, partner_id: int) -> int:
    count = undecided = 0
    while carts := await services.carts.expired(partner_id, limit=BATCH_SIZE, skip=undecided):
        async with services.db.sessions() as db, db.begin():
            states = await _payment_states(db, partner_id, carts)
            waiting = [cart for cart in carts if not states[cart.id].isdisjoint(UNDECIDED)]
            done = [cart for cart in carts if cart not in waiting]
            for cart in done:
                if AttemptState.COMPLETED not in states[cart.id]:
                    await emit_cart_expired(db, partner_id, cart)
        await services.carts.acknowledge(partner_id, done)
        count, undecided = count + len(done), undecided + len(waiting)
    return count


async def _payment_states(
    db: AsyncSession, partner_id: int, carts: Sequence[ExpiredCart]
) -> dict[uuid.UUID, set[AttemptState]]:
    """The states of the payment attempts for these carts, at their last version.

    While a payment is undecided, the cart may still become an order. A cart with an order has not expired.
    """
    written = {cart.id: cart.last_modified for cart in carts}
    states: dict[uuid.UUID, set[AttemptState]] = {cart.id: set() for cart in carts}
    query = select(AttemptRow.cart_id, AttemptRow.cart_last_modified, AttemptRow.state)
    query = query.where(col(AttemptRow.partner_id) == partner_id, is_any_of(col(AttemptRow.cart_id), list(written)))
    for cart_id, last_modified, state in await db.exec(query):
        if last_modified == written[cart_id]:
            states[cart_id].add(AttemptState(state))
    return states

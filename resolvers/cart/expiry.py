"""Tells shops of carts that have expired, each once."""

import uuid
from collections.abc import Sequence

import structlog
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.core.context import Services
from schema.checkout.checkout import ShopKind
from schema.core.errors import Unavailable
from store.cart.carts import ExpiredCart
from store.database.loaders import among
from store.order.events import tell_of_expiry
from store.partner.partners import PartnerRow
from store.payment import LIVE, AttemptRow, AttemptState

log = structlog.get_logger(__name__)
AT_ONCE = 50
"""Carts told of in one transaction; each may hold many items."""
UNDECIDED = (*LIVE, AttemptState.ABANDONED)


async def tell_expired(services: Services) -> int:
    """Tell of the carts that have expired since the last time; answers how many were seen to.

    A cart is crossed off after the commit. Whoever dies in between is followed by somebody who tells of it again, which is
    the same event.
    """
    async with services.db.sessions() as db:
        partners = (await db.exec(select(PartnerRow.id).order_by(col(PartnerRow.id)))).all()
    count = 0
    for partner_id in partners:
        try:
            count += await _tell_of_partner(services, partner_id)
        except Unavailable as error:
            log.warning("expired carts could not be read", error=str(error))
            break
        except Exception:  # the carts of other partners do not wait for those of one
            log.exception("expired carts could not be told", partner=partner_id)
    return count


async def _tell_of_partner(services: Services, partner_id: int) -> int:
    count = undecided = 0
    while carts := await services.carts.expired(partner_id, most=AT_ONCE, skip=undecided):
        async with services.db.sessions() as db, db.begin():
            states = await _payments(db, partner_id, carts)
            waiting = [cart for cart in carts if not states[cart.id].isdisjoint(UNDECIDED)]
            done = [cart for cart in carts if cart not in waiting]
            for cart in done:
                if AttemptState.COMPLETED not in states[cart.id]:
                    await tell_of_expiry(db, partner_id, cart)
        await services.carts.cross_off(partner_id, done)
        count, undecided = count + len(done), undecided + len(waiting)
    return count


async def _payments(
    db: AsyncSession, partner_id: int, carts: Sequence[ExpiredCart]
) -> dict[uuid.UUID, set[AttemptState]]:
    """How the payments stand that customers began for these carts, as they were last written.

    While one is undecided, the cart may still become an order; once there is an order, the cart has not expired.
    """
    written = {cart.id: cart.last_modified for cart in carts}
    states: dict[uuid.UUID, set[AttemptState]] = {cart.id: set() for cart in carts}
    query = select(AttemptRow.cart_id, AttemptRow.cart_last_modified, AttemptRow.state)
    query = query.where(col(AttemptRow.partner_id) == partner_id, col(AttemptRow.kind) == ShopKind.PRODUCTS)
    query = query.where(among(col(AttemptRow.cart_id), list(written)))
    for cart_id, last_modified, state in await db.exec(query):
        if last_modified == written[cart_id]:
            states[cart_id].add(AttemptState(state))
    return states

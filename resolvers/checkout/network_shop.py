"""What a shop sells of its network, for its customers: the window, and one box."""

from sqlmodel.ext.asyncio.session import AsyncSession

from resolvers.checkout.steps import partner_of
from resolvers.core.operation import Call, operation
from resolvers.partner.selling import require_selling
from schema.checkout.network_offer import NetworkWindow, OfferedBox
from schema.core.errors import NotFound
from schema.core.permission import AccessRule
from schema.validation.numbers import LARGEST_ID
from store.checkout.network_offers import (
    NetworkShop,
    load_box,
    load_boxes,
    load_cards_of_design,
    load_network_cards,
    load_network_shop,
)


@operation(AccessRule.CUSTOMER, transaction=False)
async def open_network_shop(call: Call) -> NetworkWindow:
    """The gift cards and boxes of its network that the shop sells. Raises NotFound if it sells none, PartnerInactive if
    the partner may not sell.
    """
    async with call.services.db.read_sessions() as db:
        shop = await _network_shop(call, db)
        return NetworkWindow(
            currency=shop.currency,
            cards=await load_network_cards(db, shop),
            boxes=tuple((await load_boxes(db, shop)).values()),
        )


@operation(AccessRule.CUSTOMER, transaction=False)
async def open_box(call: Call, box_id: int) -> OfferedBox:
    """A box as sold in the shop. Raises NotFound if it is not on sale, PartnerInactive if the partner may not sell."""
    async with call.services.db.read_sessions() as db:
        box = await find_sold_box(db, await _network_shop(call, db), box_id)
    if box is None:
        raise NotFound(thing="box")
    return box


@operation(AccessRule.CUSTOMER, transaction=False)
async def preview_box(call: Call, box_id: int) -> NetworkWindow:
    """The window of the shop with this box only, on sale or not. Raises NotFound for an unknown box, and for customers."""
    if not call.caller.is_preview:
        raise NotFound(thing="box")
    async with call.services.db.read_sessions() as db:
        shop = await load_network_shop(db, partner_of(call))
        box = await load_box(db, shop, box_id)
    if box is None:
        raise NotFound(thing="box")
    return NetworkWindow(currency=shop.currency, cards=None, boxes=(box,))


@operation(AccessRule.CUSTOMER, transaction=False)
async def preview_network_design(call: Call, design_id: int) -> NetworkWindow:
    """The window of the shop with gift cards of this design only, on sale or not. Raises NotFound for an unknown design, and
    for customers.
    """
    async with call.services.db.read_sessions() as db:
        shop = await load_network_shop(db, partner_of(call))
        cards = await load_cards_of_design(db, shop, design_id)
    if not cards.designs or not call.caller.is_preview:
        raise NotFound(thing="preview")
    return NetworkWindow(currency=shop.currency, cards=cards, boxes=())


async def _network_shop(call: Call, db: AsyncSession) -> NetworkShop:
    await require_selling(call.services, db, partner_of(call))
    shop = await load_network_shop(db, partner_of(call))
    if not shop.sells_anything:
        raise NotFound(thing="shop of the network")
    return shop


async def find_sold_box(db: AsyncSession, shop: NetworkShop, box_id: int) -> OfferedBox | None:
    """The box, if the shop sells it; else None."""
    if not 0 < box_id <= LARGEST_ID:
        return None
    return (await load_boxes(db, shop, [box_id])).get(box_id)

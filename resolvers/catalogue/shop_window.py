"""The window of a shop of experiences, where its customers begin."""

from zoneinfo import ZoneInfo

from resolvers.checkout.steps import partner_of
from resolvers.core.operation import Call, operation
from resolvers.partner.selling import require_selling
from schema.catalogue.shop_window import ShopWindow, WindowChoice
from schema.core.errors import NotFound
from schema.core.permission import Rule
from store.catalogue.shop_window import load_window
from store.partner.partners import MarketplaceRow


@operation(Rule.CUSTOMER, transaction=False)
async def look_at_window(call: Call, wanted: WindowChoice) -> ShopWindow:
    """Show what the shop sells today, as far as it is wanted, a page at a time.

    What nothing on sale has is not looked for, and a page that is not there is the last: links may be old. Raises
    PartnerInactive where the partner does not sell.
    """
    partner_id = partner_of(call)
    async with call.services.db.sessions() as db:
        marketplace = await db.get(MarketplaceRow, call.caller.marketplace_id)
        if marketplace is None:
            raise NotFound(thing="shop")
        await require_selling(call.services, db, partner_id)
        today = call.services.clock.now().astimezone(ZoneInfo(marketplace.time_zone)).date()
        return await load_window(db, marketplace, partner_id, today, wanted)

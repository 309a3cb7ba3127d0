"""The start page of a voucher shop."""

from zoneinfo import ZoneInfo

from resolvers.checkout.steps import partner_of
from resolvers.core.operation import Call, operation
from resolvers.partner.selling import require_open_shop
from schema.catalogue.catalogue_page import CataloguePage, CatalogueQuery
from schema.core.errors import NotFound
from schema.core.permission import AccessRule
from store.catalogue.catalogue_page import load_catalogue_page
from store.partner.partners import MarketplaceRow


@operation(AccessRule.CUSTOMER, transaction=False)
async def get_catalogue_page(call: Call, query: CatalogueQuery) -> CataloguePage:
    """A page of the prototypes on sale today that match the query.

    Filters that match nothing on sale are ignored, and a page beyond the end is the last page, because links may be
    old. Raises PartnerInactive if the partner may not sell.
    """
    partner_id = partner_of(call)
    async with call.services.db.sessions() as db:
        marketplace = await db.get(MarketplaceRow, call.caller.marketplace_id)
        if marketplace is None:
            raise NotFound(thing="shop")
        await require_open_shop(call, db, partner_id)
        today = call.services.clock.now().astimezone(ZoneInfo(marketplace.time_zone)).date()
        return await load_catalogue_page(db, marketplace, partner_id, today, query)

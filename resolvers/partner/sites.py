"""Maps a host to the shop whose checkout it serves."""

from dataclasses import dataclass

from sqlmodel import col, select

from schema.checkout.checkout import Brand
from store.database.db import Database
from store.partner.brand import brand_of
from store.partner.partners import MarketplaceRow, PartnerRow


@dataclass(frozen=True, slots=True)
class Shop:
    """The shop at a host: the partner's data that its pages need. `host` includes the port, if any."""

    partner_id: int
    marketplace_id: int
    host: str
    brand: Brand
    country: str
    """ISO 3166 code of the partner's country; may be empty."""
    time_zone: str
    sells_gift_cards: bool


async def shop_at(db: Database, host: str) -> Shop | None:
    """The shop whose checkout is served at a host; None for an unknown host."""
    query = (
        select(PartnerRow, MarketplaceRow)
        .join(MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id))
        .where(col(PartnerRow.site_domain) == host.lower())
    )
    async with db.sessions() as session:
        row = (await session.exec(query)).first()
    if row is None:
        return None
    partner, marketplace = row
    return Shop(
        partner_id=partner.id,
        marketplace_id=marketplace.id,
        host=partner.site_domain,
        brand=brand_of(partner),
        country=partner.hq_country_code,
        time_zone=marketplace.time_zone,
        sells_gift_cards=partner.gift_card_offer_enabled,
    )

"""Whose checkout a host is."""

from dataclasses import dataclass

from sqlmodel import col, select

from schema.checkout.checkout import Brand
from store.database.db import Database
from store.partner.brand import brand_of
from store.partner.partners import MarketplaceRow, PartnerRow


@dataclass(frozen=True, slots=True)
class Shop:
    """The partner that a host belongs to, as its pages need it. `host` has a port where there is one."""

    partner_id: int
    marketplace_id: int
    host: str
    brand: Brand
    country: str
    """Where the partner is, ISO 3166; may be empty."""
    time_zone: str
    sells_gift_cards: bool


async def shop_at(db: Database, host: str) -> Shop | None:
    """The shop whose checkout is served at a host; None for a host that is nobody's."""
    query = (
        select(PartnerRow, MarketplaceRow)
        .join(MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id))
        .where(col(PartnerRow.site_domain) == host.lower())
    )
    async with db.sessions() as session:
        found = (await session.exec(query)).first()
    if found is None:
        return None
    partner, marketplace = found
    return Shop(
        partner_id=partner.id,
        marketplace_id=marketplace.id,
        host=partner.site_domain,
        brand=brand_of(partner),
        country=partner.hq_country_code,
        time_zone=marketplace.time_zone,
        sells_gift_cards=partner.gift_card_offer_enabled,
    )

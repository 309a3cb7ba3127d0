"""Maps a host to the shop whose checkout it serves."""

import datetime as dt
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy import ColumnElement, Date, DateTime, bindparam, cast, exists, func, literal_column, select
from sqlmodel import col

from schema.checkout.brand import Brand
from schema.core.text import Text
from schema.theme import BrandTheme, CornerRadius, HeadingFont, StartPage
from store.catalogue.catalogue import VoucherPrototypeRow
from store.catalogue.offers import on_sale_condition
from store.core.brand_colours import build_brand
from store.core.clock import clock
from store.database.db import Database
from store.database.loaders import column
from store.database.statement_cache import Condition, Statement
from store.partner.partners import LEGAL_LINKS, MarketplaceRow, PartnerRow


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
    sells_experiences: bool
    """True if an experience is on sale today."""
    is_network_shop: bool
    """True for the shop where the network itself sells its gift cards and boxes."""
    start_page: StartPage
    """What its start page shows at its top."""


async def shop_at(db: Database, host: str) -> Shop | None:
    """The shop whose checkout is served at a host; None for an unknown host."""
    return await _find_shop(db, Condition.equal(column(PartnerRow, "site_domain"), host.lower()))


async def shop_of(db: Database, partner_uuid: UUID) -> Shop | None:
    """The shop of a partner, with an empty host if it has none; None for an unknown partner."""
    return await _find_shop(db, Condition.equal(column(PartnerRow, "uuid"), partner_uuid))


async def network_shop_of(db: Database, marketplace_uuid: UUID) -> Shop | None:
    """The shop of a network itself; None if it has none."""
    of_network = Condition.equal(column(MarketplaceRow, "uuid"), marketplace_uuid)
    return await _find_shop(db, of_network, Condition.equal(column(PartnerRow, "is_network_shop"), value=True))


async def network_seller_of(db: Database, marketplace_uuid: UUID) -> Shop | None:
    """The shop of a network itself, else that of any of its partners; None if it has none."""
    return await _find_shop(db, Condition.equal(column(MarketplaceRow, "uuid"), marketplace_uuid))


async def _find_shop(db: Database, *conditions: Condition) -> Shop | None:
    """The shop that meets the conditions; of several, that of the network itself first."""
    rows = await db.statements.rows("shop", _shop_statement, {"now": clock.now()}, conditions)
    if not rows:
        return None
    (
        partner_id,
        marketplace_id,
        host,
        country,
        sells_gift_cards,
        sells_experiences,
        is_network_shop,
        time_zone,
        name,
        accent_colour,
        *more,
    ) = rows[0]
    logo_url, website, email, phone, legal, font, radius, tint, hero, headline = more
    brand = build_brand(
        name,
        accent_colour,
        logo_url=logo_url,
        website=website,
        email=email,
        phone=phone,
        legal=LEGAL_LINKS.read(legal),
        theme=BrandTheme(HeadingFont(font), CornerRadius(radius), tint),
    )
    sold = sells_gift_cards, sells_experiences
    start_page = StartPage(hero_picture_url=hero, headline=Text(**headline))
    return Shop(partner_id, marketplace_id, host, brand, country, time_zone, *sold, is_network_shop, start_page)


def _shop_statement(*conditions: ColumnElement[bool]) -> Statement:
    """The columns of a shop in the order in which `shop_at` reads them."""
    columns: tuple[Any, ...] = (
        *(PartnerRow.id, PartnerRow.marketplace_id, PartnerRow.site_domain, PartnerRow.hq_country_code),
        *(PartnerRow.gift_card_offer_enabled, _sells_experiences(), PartnerRow.is_network_shop),
        MarketplaceRow.time_zone,
        *(PartnerRow.commercial_name, PartnerRow.accent_colour, PartnerRow.logo_url, PartnerRow.website),
        *(PartnerRow.agency_email, PartnerRow.agency_phone, PartnerRow.legal_links),
        *(PartnerRow.heading_font, PartnerRow.corner_radius, PartnerRow.page_tint),
        *(PartnerRow.hero_picture_url, PartnerRow.headline),
    )
    return (
        select(*columns)
        .join(MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id))
        .where(*conditions)
        .order_by(col(PartnerRow.is_network_shop).desc(), col(PartnerRow.id))
        .limit(literal_column("1"))
    )


def _sells_experiences() -> ColumnElement[bool]:
    """Whether a prototype of the partner is on sale `now`, in the time zone of its marketplace."""
    now = bindparam("now", type_=DateTime(timezone=True))
    today: ColumnElement[dt.date] = cast(func.timezone(MarketplaceRow.time_zone, now), Date)
    table = VoucherPrototypeRow
    return exists().where(col(table.partner_id) == col(PartnerRow.id), on_sale_condition(today))

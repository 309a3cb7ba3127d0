"""Reads what the public pages of a shop show besides its prototypes."""

import datetime as dt
from collections.abc import Sequence
from typing import Any

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.experience_page import ExperienceEntry, ShopPlace
from schema.core.text import Text
from store.catalogue.catalogue import EnvironmentRow, VoucherPrototypeRow
from store.catalogue.offers import on_sale_condition
from store.partner.partners import PartnerRow

MOST_ENTRIES = 5000
"""An entry of the sitemap, with its address in each language, has about 1.4 kB."""


async def load_environment(db: AsyncSession, prototype_id: int) -> Text | None:
    """The name of a prototype's environment; None without one."""
    query = select(col(EnvironmentRow.name)).join(
        VoucherPrototypeRow, col(VoucherPrototypeRow.environment_id) == col(EnvironmentRow.id)
    )
    name: Text | None = (await db.exec(query.where(col(VoucherPrototypeRow.id) == prototype_id))).first()
    return name


async def load_place(db: AsyncSession, partner_id: int) -> ShopPlace:
    """The address of a partner's head office."""
    partner = PartnerRow
    names = ("hq_address_line_1", "hq_address_line_2", "hq_postal_code", "hq_city", "hq_country_code")
    columns: list[Any] = [getattr(partner, name) for name in names]
    query = select(*columns).where(col(partner.id) == partner_id)
    return ShopPlace(*(await db.exec(query)).one())


async def load_entries(db: AsyncSession, partner_id: int, today: dt.date) -> Sequence[ExperienceEntry]:
    """A partner's prototypes on sale, in the shop's order."""
    table = VoucherPrototypeRow
    query = (
        select(table.slug, table.updated_on)
        .where(col(table.partner_id) == partner_id, on_sale_condition(today))
        .order_by(col(table.is_highlight).desc(), col(table.ranking), col(table.id))
        .limit(MOST_ENTRIES)
    )
    return [ExperienceEntry(slug, updated_on) for slug, updated_on in await db.exec(query)]


async def sells_experiences(db: AsyncSession, partner_id: int, today: dt.date) -> bool:
    """True if a prototype of the partner is on sale."""
    table = VoucherPrototypeRow
    query = select(table.id).where(col(table.partner_id) == partner_id, on_sale_condition(today)).limit(1)
    return (await db.exec(query)).first() is not None


async def slug_of_prototype(db: AsyncSession, partner_id: int, prototype_id: int) -> str | None:
    """The slug of a partner's prototype; None if it has none with this id."""
    table = VoucherPrototypeRow
    query = select(table.slug).where(col(table.partner_id) == partner_id, col(table.id) == prototype_id)
    return (await db.exec(query)).first()

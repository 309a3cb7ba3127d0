"""The large demo partner: its log-in, its catalogue, and what its vouchers are drawn from."""

import dataclasses
import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from coffret.demo.catalogue_content import load_catalogue, load_sortings
from coffret.demo.catalogue_rows import Sortings, lay_catalogue
from coffret.demo.content import PARTNERS
from coffret.demo.seed import PASSWORD
from schema.catalogue.prototype import VoucherPrototypeType
from schema.coupon.coupon import CouponTarget
from schema.partner.partner import PartnerStatus, UserRole
from store.account.credentials import hashed
from store.catalogue.catalogue import (
    EnvironmentRow,
    UniverseRow,
    VoucherOptionLinkRow,
    VoucherOptionRow,
    VoucherPrototypeRow,
)
from store.catalogue.prices import Party, Rates, fewest_nights, nights_of, party_problems, rent_price
from store.core.files import open_store
from store.core.settings import Settings
from store.coupon.coupons import CouponRow
from store.partner.creation import with_port
from store.partner.partners import PartnerRow, UserRow
from store.voucher.activation import zone_of

USERNAME = "large@demo.localhost"
HOST = "large.demo.localhost"
COUPONS: Mapping[str, Decimal] = {"WEEKEND10": Decimal(10), "LOYAL15": Decimal(15), "STAFF30": Decimal(30)}
"""Codes, and the per cent that they take off."""
PARTIES = tuple(Party(adults, children) for adults in (1, 2, 2, 2, 3, 4) for children in (0, 0, 1, 2))
"""Who comes; what stands here more often comes more often."""


@dataclass(frozen=True)
class Sale:
    """What a prototype costs one party."""

    party: Party
    nights: int
    rent: Decimal


@dataclass(frozen=True)
class Sold:
    """A prototype with all that is drawn from: what comes with it, what can be added, who can buy it at which price."""

    row: VoucherPrototypeRow
    included: Sequence[tuple[VoucherOptionRow, int]]
    offered: Sequence[VoucherOptionRow]
    sales: Sequence[Sale]


@dataclass(frozen=True)
class Shelf:
    """What vouchers are drawn from."""

    partner_id: int
    zone: ZoneInfo
    sold: Sequence[Sold]
    coupons: Sequence[CouponRow]


async def large_partner(db: AsyncSession, marketplace_id: int, settings: Settings, now: dt.datetime) -> PartnerRow:
    """The large partner of the demo data, with its log-in and its catalogue; laid where it is not there yet."""
    query = select(PartnerRow).join(UserRow, col(UserRow.partner_id) == col(PartnerRow.id))
    found = (await db.exec(query.where(col(UserRow.username) == USERNAME))).first()
    return found or await _lay(db, marketplace_id, settings, now)


async def _lay(db: AsyncSession, marketplace_id: int, settings: Settings, now: dt.datetime) -> PartnerRow:
    partner = PartnerRow(
        marketplace_id=marketplace_id,
        source_id="large",
        status=PartnerStatus.ACTIVE,
        name="Grande Escapade",
        commercial_name="Grande Escapade",
        short_name="escapade",
        site_domain=with_port(HOST, settings),
        agency_email="hello@grande-escapade.example",
        language="fr",
    )
    db.add(partner)
    await db.flush()
    user: dict[str, Any] = {"username": USERNAME, "email": USERNAME, "first_name": "Large", "role": UserRole.PARTNER}
    db.add(UserRow(**user, partner_id=partner.id, password_hash=await hashed(PASSWORD)))
    db.add_all(
        CouponRow(
            partner_id=partner.id, code=code, normal_code=code, discount_percentage=off, targets=[CouponTarget.VOUCHERS]
        )
        for code, off in COUPONS.items()
    )
    sortings, files = await _sortings(db, marketplace_id), open_store(settings)
    for key in PARTNERS:
        catalogue = dataclasses.replace(load_catalogue(key), vouchers=())
        await lay_catalogue(db, files, partner, sortings, catalogue, now)
    return partner


async def _sortings(db: AsyncSession, marketplace_id: int) -> Sortings:
    """The universes and environments of the demo data, found by what they are called in English."""
    content = load_sortings()
    found = []
    kinds: Any = (UniverseRow, EnvironmentRow)
    for kind, several in zip(kinds, (content.universes, content.environments), strict=True):
        rows = (await db.exec(select(kind).where(col(kind.marketplace_id) == marketplace_id))).all()
        ids = {row.name.en: row.id for row in rows}
        found.append({each.key: ids[each.name["en"]] for each in several})
    return Sortings(*found)


async def shelf_of(db: AsyncSession, partner: PartnerRow) -> Shelf:
    """What is there of the partner to draw vouchers from."""
    prototypes = await _of(db, VoucherPrototypeRow, partner.id)
    options = {row.id: row for row in await _of(db, VoucherOptionRow, partner.id)}
    links = await _of(db, VoucherOptionLinkRow, partner.id)
    everywhere = [row for row in options.values() if row.is_global]
    sold = []
    for row in prototypes:
        own = [link for link in links if link.voucher_prototype_id == row.id]
        included = [(options[link.option_id], link.count) for link in own if link.included]
        offered = [options[link.option_id] for link in own if not link.included]
        sold.append(Sold(row, included, [*offered, *everywhere], _sales(row)))
    return Shelf(partner.id, await zone_of(db, partner.id), sold, await _of(db, CouponRow, partner.id))


async def _of(db: AsyncSession, kind: Any, partner_id: int) -> Sequence[Any]:
    return (await db.exec(select(kind).where(col(kind.partner_id) == partner_id).order_by(col(kind.id)))).all()


def _sales(row: VoucherPrototypeRow) -> list[Sale]:
    """Each party that a prototype can be bought for, with what it costs."""
    rates = Rates.of(row)
    longer = (0, 0, 1, 2) if row.type is VoucherPrototypeType.STAY else (0,)
    parties = [dataclasses.replace(party, nights=fewest_nights(row) + more) for party in PARTIES for more in longer]
    return [
        Sale(party, nights_of(row, party), rent_price(row, rates, party))
        for party in parties
        if not party_problems(row, rates, party)
    ]

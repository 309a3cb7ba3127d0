"""The large demo partner: its log-in, its catalogue, and the source rows for its vouchers."""

import dataclasses
import datetime as dt
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from coffret.demo.catalogue_content import load_catalogue, load_taxonomy
from coffret.demo.catalogue_rows import TaxonomyIds, insert_catalogue
from coffret.demo.content import PARTNERS
from coffret.demo.users import LARGE_PARTNER_USER, PASSWORD
from schema.account.user import UserRole
from schema.catalogue.prototype import VoucherPrototypeType
from schema.coupon.coupon import CouponTarget
from schema.partner.partner import PartnerStatus
from store.account.credentials import hash_password
from store.account.users import UserRow
from store.catalogue.catalogue import (
    EnvironmentRow,
    UniverseRow,
    VoucherOptionLinkRow,
    VoucherOptionRow,
    VoucherPrototypeRow,
)
from store.catalogue.prices import Party, PrototypeRates, fewest_nights, nights_of, party_problems, rent_price
from store.core.files import open_store
from store.core.settings import Settings
from store.coupon.coupons import CouponRow
from store.partner.creation import with_port_of
from store.partner.partners import PartnerRow
from store.voucher.payment import zone_of

HOST = "large.demo.localhost"
COUPONS: Mapping[str, Decimal] = {"WEEKEND10": Decimal(10), "LOYAL15": Decimal(15), "STAFF30": Decimal(30)}
"""Codes with their discount in percent."""
PARTIES = tuple(Party(adults, children) for adults in (1, 2, 2, 2, 3, 4) for children in (0, 0, 1, 2))
"""Parties to choose from. Repeated ones are more frequent."""


@dataclass(frozen=True)
class PartyPrice:
    """The price of a prototype for one party."""

    party: Party
    nights: int
    rent: Decimal


@dataclass(frozen=True)
class PurchasablePrototype:
    """A prototype with its included options, its offered options, and the prices of all possible parties."""

    row: VoucherPrototypeRow
    included: Sequence[tuple[VoucherOptionRow, int]]
    offered: Sequence[VoucherOptionRow]
    party_prices: Sequence[PartyPrice]


@dataclass(frozen=True)
class LargeCatalogue:
    """The rows that vouchers are generated from."""

    partner_id: int
    zone: ZoneInfo
    prototypes: Sequence[PurchasablePrototype]
    coupons: Sequence[CouponRow]


async def get_or_create_partner(
    db: AsyncSession, marketplace_id: int, settings: Settings, now: dt.datetime
) -> PartnerRow:
    """The large partner of the demo data. Created with its log-in and catalogue if it does not exist."""
    query = select(PartnerRow).join(UserRow, col(UserRow.partner_id) == col(PartnerRow.id))
    found = (await db.exec(query.where(col(UserRow.username) == LARGE_PARTNER_USER))).first()
    return found or await _create_partner(db, marketplace_id, settings, now)


async def _create_partner(db: AsyncSession, marketplace_id: int, settings: Settings, now: dt.datetime) -> PartnerRow:
    partner = PartnerRow(
        marketplace_id=marketplace_id,
        source_id="large",
        status=PartnerStatus.ACTIVE,
        name="Grande Escapade",
        commercial_name="Grande Escapade",
        short_name="escapade",
        site_domain=with_port_of(HOST, settings),
        agency_email="hello@grande-escapade.example",
        language="fr",
    )
    db.add(partner)
    await db.flush()
    user: dict[str, Any] = {
        "username": LARGE_PARTNER_USER,
        "email": LARGE_PARTNER_USER,
        "first_name": "Large",
        "role": UserRole.PARTNER,
    }
    db.add(UserRow(**user, partner_id=partner.id, password_hash=await hash_password(PASSWORD)))
    db.add_all(
        CouponRow(
            partner_id=partner.id, code=code, normal_code=code, discount_percentage=off, targets=[CouponTarget.VOUCHERS]
        )
        for code, off in COUPONS.items()
    )
    sortings, files = await _taxonomy_ids(db, marketplace_id), open_store(settings)
    for key in PARTNERS:
        catalogue = dataclasses.replace(load_catalogue(key), vouchers=())
        await insert_catalogue(db, files, partner, sortings, catalogue, now)
    return partner


async def _taxonomy_ids(db: AsyncSession, marketplace_id: int) -> TaxonomyIds:
    """The ids of the demo data's universes and environments, found by their English names."""
    content = load_taxonomy()
    found = []
    kinds: Any = (UniverseRow, EnvironmentRow)
    for kind, several in zip(kinds, (content.universes, content.environments), strict=True):
        rows = (await db.exec(select(kind).where(col(kind.marketplace_id) == marketplace_id))).all()
        ids = {row.name.en: row.id for row in rows}
        found.append({each.key: ids[each.name["en"]] for each in several})
    return TaxonomyIds(*found)


async def catalogue_of(db: AsyncSession, partner: PartnerRow) -> LargeCatalogue:
    """Load the partner's catalogue."""
    prototypes = await _rows_of(db, VoucherPrototypeRow, partner.id)
    options = {row.id: row for row in await _rows_of(db, VoucherOptionRow, partner.id)}
    links = await _rows_of(db, VoucherOptionLinkRow, partner.id)
    everywhere = [row for row in options.values() if row.is_global]
    sold = []
    for row in prototypes:
        own = [link for link in links if link.voucher_prototype_id == row.id]
        included = [(options[link.option_id], link.count) for link in own if link.included]
        offered = [options[link.option_id] for link in own if not link.included]
        sold.append(PurchasablePrototype(row, included, [*offered, *everywhere], _party_prices(row)))
    return LargeCatalogue(partner.id, await zone_of(db, partner.id), sold, await _rows_of(db, CouponRow, partner.id))


async def _rows_of(db: AsyncSession, kind: Any, partner_id: int) -> Sequence[Any]:
    return (await db.exec(select(kind).where(col(kind.partner_id) == partner_id).order_by(col(kind.id)))).all()


def _party_prices(row: VoucherPrototypeRow) -> list[PartyPrice]:
    """The prices of all parties that can buy the prototype."""
    rates = PrototypeRates.from_row(row)
    longer = (0, 0, 1, 2) if row.type is VoucherPrototypeType.STAY else (0,)
    parties = [dataclasses.replace(party, nights=fewest_nights(row) + more) for party in PARTIES for more in longer]
    return [
        PartyPrice(party, nights_of(row, party), rent_price(row, rates, party))
        for party in parties
        if not party_problems(row, rates, party)
    ]

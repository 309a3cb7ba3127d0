"""The partners that accept a gift card or voucher, with their offers for it: searched by name and place, in pages."""

import dataclasses
from collections import defaultdict
from collections.abc import Mapping, Sequence
from typing import Final

from sqlalchemy import ColumnElement, func, literal, true
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.network.holder import AcceptingPartner, AcceptingPartners, HolderOffer, PartnerSearch
from schema.partner.partner import PartnerStatus
from store.database.loaders import is_any_of
from store.database.text_search import like_pattern, normalized_sql
from store.gift_card.gift_cards import GiftCardRow
from store.network.boxes import BoxRow, OfferRow
from store.network.offers import is_accepted, is_admitted
from store.network.vouchers import NetworkVoucherRow
from store.partner.partners import PartnerRow

PAGE_SIZE: Final = 20
PLACE = (
    PartnerRow.hq_postal_code,
    PartnerRow.hq_city,
    PartnerRow.hq_region,
    PartnerRow.hq_address_line_1,
)


async def accepting_partners(
    db: AsyncSession, held: GiftCardRow | NetworkVoucherRow, search: PartnerSearch
) -> AcceptingPartners:
    """The page of the partners that accept it now and match a search, by name. A page beyond the end is the last one."""
    accepts = [*_accepts(held), _contains([PartnerRow.commercial_name], search.name), _contains(PLACE, search.place)]
    match_count = (await db.exec(select(func.count()).select_from(PartnerRow).where(*accepts))).one()
    pages = max(-(-match_count // PAGE_SIZE), 1)
    search = dataclasses.replace(search, page=min(max(search.page, 1), pages))
    query = (
        select(PartnerRow)
        .where(*accepts)
        .order_by(col(PartnerRow.commercial_name), col(PartnerRow.id))
        .limit(PAGE_SIZE)
        .offset((search.page - 1) * PAGE_SIZE)
    )
    rows = (await db.exec(query)).all()
    offers = await _offers(db, held, [row.id for row in rows]) if isinstance(held, NetworkVoucherRow) else {}
    partners = tuple(_partner(row, offers.get(row.id, ())) for row in rows)
    return AcceptingPartners(search, match_count, pages, partners)


def _accepts(held: GiftCardRow | NetworkVoucherRow) -> list[ColumnElement[bool]]:
    """The conditions on partners by which `check_accepts` and `accepts_vouchers_of` decide."""
    live = true() if held.is_test else col(PartnerRow.status) != PartnerStatus.TEST
    if isinstance(held, NetworkVoucherRow):
        offered = select(OfferRow.id).where(
            col(OfferRow.box_id) == held.box_id, col(OfferRow.partner_id) == col(PartnerRow.id), is_accepted()
        )
        admitted = select(BoxRow.id).where(col(BoxRow.id) == held.box_id, is_admitted())
        own = col(PartnerRow.marketplace_id) == held.marketplace_id
        return [own, live, offered.exists(), admitted.correlate(PartnerRow).exists()]
    return [
        col(PartnerRow.marketplace_id) == held.network_id,
        live,
        col(PartnerRow.linked_to_ngc_settings).is_(True),
        col(PartnerRow.status) != PartnerStatus.INACTIVE,
    ]


def _contains(columns: Sequence[str], term: str) -> ColumnElement[bool]:
    """The texts of these columns, in one line, contain a term, whatever the case and the accents."""
    if not term:
        return true()
    text = func.concat_ws(" ", *map(col, columns))
    condition: ColumnElement[bool] = normalized_sql(text).like(normalized_sql(literal(like_pattern(term))), escape="\\")
    return condition


async def _offers(
    db: AsyncSession, voucher: NetworkVoucherRow, partner_ids: Sequence[int]
) -> Mapping[int, list[HolderOffer]]:
    """The offers for a voucher by their partner, by ranking."""
    table = OfferRow
    query = select(table).where(
        col(table.box_id) == voucher.box_id, is_any_of(col(table.partner_id), partner_ids), is_accepted()
    )
    offers: defaultdict[int, list[HolderOffer]] = defaultdict(list)
    for row in await db.exec(query.order_by(col(table.ranking), col(table.id))):
        offers[row.partner_id].append(_offer(row))
    return offers


def only_partner(partner: PartnerRow, offer: OfferRow) -> AcceptingPartners:
    """A partner with one offer, as if there were no others."""
    return AcceptingPartners(PartnerSearch(), 1, 1, (_partner(partner, [_offer(offer)]),))


def _offer(row: OfferRow) -> HolderOffer:
    return HolderOffer(row.name, row.description, row.terms_of_use)


def _partner(row: PartnerRow, offers: Sequence[HolderOffer]) -> AcceptingPartner:
    return AcceptingPartner(
        id=row.id,
        name=row.commercial_name,
        address=row.hq_address_line_1,
        postal_code=row.hq_postal_code,
        city=row.hq_city,
        country_code=row.hq_country_code,
        website=row.website if row.website.startswith(("https://", "http://")) else "",
        phone=row.agency_phone,
        offers=tuple(offers),
    )

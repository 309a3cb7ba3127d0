"""What the holders of network vouchers can get: the texts of their box, and the offers for it that count."""

from collections import defaultdict
from collections.abc import Mapping, Sequence

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.text import Text
from schema.network.voucher import NetworkVoucherContent
from store.catalogue.catalogue import UniverseRow, VoucherPrototypeRow
from store.database.loaders import is_any_of
from store.network.boxes import BoxRow, OfferRow
from store.network.offers import is_accepted, is_admitted
from store.network.vouchers import NetworkVoucherRow
from store.partner.partners import PartnerRow

_Offers = Mapping[int, list[tuple[Text | None, list[str]]]]
"""By box: of each offer that counts the name of its universe, if it has one, and the tags of its partner."""


async def content_of(db: AsyncSession, voucher_ids: Sequence[int]) -> Mapping[int, NetworkVoucherContent]:
    """What vouchers are good for, each in its language, with two statements."""
    voucher = NetworkVoucherRow
    query = (
        select(voucher.id, voucher.language, BoxRow)
        .join(BoxRow, col(BoxRow.id) == col(voucher.box_id))
        .where(is_any_of(col(voucher.id), voucher_ids))
    )
    found = (await db.exec(query)).all()
    offers = await _offers_that_count(db, sorted({box.id for _, _, box in found}))
    return {
        id: NetworkVoucherContent(
            box_name=box.name.in_language(language),
            description=box.long_description.in_language(language),
            short_description=box.short_description.in_language(language),
            universes=[[universe.in_language(language)] if universe else [] for universe, _ in offers.get(box.id, ())],
            tags=[tags for _, tags in offers.get(box.id, ())],
        )
        for id, language, box in found
    }


async def _offers_that_count(db: AsyncSession, box_ids: Sequence[int]) -> _Offers:
    query = (
        select(OfferRow, UniverseRow, PartnerRow)
        .join(BoxRow, col(BoxRow.id) == col(OfferRow.box_id))
        .join(PartnerRow, col(PartnerRow.id) == col(OfferRow.partner_id))
        .outerjoin(VoucherPrototypeRow, col(VoucherPrototypeRow.id) == col(OfferRow.product_id))
        .outerjoin(UniverseRow, col(UniverseRow.id) == col(VoucherPrototypeRow.universe_id))
        .where(is_any_of(col(OfferRow.box_id), box_ids), is_accepted(), is_admitted())
        .order_by(col(OfferRow.box_id), col(OfferRow.ranking), col(OfferRow.id))
    )
    offers: defaultdict[int, list[tuple[Text | None, list[str]]]] = defaultdict(list)
    for offer, universe, partner in (await db.exec(query)).all():
        offers[offer.box_id].append((None if universe is None else universe.name, partner.tags))
    return offers

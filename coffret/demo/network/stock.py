"""What the demo network's sold gift cards and vouchers are drawn from."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from zoneinfo import ZoneInfo

from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.gift_card.designs import GiftCardDesignRow
from store.ledger.books import book_of_marketplace
from store.network.boxes import BoxRow, OfferRow
from store.network.fees import GIFT_CARD_USAGE, VOUCHER_USAGE, UsageTerms, fee_terms
from store.network.offers import is_accepted, is_admitted
from store.partner.partners import MarketplaceRow, PartnerRow


@dataclass(frozen=True)
class BoxOnSale:
    """A box, and where its vouchers are used: partner and offer."""

    row: BoxRow
    offers: Sequence[tuple[int, int]]


@dataclass(frozen=True)
class NetworkStock:
    """A network with its partners and boxes."""

    network: MarketplaceRow
    zone: ZoneInfo
    live_book: int
    test_book: int
    design_ids: Sequence[int]
    boxes: Sequence[BoxOnSale]
    card_terms: Mapping[int, UsageTerms]
    """The terms of usages of gift cards, by partner."""
    voucher_terms: Mapping[int, UsageTerms]
    """The same of vouchers."""

    def book(self, *, is_test: bool) -> int:
        return self.test_book if is_test else self.live_book


async def load_stock(db: AsyncSession, network: MarketplaceRow) -> NetworkStock:
    """Load the partners, designs and boxes of a network, and open its books."""
    live, test = [await book_of_marketplace(db, network.id, is_live=is_live) for is_live in (True, False)]
    of_network = col(PartnerRow.marketplace_id) == network.id
    partners = (await db.exec(select(PartnerRow).where(of_network).order_by(col(PartnerRow.id)))).all()
    designs = select(GiftCardDesignRow.id).where(
        col(GiftCardDesignRow.marketplace_id) == network.id, col(GiftCardDesignRow.partner_id).is_(None)
    )
    cards, vouchers = [
        {
            row.id: await fee_terms(db, network, row.id, product)
            for row in partners
            if (row.linked_to_ngc_settings if product == GIFT_CARD_USAGE else row.linked_to_nv_settings)
        }
        for product in (GIFT_CARD_USAGE, VOUCHER_USAGE)
    ]
    return NetworkStock(
        network=network,
        zone=ZoneInfo(network.time_zone),
        live_book=live,
        test_book=test,
        design_ids=(await db.exec(designs.order_by(col(GiftCardDesignRow.id)))).all(),
        boxes=await _boxes(db, network),
        card_terms=cards,
        voucher_terms=vouchers,
    )


async def _boxes(db: AsyncSession, network: MarketplaceRow) -> Sequence[BoxOnSale]:
    """The boxes that a partner accepts."""
    offers = (
        select(OfferRow.box_id, OfferRow.partner_id, OfferRow.id)
        .join(BoxRow, col(BoxRow.id) == col(OfferRow.box_id))
        .join(PartnerRow, col(PartnerRow.id) == col(OfferRow.partner_id))
        .where(col(OfferRow.marketplace_id) == network.id, is_accepted(), is_admitted())
        .order_by(col(OfferRow.id))
    )
    accepted: dict[int, list[tuple[int, int]]] = {}
    for box_id, partner_id, offer_id in await db.exec(offers):
        accepted.setdefault(box_id, []).append((partner_id, offer_id))
    rows = await db.exec(select(BoxRow).where(col(BoxRow.id).in_(accepted)).order_by(col(BoxRow.id)))
    return [BoxOnSale(row, accepted[row.id]) for row in rows]

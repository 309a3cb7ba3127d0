"""The gift cards and boxes of its network that a shop offers, with designs and pictures."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Protocol

from sqlalchemy import distinct, func
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.gift_card_offer import OfferedGiftCards
from schema.checkout.network_offer import OfferedBox
from schema.media import ResponsivePicture
from store.checkout.designs import load_designs
from store.database.loaders import is_any_of
from store.gift_card.designs import GiftCardDesignRow, designs_of_network, of_network
from store.media.media import MediaRow
from store.network.boxes import BoxImageRow, BoxRow, OfferRow
from store.network.offers import is_accepted, is_admitted
from store.partner.partners import MarketplaceRow, PartnerRow

MOST_BOXES = 200
"""How many boxes a shop shows."""


@dataclass(frozen=True, slots=True)
class NetworkShop:
    """What a shop may sell of its network."""

    marketplace_id: int
    is_own: bool
    """True for the network's own shop, whose coupons apply."""
    sells_gift_cards: bool
    sells_boxes: bool
    suggested: tuple[Decimal, ...]
    minimum: Decimal
    maximum: Decimal
    validity_months: int
    """The validity of new gift cards of the network in months."""
    currency: str

    @property
    def sells_anything(self) -> bool:
        return self.sells_gift_cards or self.sells_boxes


class NetworkSeller(Protocol):
    """The columns of a partner that say what it sells of its network."""

    @property
    def marketplace_id(self) -> int: ...

    @property
    def is_network_shop(self) -> bool: ...

    @property
    def linked_to_ngc_settings(self) -> bool: ...

    @property
    def linked_to_nv_settings(self) -> bool: ...

    @property
    def gift_card_offer_suggested(self) -> Sequence[Decimal]: ...

    @property
    def gift_card_offer_minimum(self) -> Decimal: ...

    @property
    def gift_card_offer_maximum(self) -> Decimal: ...


def network_shop_of(partner: NetworkSeller, validity_months: int, currency: str) -> NetworkShop:
    """What a partner sells of its network: the network's own shop everything, other partners what they take part in.

    The values of gift cards are those of the partner's own offer.
    """
    return NetworkShop(
        marketplace_id=partner.marketplace_id,
        is_own=partner.is_network_shop,
        sells_gift_cards=partner.is_network_shop or partner.linked_to_ngc_settings,
        sells_boxes=partner.is_network_shop or partner.linked_to_nv_settings,
        suggested=tuple(partner.gift_card_offer_suggested),
        minimum=partner.gift_card_offer_minimum,
        maximum=partner.gift_card_offer_maximum,
        validity_months=validity_months,
        currency=currency,
    )


async def load_network_shop(db: AsyncSession, partner_id: int) -> NetworkShop:
    """What a partner sells of its network."""
    query = select(PartnerRow, MarketplaceRow).join(
        MarketplaceRow, col(MarketplaceRow.id) == col(PartnerRow.marketplace_id)
    )
    partner, network = (await db.exec(query.where(col(PartnerRow.id) == partner_id))).one()
    return network_shop_of(partner, network.network_gift_card_validity_months, network.currency)


async def load_network_cards(db: AsyncSession, shop: NetworkShop) -> OfferedGiftCards | None:
    """The network's gift cards on sale, with the active designs by ranking; None if the shop sells none."""
    if not shop.sells_gift_cards:
        return None
    designs = await load_designs(db, designs_of_network(shop.marketplace_id))
    return OfferedGiftCards(shop.suggested, shop.minimum, shop.maximum, shop.validity_months, designs)


async def load_cards_of_design(db: AsyncSession, shop: NetworkShop, design_id: int) -> OfferedGiftCards:
    """The network's gift cards with one of its designs, on sale or not; without designs if it has none with this id."""
    designs = await load_designs(db, [*of_network(shop.marketplace_id), col(GiftCardDesignRow.id) == design_id])
    return OfferedGiftCards(shop.suggested, shop.minimum, shop.maximum, shop.validity_months, designs)


async def load_boxes(
    db: AsyncSession, shop: NetworkShop, box_ids: Sequence[int] | None = None
) -> dict[int, OfferedBox]:
    """The boxes on sale by id, highlights first, then by ranking; with `box_ids`, only these.

    A box is on sale if it is active and a partner accepts its vouchers.
    """
    if not shop.sells_boxes or (box_ids is not None and not box_ids):
        return {}
    query = (
        select(BoxRow, func.count(distinct(col(OfferRow.partner_id))))
        .join(OfferRow, col(OfferRow.box_id) == col(BoxRow.id))
        .join(PartnerRow, col(PartnerRow.id) == col(OfferRow.partner_id))
        .where(col(BoxRow.marketplace_id) == shop.marketplace_id, col(BoxRow.is_active), is_accepted(), is_admitted())
        .group_by(col(BoxRow.id))
        .order_by(col(BoxRow.is_highlight).desc(), col(BoxRow.ranking), col(BoxRow.id))
        .limit(MOST_BOXES)
    )
    if box_ids is not None:
        query = query.where(is_any_of(col(BoxRow.id), box_ids))
    rows = (await db.exec(query)).all()
    pictures = await _pictures(db, [row.id for row, _ in rows])
    return {row.id: _offered_box(row, partners, pictures[row.id]) for row, partners in rows}


async def load_box(db: AsyncSession, shop: NetworkShop, box_id: int) -> OfferedBox | None:
    """A box of the network, on sale or not; None if there is none."""
    table = BoxRow
    box = (
        await db.exec(select(table).where(col(table.id) == box_id, col(table.marketplace_id) == shop.marketplace_id))
    ).one_or_none()
    if box is None:
        return None
    accepting = (
        select(func.count(distinct(col(OfferRow.partner_id))))
        .join(BoxRow, col(BoxRow.id) == col(OfferRow.box_id))
        .join(PartnerRow, col(PartnerRow.id) == col(OfferRow.partner_id))
        .where(col(OfferRow.box_id) == box_id, is_accepted(), is_admitted())
    )
    pictures = await _pictures(db, [box_id])
    return _offered_box(box, (await db.exec(accepting)).one(), pictures[box_id])


def _offered_box(row: BoxRow, partners: int, pictures: Sequence[ResponsivePicture]) -> OfferedBox:
    return OfferedBox(
        id=row.id,
        name=row.name,
        short_description=row.short_description,
        long_description=row.long_description,
        is_highlight=row.is_highlight,
        price=row.price_amount,
        price_scope=row.price_scope,
        weight_grams=row.weight_grams,
        max_usages=row.max_usages,
        max_days_after_first_usage=row.max_days_after_first_usage,
        partners_count=partners,
        pictures=tuple(pictures),
    )


async def _pictures(db: AsyncSession, boxes: Sequence[int]) -> Mapping[int, list[ResponsivePicture]]:
    """The pictures of each box, the cover first."""
    image = BoxImageRow
    query = (
        select(image.box_id, MediaRow)
        .join(MediaRow, col(MediaRow.id) == col(image.media_id))
        .where(is_any_of(col(image.box_id), boxes))
        .order_by(col(image.is_cover).desc(), col(image.position))
    )
    pictures: defaultdict[int, list[ResponsivePicture]] = defaultdict(list)
    for box_id, media in await db.exec(query):
        pictures[box_id].append(ResponsivePicture(media.uuid, media.width, media.height))
    return pictures

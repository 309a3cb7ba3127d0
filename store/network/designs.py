"""Designs of networks' gift cards."""

from collections.abc import Mapping, Sequence

from sqlalchemy import Index
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import InvalidInput
from schema.network.design import GiftCardDesign
from schema.network.gift_card import NetworkGiftCardContent
from store.core.row import MarketplaceIndexed
from store.database.loaders import is_any_of
from store.gift_card.gift_cards import GiftCardRow


class GiftCardDesignRow(MarketplaceIndexed, GiftCardDesign, table=True):
    """A design. It is never deleted, as cards keep it."""

    __tablename__ = "gift_card_design"
    __table_args__ = (Index("gift_card_design_ranking_list_idx", "marketplace_id", "ranking", "id"),)
    picture_url: str = Field(default="", max_length=300)
    """Path of the picture on this service; empty if none."""


async def check_design(db: AsyncSession, network_id: int, design_id: int | None) -> None:
    """Raise InvalidInput at `design_id` unless it is an active design of the network, or None."""
    design = GiftCardDesignRow
    active = col(design.id) == design_id, col(design.marketplace_id) == network_id, col(design.is_active)
    if design_id is not None and (await db.exec(select(design.id).where(*active))).first() is None:
        raise InvalidInput.at("design_id", "The network has no active design with this id.")


async def content_of_cards(db: AsyncSession, card_ids: Sequence[int]) -> Mapping[int, NetworkGiftCardContent]:
    """What the designs of gift cards say, each in the language of its card. Cards without a design are left out."""
    query = (
        select(GiftCardRow.id, GiftCardRow.language, GiftCardDesignRow)
        .join(GiftCardDesignRow, col(GiftCardDesignRow.id) == col(GiftCardRow.design_id))
        .where(is_any_of(col(GiftCardRow.id), card_ids))
    )
    return {
        id: NetworkGiftCardContent(
            theme=design.name.in_language(language),
            description=design.description.in_language(language),
            short_description=design.short_description.in_language(language),
        )
        for id, language, design in (await db.exec(query)).all()
    }

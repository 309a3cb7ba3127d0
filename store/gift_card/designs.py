"""Designs of gift cards, of partners and of networks."""

from collections.abc import Mapping, Sequence

from sqlalchemy import ColumnElement, Index, true
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import InvalidInput
from schema.gift_card.design import GiftCardDesign
from schema.network.gift_card import NetworkGiftCardContent
from store.core.row import MarketplaceIndexed
from store.database.loaders import is_any_of
from store.gift_card.gift_cards import GiftCardRow


class GiftCardDesignRow(MarketplaceIndexed, GiftCardDesign, table=True):
    """A design, of a partner or of a network. It is never deleted, as cards keep it."""

    __tablename__ = "gift_card_design"
    __table_args__ = (
        Index("gift_card_design_ranking_list_idx", "marketplace_id", "ranking", "id"),
        Index("gift_card_design_of_partner_idx", "partner_id", "ranking", "id"),
    )
    partner_id: int | None = Field(default=None, foreign_key="partner.id")
    picture_url: str = Field(default="", max_length=300)
    """Path of the picture on this service; empty if none."""


def designs_of_partner(partner_id: int) -> tuple[ColumnElement[bool], ...]:
    """The conditions on the designs that new gift cards of a partner can have."""
    return col(GiftCardDesignRow.partner_id) == partner_id, col(GiftCardDesignRow.is_active) == true()


def designs_of_network(network_id: int) -> tuple[ColumnElement[bool], ...]:
    """The conditions on the designs that new gift cards of a network can have."""
    return *of_network(network_id), col(GiftCardDesignRow.is_active) == true()


def of_network(network_id: int) -> tuple[ColumnElement[bool], ...]:
    """The conditions on the designs of a network, also those that new gift cards cannot have."""
    return col(GiftCardDesignRow.marketplace_id) == network_id, col(GiftCardDesignRow.partner_id).is_(None)


async def check_design(db: AsyncSession, offered: Sequence[ColumnElement[bool]], design_id: int | None) -> None:
    """Raise InvalidInput at `design_id` unless it is None or a design that meets the conditions."""
    query = select(GiftCardDesignRow.id).where(col(GiftCardDesignRow.id) == design_id, *offered)
    if design_id is not None and (await db.exec(query)).first() is None:
        raise InvalidInput.at("design_id", "There is no active design with this id for these gift cards.")


async def find_design(db: AsyncSession, card: GiftCardRow) -> GiftCardDesignRow | None:
    """The design of a gift card; None if it has none."""
    return None if card.design_id is None else await db.get_one(GiftCardDesignRow, card.design_id)


async def find_designs(db: AsyncSession, cards: Sequence[GiftCardRow]) -> Mapping[int | None, GiftCardDesignRow]:
    """The designs of gift cards, by id."""
    named = sorted({card.design_id for card in cards if card.design_id is not None})
    query = select(GiftCardDesignRow).where(is_any_of(col(GiftCardDesignRow.id), named))
    return {row.id: row for row in (await db.exec(query)).all()} if named else {}


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

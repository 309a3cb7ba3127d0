"""The designs of gift cards that a shop offers."""

from collections.abc import Sequence

from sqlalchemy import ColumnElement
from sqlmodel import col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.checkout.gift_card_offer import OfferedDesign
from schema.media import MediaSize
from store.gift_card.designs import GiftCardDesignRow
from store.media.media import other_size_of


async def load_designs(db: AsyncSession, offered: Sequence[ColumnElement[bool]]) -> tuple[OfferedDesign, ...]:
    """The designs that meet the conditions, by ranking."""
    table = GiftCardDesignRow
    rows = (await db.exec(select(table).where(*offered).order_by(col(table.ranking), col(table.id)))).all()
    return tuple(
        OfferedDesign(
            id=row.id,
            name=row.name,
            occasion=row.occasion,
            short_description=row.short_description,
            description=row.description,
            picture_url=other_size_of(row.picture_url, MediaSize.CARD),
            thumb_url=other_size_of(row.picture_url, MediaSize.THUMB),
            accent_colour=row.accent_colour,
        )
        for row in rows
    )

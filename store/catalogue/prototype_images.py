"""The ordered pictures of a prototype."""

from collections.abc import Sequence
from typing import Any

from sqlmodel import col, delete, select
from sqlmodel.ext.asyncio.session import AsyncSession

from store.catalogue.catalogue import PrototypeImageRow, VoucherPrototypeRow
from store.media.media import MediaRow, check_pictures


async def images_of(db: AsyncSession, prototype: VoucherPrototypeRow) -> list[int]:
    """The media ids of the prototype, in order."""
    image = PrototypeImageRow
    query = select(image.media_id).where(col(image.voucher_prototype_id) == prototype.id).order_by(col(image.position))
    return list((await db.exec(query)).all())


async def set_images(db: AsyncSession, prototype: VoucherPrototypeRow, media_ids: Sequence[int]) -> bool:
    """Replace the prototype's pictures with these, which must be checked already. Returns True if anything changed."""
    there = await images_of(db, prototype)
    if there == list(media_ids):
        return False
    image = PrototypeImageRow
    await db.exec(delete(image).where(col(image.voucher_prototype_id) == prototype.id))
    of: dict[str, Any] = {"partner_id": prototype.partner_id, "voucher_prototype_id": prototype.id}
    db.add_all(image(**of, position=at, media_id=id) for at, id in enumerate(media_ids, 1))
    await db.flush()
    return True


async def check_images(db: AsyncSession, partner_id: int, media_ids: Sequence[int], there: Sequence[int] = ()) -> None:
    """Raise InvalidInput at `image_ids` for duplicates and for pictures that are archived or belong to another partner.

    An archived picture that is already in `there` may stay. The pictures stay locked until the end of the transaction.
    """
    message = "The partner has no such picture that can be used."
    await check_pictures(db, col(MediaRow.partner_id) == partner_id, media_ids, there, message)

"""Which pictures a prototype has, in which order."""

from collections.abc import Sequence
from typing import Any

from sqlmodel import col, delete, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import InvalidInput, Problem
from store.catalogue.catalogue import PrototypeImageRow, VoucherPrototypeRow
from store.media.media import MediaRow


async def images_of(db: AsyncSession, prototype: VoucherPrototypeRow) -> list[int]:
    """The ids of its media, in their order."""
    image = PrototypeImageRow
    query = select(image.media_id).where(col(image.voucher_prototype_id) == prototype.id).order_by(col(image.position))
    return list((await db.exec(query)).all())


async def put_images(db: AsyncSession, prototype: VoucherPrototypeRow, wanted: Sequence[int]) -> bool:
    """Make these its pictures, which were checked, in this order; whether that changed anything."""
    there = await images_of(db, prototype)
    if there == list(wanted):
        return False
    image = PrototypeImageRow
    await db.exec(delete(image).where(col(image.voucher_prototype_id) == prototype.id))
    of: dict[str, Any] = {"partner_id": prototype.partner_id, "voucher_prototype_id": prototype.id}
    db.add_all(image(**of, position=at, media_id=id) for at, id in enumerate(wanted, 1))
    await db.flush()
    return True


async def check_images(db: AsyncSession, partner_id: int, wanted: Sequence[int], there: Sequence[int] = ()) -> None:
    """Raise InvalidInput at `image_ids` for pictures that are named twice, are another partner's, or were put away.

    One that is `there` already may stay, though it was put away. Until the end nobody puts away the others.
    """
    media = MediaRow
    query = (
        select(media.id, media.archived_on)
        .where(col(media.partner_id) == partner_id, col(media.id).in_(set(wanted)))
        .order_by(col(media.id))
        .with_for_update(read=True)  # nobody puts one away or renames it meanwhile
    )
    found = (await db.exec(query)).all()
    usable = {id for id, archived_on in found if archived_on is None or id in there}
    wrong = []
    for at, id in enumerate(wanted):
        if id in wanted[:at]:
            wrong.append(Problem(("image_ids", at), "INVALID", "Send each picture once."))
        elif id not in usable:
            wrong.append(Problem(("image_ids", at), "INVALID", "The partner has no such picture that can be used."))
    if wrong:
        raise InvalidInput(*wrong)

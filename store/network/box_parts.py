"""The ordered pictures of a box, and the partners that it is limited to."""

from collections.abc import Collection, Mapping, Sequence
from uuid import UUID

from sqlmodel import col, delete, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import InvalidInput, Problem
from store.media.media import MediaRow, check_pictures
from store.network.boxes import BoxImageRow, BoxPartnerRow, BoxRow
from store.partner.partners import PartnerRow


async def check_box_images(
    db: AsyncSession, marketplace_id: int, media_ids: Sequence[int], there: Collection[int] = ()
) -> None:
    """Raise InvalidInput at `image_ids` for duplicates and for pictures that are archived or of no partner of the
    marketplace. An archived picture that is already in `there` may stay. The pictures stay locked.
    """
    partners = select(col(PartnerRow.id)).where(col(PartnerRow.marketplace_id) == marketplace_id)
    message = "No partner of the marketplace has such a picture that can be used."
    await check_pictures(db, col(MediaRow.partner_id).in_(partners), media_ids, there, message)


async def images_of_box(db: AsyncSession, box: BoxRow) -> tuple[list[int], int]:
    """The media ids of a box in order, and the position of the cover; 1 if there is none."""
    query = select(BoxImageRow).where(col(BoxImageRow.box_id) == box.id).order_by(col(BoxImageRow.position))
    rows = (await db.exec(query)).all()
    return [row.media_id for row in rows], next((row.position for row in rows if row.is_cover), 1)


async def set_box_images(db: AsyncSession, box: BoxRow, media_ids: Sequence[int], cover: int) -> bool:
    """Replace the pictures of a box with these, which must be checked already. Returns True if anything changed."""
    there, old_cover = await images_of_box(db, box)
    if there == list(media_ids) and (old_cover == cover or not there):
        return False
    await db.exec(delete(BoxImageRow).where(col(BoxImageRow.box_id) == box.id))
    db.add_all(
        BoxImageRow(box_id=box.id, position=at, media_id=id, is_cover=at == cover) for at, id in enumerate(media_ids, 1)
    )
    await db.flush()
    return True


async def partners_by_uuid(db: AsyncSession, marketplace_id: int, uuids: Sequence[UUID]) -> Sequence[int]:
    """The ids of partners of the marketplace. Raises InvalidInput at `partner_uuids` for duplicates and unknown ones."""
    query = select(col(PartnerRow.uuid), col(PartnerRow.id)).where(
        col(PartnerRow.marketplace_id) == marketplace_id, col(PartnerRow.uuid).in_(uuids)
    )
    ids: Mapping[UUID, int] = dict((await db.exec(query)).all())
    wrong = []
    for at, uuid in enumerate(uuids):
        if uuid in uuids[:at]:
            wrong.append(Problem(("partner_uuids", at), "INVALID", "Send each partner once."))
        elif uuid not in ids:
            wrong.append(Problem(("partner_uuids", at), "INVALID", "No partner of this marketplace has this uuid."))
    if wrong:
        raise InvalidInput(*wrong)
    return sorted(ids.values())


async def set_box_partners(db: AsyncSession, box: BoxRow, partner_ids: Sequence[int]) -> bool:
    """Replace the partners that a box is limited to. Returns True if anything changed."""
    query = select(BoxPartnerRow).where(col(BoxPartnerRow.box_id) == box.id)
    there = {row.partner_id: row for row in await db.exec(query)}
    if there.keys() == set(partner_ids):
        return False
    gone = [row.id for id, row in there.items() if id not in partner_ids]
    await db.exec(delete(BoxPartnerRow).where(col(BoxPartnerRow.id).in_(gone)))
    db.add_all(BoxPartnerRow(box_id=box.id, partner_id=id) for id in partner_ids if id not in there)
    await db.flush()
    return True

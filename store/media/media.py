"""Pictures of a partner's catalogue as rows. Their bytes are in the file store."""

import re
from collections.abc import Collection, Sequence
from uuid import UUID

from sqlalchemy import ColumnElement, Index
from sqlmodel import Field, col, select
from sqlmodel.ext.asyncio.session import AsyncSession

from schema.core.errors import InvalidInput, Problem
from schema.media import Media, MediaSize
from store.core.row import CreatedOn, PartnerIndexed, UpdatedOn

FOLDER = "media"
"""The folder in the file store."""
CONTENT_TYPE = "image/webp"
_FILE = re.compile(rf"{FOLDER}/([0-9a-f-]{{36}})/({'|'.join(MediaSize)})\.webp")


class MediaRow(PartnerIndexed, CreatedOn, UpdatedOn, Media, table=True):
    """A picture. `digest` is the SHA-256 of the bytes of its largest file, in hexadecimal."""

    __tablename__ = "media"
    __table_args__ = (
        Index("media_created_on_list_idx", "partner_id", "created_on", "id"),
        Index("media_name_list_idx", "partner_id", "name", "id"),
    )
    digest: str = Field(max_length=64)


def media_key_of(uuid: UUID, size: MediaSize) -> str:
    """The key of a picture's file in the file store. The content of a key never changes."""
    return f"{FOLDER}/{uuid}/{size}.webp"


def media_path_of(uuid: UUID, size: MediaSize) -> str:
    """The path of a picture's file, on every host of this service."""
    return f"/{media_key_of(uuid, size)}"


def parse_media_path(path: str) -> tuple[UUID, MediaSize] | None:
    """The picture and the size that a path names; None for any other path."""
    match = _FILE.fullmatch(path.removeprefix("/"))
    try:
        return (UUID(match[1]), MediaSize(match[2])) if match else None
    except ValueError:
        return None


def other_size_of(path: str, size: MediaSize) -> str:
    """The path of another size of a picture; a path of demo data, which has one size, as it is."""
    shown = parse_media_path(path)
    return media_path_of(shown[0], size) if shown else path


async def known_media(db: AsyncSession, uuids: Collection[UUID]) -> set[UUID]:
    """Those of the ids that are pictures."""
    return set((await db.exec(select(col(MediaRow.uuid)).where(col(MediaRow.uuid).in_(uuids)))).all())


async def lock_media_for_use(db: AsyncSession, owners: ColumnElement[bool], uuid: UUID) -> bool:
    """True if one of the owners has this picture and it is not archived.

    It cannot be renamed or archived until the transaction ends.
    """
    usable = select(col(MediaRow.id)).where(col(MediaRow.uuid) == uuid, owners, col(MediaRow.archived_on).is_(None))
    return (await db.exec(usable.with_for_update(read=True, key_share=True))).one_or_none() is not None


async def check_pictures(
    db: AsyncSession, owned: ColumnElement[bool], media_ids: Sequence[int], there: Collection[int], message: str
) -> None:
    """Raise InvalidInput at `image_ids` for duplicates and, with this message, for pictures that are archived or that the
    condition excludes.

    An archived picture that is already in `there` may stay. The pictures stay locked until the end of the transaction.
    """
    media = MediaRow
    query = (
        select(media.id, media.archived_on)
        .where(owned, col(media.id).in_(set(media_ids)))
        .order_by(col(media.id))
        .with_for_update(read=True)  # prevents concurrent archiving and renaming
    )
    rows = (await db.exec(query)).all()
    usable = {id for id, archived_on in rows if archived_on is None or id in there}
    wrong = []
    for at, id in enumerate(media_ids):
        if id in media_ids[:at]:
            wrong.append(Problem(("image_ids", at), "INVALID", "Send each picture once."))
        elif id not in usable:
            wrong.append(Problem(("image_ids", at), "INVALID", message))
    if wrong:
        raise InvalidInput(*wrong)

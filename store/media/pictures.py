"""Pictures of a shop, stored in the database under the digest of their content."""

import hashlib
import re

from sqlalchemy.dialects.postgresql import insert
from sqlmodel import Field
from sqlmodel.ext.asyncio.session import AsyncSession

from store.core.row import PartnerIndexed

TYPES = {"svg": "image/svg+xml", "png": "image/png", "jpg": "image/jpeg", "webp": "image/webp"}
_NAME = re.compile(rf"[0-9a-f]{{40}}\.({'|'.join(TYPES)})")


class PictureRow(PartnerIndexed, table=True):
    """A picture. Its name is the digest of its content plus its type, so its content never changes."""

    __tablename__ = "picture"
    name: str = Field(primary_key=True, max_length=80)
    content: bytes


async def store_picture(db: AsyncSession, partner_id: int, content: bytes, kind: str) -> str:
    """Store a picture of one of the types in `TYPES`; returns its path, on every host of this service.

    An identical picture, another partner's included, is stored once. Nobody can tell who uploaded it first.
    """
    if kind not in TYPES:
        raise ValueError(f"A picture is one of {', '.join(TYPES)}, not {kind}.")
    name = f"{hashlib.sha256(content).hexdigest()[:40]}.{kind}"
    row = {"partner_id": partner_id, "name": name, "content": content}
    await db.exec(insert(PictureRow).values(row).on_conflict_do_nothing())
    return f"/media/{name}"


async def find_picture(db: AsyncSession, name: str) -> PictureRow | None:
    """The picture with a name, whatever the text; None if there is none."""
    return await db.get(PictureRow, name) if _NAME.fullmatch(name) else None
